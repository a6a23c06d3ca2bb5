import { WorkspaceError, type WorkspaceErrorCode } from "@holdfast/core";
import { revisionOf, type TestWorkspace } from "./test-workspace.ts";

export interface MemoryWorkspaceOptions {
  /** Paths that are listed and cannot be read. */
  readonly faults?: Readonly<Record<string, WorkspaceErrorCode>>;
  /** What `list` throws instead of answering. */
  readonly listFault?: WorkspaceErrorCode;
  /** Order of the listing; default: code-unit order, as the interface promises. */
  readonly arrange?: (paths: string[]) => string[];
}

/** A workspace whose files are the given texts or bytes. */
export function memoryWorkspace(
  files: Readonly<Record<string, string | Uint8Array>>,
  { faults = {}, listFault, arrange = (paths) => paths.toSorted() }: MemoryWorkspaceOptions = {},
): TestWorkspace {
  const contents = new Map(Object.entries(files).map(([path, text]) => [path, typeof text === "string" ? Buffer.from(text) : text]));
  return {
    id: "current",
    revision: revisionOf(contents),
    list: (folder) => {
      if (listFault !== undefined) return Promise.reject(new WorkspaceError(listFault, folder));
      const inside = [...contents.keys()].filter((path) => folder === "" || path.startsWith(`${folder}/`));
      if (folder !== "" && inside.length === 0) return Promise.reject(new WorkspaceError("missing", folder));
      return Promise.resolve(arrange(inside).map((path) => ({ path, size: contents.get(path)?.length ?? 0 })));
    },
    read: (path) => {
      const fault = faults[path] ?? (contents.has(path) ? null : "missing");
      return fault === null ? Promise.resolve(contents.get(path) ?? new Uint8Array()) : Promise.reject(new WorkspaceError(fault, path));
    },
    write: (path, bytes) => {
      if (bytes === null) contents.delete(path);
      else contents.set(path, bytes);
      return Promise.resolve();
    },
  };
}
