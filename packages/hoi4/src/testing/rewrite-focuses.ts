import { toolResultSchema, WorkspaceError, type ToolResult } from "@holdfast/core";
import { focusRewriteOutput, type FocusRewriteOutput } from "../operations/focus-rewrite/contract.ts";
import { rewriteFocuses as handle } from "../operations/focus-rewrite/handler.ts";
import { focusRewrite, type FocusRewriteInput } from "../operations/focus-rewrite/manifest.ts";
import { sha256Of } from "../sha256.ts";
import { recordingContext, type RecordingContext } from "./recording-context.ts";
import type { TestWorkspace } from "./test-workspace.ts";

export interface Rewritten {
  readonly result: ToolResult;
  /** What the manifest's own schema makes of the structured content. */
  readonly output: FocusRewriteOutput;
  readonly text: string;
  readonly context: RecordingContext;
  /** The file after the call; empty when there is none. */
  readonly bytes: Uint8Array;
  /** The stored diff; empty when nothing was stored. */
  readonly diff: string;
}

/** Arguments as a client sends them; without a hash it is that of the file as it is. */
export type RewriteArguments = Omit<FocusRewriteInput, "workspaceId" | "expectedSourceHash"> & { readonly expectedSourceHash?: string };

/** Calls `hoi4.focus_rewrite` as a worker would; a result that breaks its own schemas throws. */
export async function rewriteFocuses(
  workspace: TestWorkspace,
  call: RewriteArguments,
  context: RecordingContext = recordingContext(workspace),
): Promise<Rewritten> {
  const path = call.relativePath.replace(/^mod:/u, "");
  const input = focusRewrite.input.parse({ expectedSourceHash: sha256Of(await readOrNothing(workspace, path)), ...call });
  const result = toolResultSchema.parse(await handle(input, context));
  const [block] = result.content;
  const diff = context.artifacts.find(({ name }) => name.endsWith(".diff"))?.bytes ?? new Uint8Array();
  return {
    result,
    output: focusRewriteOutput.parse(result.structuredContent),
    text: block?.type === "text" ? block.text : "",
    context,
    bytes: await readOrNothing(workspace, path),
    diff: Buffer.from(diff).toString(),
  };
}

async function readOrNothing(workspace: TestWorkspace, path: string): Promise<Uint8Array> {
  try {
    return await workspace.read(path);
  } catch (error) {
    if (error instanceof WorkspaceError) return new Uint8Array();
    throw error;
  }
}
