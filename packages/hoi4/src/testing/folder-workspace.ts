import { readdirSync, readFileSync, statSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { WorkspaceError } from "@holdfast/core";
import { revisionOf, type TestWorkspace } from "./test-workspace.ts";

/** A folder of this machine that a test trusts, without the bounds of the worker's own view. */
export function folderWorkspace(root: string): TestWorkspace {
  const paths = () =>
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, "/"))
      .toSorted();
  return {
    id: "current",
    revision: revisionOf(paths().map((file) => [file, readFileSync(path.join(root, file))] as const)),
    list: (folder) => {
      const inside = paths().filter((file) => folder === "" || file.startsWith(`${folder}/`));
      if (folder !== "" && inside.length === 0) return Promise.reject(new WorkspaceError("missing", folder));
      return Promise.resolve(inside.map((file) => ({ path: file, size: statSync(path.join(root, file)).size })));
    },
    read: async (file) => {
      try {
        return await readFile(path.join(root, file));
      } catch (cause) {
        throw new WorkspaceError("missing", file, { cause });
      }
    },
    write: (file, bytes) => (bytes === null ? rm(path.join(root, file)) : writeFile(path.join(root, file), bytes)),
  };
}
