import { handle, toolResult, WorkspaceError, type ArtifactLink, type OperationContext, type ToolResult } from "@holdfast/core";
import { keepPace } from "../../pace.ts";
import { quantity } from "../../quantity.ts";
import { toJsonObject } from "../../to-json.ts";
import { unreachable, type Blocker } from "../blocker.ts";
import { cutForResult } from "../inline-lists.ts";
import { outputDiagnostic } from "../output-diagnostic.ts";
import type { EventInspectOutput, ScanData } from "./contract.ts";
import { ARTIFACT_LIMIT, graphArtifact } from "./graph-artifact.ts";
import { eventInspect, type EventInspectInput } from "./manifest.ts";
import { scanData } from "./scan-data.ts";
import { scanEvents, type EventScan } from "./scan-events.ts";
import { summarizeScan } from "./summarize-scan.ts";

export const eventInspectHandler = handle(eventInspect, inspectEvents);

/** The handler's work with its types, for those who call it without a registry; the limit is an argument for tests. */
export async function inspectEvents(
  { workspaceId, refresh, proposedSources }: EventInspectInput,
  context: OperationContext,
  { maxArtifactBytes = ARTIFACT_LIMIT }: { maxArtifactBytes?: number } = {},
): Promise<ToolResult> {
  try {
    const scan = await scanEvents(context, { refresh, proposedSources });
    if ("code" in scan) return refusal(workspaceId, scan);
    const artifact = await graphArtifact(scan, keepPace(context.signal), maxArtifactBytes);
    if (artifact === null) return refusal(workspaceId, TOO_LARGE);
    const link = await context.artifact(artifact);
    const data = scanData(scan);
    return answer({ text: summarizeScan(scan, data), links: [link], output: scanOutput({ workspaceId, scan, data, link }) });
  } catch (error) {
    // Files that fail one by one are skipped; what arrives here is the folder itself.
    if (error instanceof WorkspaceError) return refusal(workspaceId, unreachable(error));
    throw error;
  }
}

function scanOutput({
  workspaceId,
  scan,
  data,
  link,
}: {
  workspaceId: string;
  scan: EventScan;
  data: ScanData;
  link: ArtifactLink;
}): EventInspectOutput {
  const { diagnostics, files } = cutForResult({ diagnostics: scan.diagnostics, files: scan.filesScanned });
  const checks = checksOf(scan);
  return {
    status: "ok",
    code: scan.isComplete ? "EVENT_SCAN_COMPLETED" : "EVENT_SCAN_PARTIAL",
    workspaceId,
    filesScanned: files,
    proposedFiles: scan.listing.proposed.map((file) => ({ ...file })),
    changedFiles: [],
    diagnostics: diagnostics.map(outputDiagnostic),
    artifacts: [link],
    validation: { passed: checks.every(({ passed }) => passed), checks },
    blockers: [],
    data,
  };
}

/** What a mod that is in order passes. */
function checksOf({ diagnostics, isComplete }: EventScan): EventInspectOutput["validation"]["checks"] {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const check = (id: string, found: number, noun: string) => ({
    id,
    passed: found === 0,
    message: `${quantity(found, noun)}.`,
  });
  const withCode = (code: string) => errors.filter((diagnostic) => diagnostic.code === code).length;
  return [
    {
      id: "sources_complete",
      passed: isComplete,
      message: isComplete ? "Every file was read." : "Some files were left out; see skippedSources.",
    },
    check("syntax", errors.filter(({ category }) => category === "syntax").length, "syntax error"),
    check("ids_unique", withCode("EVENT_DUPLICATE_ID"), "repeated definition"),
    check("targets_defined", withCode("EVENT_REFERENCE_MISSING"), "missing target"),
  ];
}

const TOO_LARGE: Blocker = {
  code: "SCAN_RESULT_LIMIT",
  message: `The event graph of this mod takes more than ${ARTIFACT_LIMIT / 1024 / 1024} MiB, which is as much as one scan stores. Is the folder really one mod?`,
};

/** A result that says in one sentence why there is none. */
function refusal(workspaceId: string, { code, message }: Blocker): ToolResult {
  return answer({
    text: message,
    links: [],
    isError: true,
    output: {
      status: "error",
      code,
      workspaceId,
      filesScanned: [],
      proposedFiles: [],
      changedFiles: [],
      diagnostics: [],
      artifacts: [],
      validation: { passed: false, checks: [] },
      blockers: [{ code, message }],
      data: null,
    },
  });
}

function answer({
  output,
  ...parts
}: {
  text: string;
  links: readonly ArtifactLink[];
  isError?: boolean;
  output: EventInspectOutput;
}): ToolResult {
  return toolResult({ ...parts, structured: toJsonObject(output) });
}
