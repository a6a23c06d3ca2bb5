import { createHash } from "node:crypto";
import type { WorkspaceView } from "@holdfast/core";
import { sha256Of } from "../sha256.ts";

/** A workspace that a test may also change: by the transaction of its context, or as somebody else would. */
export interface TestWorkspace extends WorkspaceView {
  /** Null removes the file. */
  write(path: string, bytes: Uint8Array | null): Promise<void>;
}

/** The revision of a workspace with these files. */
export function revisionOf(files: Iterable<readonly [path: string, bytes: Uint8Array]>): string {
  const revision = createHash("sha256");
  for (const [path, bytes] of [...files].toSorted(([a], [b]) => (a < b ? -1 : 1))) revision.update(JSON.stringify([path, sha256Of(bytes)]));
  return revision.digest("hex");
}
