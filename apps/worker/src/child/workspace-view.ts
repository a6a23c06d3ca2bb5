import { constants } from "node:fs";
import { open, readdir, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { WorkspaceError, type WorkspaceErrorCode, type WorkspaceFile, type WorkspaceView } from "@holdfast/core";
import { isHidden, isWithin } from "../workspace/inside.ts";

/**
 * A view of the folder `path` below the declared root. Whatever a path or a link says, only what really lies in that
 * folder is opened: the permission model alone would follow links to anywhere. Hidden folders (`.git`) are not part of
 * it, and links to folders are not followed when listing, so that no circle of links is walked.
 */
export function viewWorkspace(workspace: {
  readonly id: string;
  readonly root: string;
  readonly path: string;
  readonly revision: string;
}): WorkspaceView {
  const folder = once(async () => {
    const root = await resolveReal(workspace.root, "");
    return resolveInside(root, path.join(root, workspace.path), "");
  });

  return {
    id: workspace.id,
    revision: workspace.revision,
    async list(below) {
      const root = await folder();
      const start = await resolveInside(root, path.join(root, checkPath(below)), below);
      const files: WorkspaceFile[] = [];
      await collect({ root, folder: start, shown: below, files });
      return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
    },
    async read(file) {
      const root = await folder();
      return readInside(await resolveInside(root, path.join(root, checkPath(file)), file), file);
    },
  };
}

/** Adds the files below `folder`, shown with the prefix `shown`. */
async function collect(walk: { root: string; folder: string; shown: string; files: WorkspaceFile[] }): Promise<void> {
  const { root, folder, shown, files } = walk;
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => fail(error, shown));
  await Promise.all(
    entries.map(async (entry) => {
      const found = path.join(folder, entry.name);
      const foundPath = shown === "" ? entry.name : `${shown}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!isHidden(entry.name)) await collect({ root, folder: found, shown: foundPath, files });
        return;
      }
      if (!entry.isFile() && !entry.isSymbolicLink()) return;
      const size = await sizeInside(root, found);
      if (size !== null) files.push({ path: foundPath, size });
    }),
  );
}

/** Null for what is not a file of the view: a link to outside or to a folder, or something that went away meanwhile. */
async function sizeInside(root: string, found: string): Promise<number | null> {
  try {
    const real = await realpath(found);
    if (!isWithin(root, real)) return null;
    const { size, isFile } = await stat(real).then((stats) => ({ size: stats.size, isFile: stats.isFile() }));
    return isFile ? size : null;
  } catch {
    return null;
  }
}

async function readInside(real: string, shown: string): Promise<Uint8Array> {
  // The path was resolved a moment ago: if a link has taken its place since, it is not followed. A named pipe must not block.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  try {
    await using file = await open(real, flags);
    if (!(await file.stat()).isFile()) throw new WorkspaceError("unreadable", shown);
    return await file.readFile();
  } catch (error) {
    return fail(error, shown);
  }
}

async function resolveInside(root: string, wanted: string, shown: string): Promise<string> {
  const real = await resolveReal(wanted, shown);
  if (!isWithin(root, real)) throw new WorkspaceError("outside", shown);
  return real;
}

function resolveReal(wanted: string, shown: string): Promise<string> {
  return realpath(wanted).catch((error: unknown) => fail(error, shown));
}

/** Answers the path when it is a relative one that stays below. */
function checkPath(shown: string): string {
  if (shown === "") return shown;
  const segments = shown.split("/");
  if (shown.startsWith("/") || segments.includes("..")) throw new WorkspaceError("outside", shown);
  if (shown.includes("\0") || segments.some((segment) => segment === "" || segment === ".")) throw new WorkspaceError("missing", shown);
  if (segments.slice(0, -1).some(isHidden)) throw new WorkspaceError("missing", shown);
  return shown;
}

const MEANING: ReadonlyMap<unknown, WorkspaceErrorCode> = new Map([
  ["ENOENT", "missing"],
  ["ENOTDIR", "missing"],
  ["ENAMETOOLONG", "missing"],
]);

function fail(error: unknown, shown: string): never {
  if (error instanceof WorkspaceError) throw error;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  throw new WorkspaceError(MEANING.get(code) ?? "unreadable", shown, { cause: error });
}

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | null = null;
  return () => (made ??= make());
}
