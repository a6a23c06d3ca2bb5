import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { WorkspaceError, type WorkspaceView } from "@holdfast/core";

/** A folder of this machine that a test trusts, without the bounds of the worker's own view. */
export function folderWorkspace(root: string): WorkspaceView {
  return {
    id: "current",
    list: async (folder) => {
      const entries = await readdir(path.join(root, folder), { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
      const listed = await Promise.all(
        files.map(async (file) => ({ path: path.relative(root, file).replaceAll(path.sep, "/"), size: (await stat(file)).size })),
      );
      return listed.toSorted((a, b) => (a.path < b.path ? -1 : 1));
    },
    read: async (file) => {
      try {
        return await readFile(path.join(root, file));
      } catch (cause) {
        throw new WorkspaceError("missing", file, { cause });
      }
    },
  };
}
