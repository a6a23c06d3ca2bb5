import { toolResult, type ArtifactLink, type ToolResult } from "@holdfast/core";
import { quantity } from "../../quantity.ts";
import { toJsonObject } from "../../to-json.ts";
import type { Blocker } from "../blocker.ts";
import type { FileChange } from "../contract.ts";
import { cutForResult, cutList } from "../inline-lists.ts";
import { outputDiagnostic } from "../output-diagnostic.ts";
import type { FocusRewriteData, FocusRewriteOutput } from "./contract.ts";
import type { LayoutVerdict } from "./judge-layout.ts";
import type { Checks } from "./propose.ts";
import { summarizeRewrite } from "./summarize.ts";

/** Nothing was written because of what stands in the mod or in the call; the caller can put it right. */
export function blockedAnswer(workspaceId: string, blockers: readonly Blocker[]): ToolResult {
  const cut = cutList(blockers, { total: blockers.length, count: BLOCKERS.count, bytes: BLOCKERS.bytes });
  const shown = cut.omitted === 0 ? cut.shown : [...cut.shown, omittedBlockers(cut.omitted)];
  const lines = cut.shown.slice(0, LINES).map(({ message }) => `- ${message}`);
  const more = blockers.length - lines.length;
  return answer({
    text: ["Nothing was written.", ...lines, ...(more > 0 ? [`- and ${more} more.`] : [])].join("\n"),
    output: { ...EMPTY, status: "blocked", code: "FOCUS_CHANGES_BLOCKED", workspaceId, blockers: shown.map(outputBlocker) },
  });
}

const BLOCKERS = { count: 100, bytes: 48 * 1024 };
const LINES = 10;

function omittedBlockers(count: number): Blocker {
  return {
    code: "MCP_INLINE_COLLECTIONS_TRUNCATED",
    message: `${quantity(count, "more reason")} ${count === 1 ? "is" : "are"} not listed.`,
  };
}

/** The call could not be answered, or came too late: the same call again gives the same. */
export function errorAnswer(workspaceId: string, blocker: Blocker): ToolResult {
  return answer({
    text: blocker.message,
    isError: true,
    output: { ...EMPTY, status: "error", code: blocker.code, workspaceId, blockers: [outputBlocker(blocker)] },
  });
}

export function unchangedAnswer(workspaceId: string, { data, files }: { data: FocusRewriteData; files: readonly string[] }): ToolResult {
  return answer({
    text: `Nothing was written: the focuses stand as asked already.`,
    output: {
      ...EMPTY,
      status: "ok",
      code: "FOCUS_UNCHANGED",
      workspaceId,
      filesScanned: cutForResult({ diagnostics: [], files }).files,
      validation: { passed: true, checks: [] },
      data,
    },
  });
}

/** What the task answers once the plan is committed; made before, and therefore without a look at the clock. */
export function appliedAnswer(
  workspaceId: string,
  {
    data,
    files,
    change,
    checks,
    diagnostics: found,
    links,
  }: {
    data: FocusRewriteData;
    files: readonly string[];
    change: FileChange;
    checks: Checks;
    diagnostics: LayoutVerdict["diagnostics"];
    links: readonly ArtifactLink[];
  },
): ToolResult {
  const { diagnostics, files: filesScanned } = cutForResult({ diagnostics: found, files });
  return answer({
    text: summarizeRewrite(data),
    links,
    output: {
      status: "ok",
      code: "FOCUS_CHANGES_APPLIED",
      workspaceId,
      filesScanned,
      proposedFiles: [change],
      changedFiles: [change],
      diagnostics: diagnostics.map(outputDiagnostic),
      artifacts: [...links],
      validation: { passed: true, checks },
      blockers: [],
      data,
    },
  });
}

const EMPTY = {
  filesScanned: [],
  proposedFiles: [],
  changedFiles: [],
  diagnostics: [],
  artifacts: [],
  validation: { passed: false, checks: [] },
  blockers: [],
  data: null,
} satisfies Partial<FocusRewriteOutput>;

function outputBlocker({ details, ...rest }: Blocker): FocusRewriteOutput["blockers"][number] {
  return details === undefined ? rest : { ...rest, details: { ...details } };
}

function answer({
  output,
  ...parts
}: {
  text: string;
  links?: readonly ArtifactLink[];
  isError?: boolean;
  output: FocusRewriteOutput;
}): ToolResult {
  return toolResult({ ...parts, structured: toJsonObject(output) });
}
