import { handle, WorkspaceError, type OperationContext, type ToolResult } from "@holdfast/core";
import type { FieldEdit } from "../../clausewitz/index.ts";
import { findSharedPlacements, isFocusFile } from "../../focus/find-shared-placements.ts";
import { readFocusFile } from "../../focus/read-focus-file.ts";
import { isOfMod, listModFiles, type ModFile, type ModListing } from "../../mod/list-mod-files.ts";
import { SCAN_LIMITS } from "../../mod/read-mod-files.ts";
import { keepPace } from "../../pace.ts";
import { sha256Of } from "../../sha256.ts";
import { unreachable, type Blocker } from "../blocker.ts";
import { INLINE_LIMITS } from "../contract.ts";
import { cutList } from "../inline-lists.ts";
import { appliedAnswer, blockedAnswer, errorAnswer, unchangedAnswer } from "./answers.ts";
import { rewriteArtifacts } from "./artifacts.ts";
import type { FocusRewriteData } from "./contract.ts";
import { findFocuses, type FoundFocus } from "./find-focuses.ts";
import { foreignTargets, judgeLayout, type LayoutVerdict } from "./judge-layout.ts";
import { focusRewrite, type FocusRewriteInput } from "./manifest.ts";
import { planEdits } from "./plan-edits.ts";
import { parseForRewrite, propose } from "./propose.ts";

export const focusRewriteHandler = handle(focusRewrite, rewriteFocuses);

/** The handler's work with its types, for those who call it without a registry. */
export async function rewriteFocuses(input: FocusRewriteInput, context: OperationContext): Promise<ToolResult> {
  try {
    return await rewrite(input, context);
  } catch (error) {
    if (error instanceof WorkspaceError) return errorAnswer(input.workspaceId, unreachable(error));
    throw error;
  }
}

async function rewrite(input: FocusRewriteInput, context: OperationContext): Promise<ToolResult> {
  const { workspaceId, treeId, changes } = input;
  const listing = await listModFiles(context.workspace);
  if ("code" in listing) return errorAnswer(workspaceId, listing);
  const source = await readSource(context, listing, input);
  if ("code" in source) return blockedAnswer(workspaceId, [source]);
  const { file, bytes } = source;
  const sourceHash = sha256Of(bytes);
  if (sourceHash !== input.expectedSourceHash) return errorAnswer(workspaceId, stale(file, sourceHash));
  const script = parseForRewrite(bytes);
  if (!script.isWhole || script.findingsOmitted > 0)
    return blockedAnswer(workspaceId, [unreadable(file, "it could not be read as script")]);

  const before = readFocusFile(script);
  const { found, blockers: unfound } = findFocuses(before, { treeId, changes });
  const { edits, blockers: unwritable } = planEdits(before, found);
  if (unfound.length + unwritable.length > 0) return blockedAnswer(workspaceId, [...unfound, ...unwritable]);
  const proposal = propose(before, { edits, treeId, changes });
  if ("code" in proposal) return blockedAnswer(workspaceId, [proposal]);

  const pace = keepPace(context.signal);
  const needsOthers = foreignTargets(before, { treeId, changes }).some((id) => !before.shared.some((focus) => focus.id === id));
  const elsewhere = needsOthers
    ? await findSharedPlacements({ context, listing, except: file, pace })
    : { placements: new Map(), filesRead: [] };
  const layout = { before, after: proposal.file, path: file.displayPath, treeId, changes, elsewhere: elsewhere.placements };
  const verdict = judgeLayout(layout);
  const failed = proposal.checks.filter(({ passed }) => !passed);
  const unsound = [...verdict.blockers, ...failed.map(({ message }) => ({ code: "FOCUS_VALIDATION_FAILED", message }))];
  if (unsound.length > 0) return blockedAnswer(workspaceId, unsound);

  const resultHash = sha256Of(proposal.bytes);
  const data = dataOf(input, { file, sourceHash, resultHash, edits, found, verdict });
  const files = [file.displayPath, ...elsewhere.filesRead];
  if (edits.length === 0) return unchangedAnswer(workspaceId, { data, files });
  await pace();
  const links = [];
  for (const artifact of rewriteArtifacts({ before, proposal, verdict, data })) links.push(await context.artifact(artifact));
  const outcome = await context.transaction({
    files: [{ path: file.path, expectedSha256: sourceHash, bytes: proposal.bytes }],
    result: appliedAnswer(workspaceId, {
      data,
      files,
      change: { path: file.displayPath, sha256Before: sourceHash, sha256After: resultHash },
      checks: proposal.checks,
      diagnostics: verdict.diagnostics,
      links,
    }),
  });
  return outcome.kind === "committed" ? outcome.result : errorAnswer(workspaceId, changedMeanwhile(file));
}

