import { WorkspaceError, type TransactionOutcome, type WritePlan } from "@holdfast/core";
import { sha256Of } from "../sha256.ts";
import type { TestWorkspace } from "./test-workspace.ts";

/** Carries out a plan as a worker does, without its journal: all files or none, and none that is not what the plan was made from. */
export async function transact(workspace: TestWorkspace, { files, result }: WritePlan): Promise<TransactionOutcome> {
  const paths = files.map(({ path }) => path);
  if (new Set(paths).size < paths.length) throw new Error("the plan names a file twice");
  const outside = paths.find(
    (path) => path.startsWith("/") || path.split("/").some((part) => part === "" || part === "." || part === ".."),
  );
  if (outside !== undefined) throw new Error(`the plan leads out of the workspace with "${outside}"`);
  const changed: string[] = [];
  for (const { path, expectedSha256 } of files) if ((await hashOf(workspace, path)) !== expectedSha256) changed.push(path);
  if (changed.length > 0) return { kind: "conflict", paths: changed };
  for (const { path, bytes } of files) await workspace.write(path, bytes);
  return { kind: "committed", result };
}

/** Null for a file that is not there. */
async function hashOf(workspace: TestWorkspace, path: string): Promise<string | null> {
  try {
    return sha256Of(await workspace.read(path));
  } catch (error) {
    if (error instanceof WorkspaceError && error.code === "missing") return null;
    throw error;
  }
}