/** Paths are found as Windows finds them: whatever the case of their letters. */
async function readSource(
  { workspace }: Pick<OperationContext, "workspace">,
  { files }: ModListing,
  { relativePath }: FocusRewriteInput,
): Promise<{ file: ModFile; bytes: Uint8Array } | Blocker> {
  const wanted = relativePath.replace(/^mod:/u, "");
  const file = files.find((candidate) => isOfMod(candidate) && candidate.relativePath.toLowerCase() === wanted.toLowerCase());
  if (file === undefined || !isFocusFile(file)) {
    return { code: "FOCUS_FILE_MISSING", message: `The mod has no file ${wanted}.`, details: { relativePath: wanted } };
  }
  if (file.size > SCAN_LIMITS.scriptBytes) return unreadable(file, `it is larger than ${SCAN_LIMITS.scriptBytes / 1024 / 1024} MiB`);
  try {
    return { file, bytes: await workspace.read(file.path) };
  } catch (error) {
    if (!(error instanceof WorkspaceError)) throw error;
    return unreadable(file, error.code === "outside" ? "it is a link that leads out of the mod's folder" : "it could not be opened");
  }
}

function unreadable({ relativePath: path }: ModFile, reason: string): Blocker {
  return { code: "FOCUS_FILE_UNREADABLE", message: `${path} is left alone, because ${reason}.`, details: { relativePath: path } };
}

function stale({ relativePath: path }: ModFile, sourceHash: string): Blocker {
  return {
    code: "FOCUS_SOURCE_STALE",
    message: `${path} is not the file that the changes were thought out for: its SHA-256 is ${sourceHash}. Nothing was written. Read it again, and send this hash if the changes still fit.`,
    details: { relativePath: path, sourceHash },
  };
}

function changedMeanwhile({ relativePath: path }: ModFile): Blocker {
  return {
    code: "FOCUS_SOURCE_CHANGED",
    message: `${path} was changed by somebody else while the call ran. Nothing was written. Read it again, and send its new hash if the changes still fit.`,
    details: { relativePath: path },
  };
}

function dataOf(
  { treeId }: FocusRewriteInput,
  {
    file,
    sourceHash,
    resultHash,
    edits,
    found,
    verdict,
  }: {
    file: ModFile;
    sourceHash: string;
    resultHash: string;
    edits: readonly FieldEdit[];
    found: readonly FoundFocus[];
    verdict: LayoutVerdict;
  },
): FocusRewriteData {
  const ofKind = (kind: FieldEdit["kind"]) => edits.filter((edit) => edit.kind === kind).length;
  const isTouched = ({ focus }: FoundFocus) => edits.some((edit) => startOf(edit) >= focus.start && startOf(edit) < focus.end);
  const rows = cutList(verdict.rows, { total: verdict.rows.length, count: INLINE_LIMITS.rows, bytes: INLINE_LIMITS.rowBytes });
  return {
    treeId,
    relativePath: file.relativePath,
    sourceHash,
    resultHash,
    counts: {
      focuses: found.filter(isTouched).length,
      replaced: ofKind("replace"),
      inserted: ofKind("insert"),
      removed: ofKind("remove"),
      warnings: verdict.diagnostics.filter(({ severity }) => severity === "warning").length,
    },
    focuses: rows.shown,
    focusesOmitted: rows.omitted,
  };
}

function startOf(edit: FieldEdit): number {
  return edit.kind === "insert" ? edit.after.start : edit.pair.start;
}
