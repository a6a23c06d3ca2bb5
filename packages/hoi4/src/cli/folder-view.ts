import { createHash } from "node:crypto";
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { WorkspaceError, type WorkspaceErrorCode, type WorkspaceFile, type WorkspaceView } from "@holdfast/core";

/** Folders of this machine by the names under which they are shown; "" shows one as the whole workspace. */
export type Mounts = Readonly<Record<string, string>>;

/**
 * Folders that lie anywhere as one workspace, for a person at a terminal who may read them all. Like a worker's view it shows no hidden
 * folder, walks no link to a folder, and follows links of files only inside their own folder. `made` are files that exist in the view alone.
 */
export function viewFolders(mounts: Mounts, made: Readonly<Record<string, string>> = {}): WorkspaceView {
  const locate = (shown: string): { readonly root: string; readonly inside: string } | null => {
    for (const [name, root] of Object.entries(mounts)) {
      if (name === "") return { root, inside: shown };
      if (shown === name || shown.startsWith(`${name}/`)) return { root, inside: shown.slice(name.length + 1) };
    }
    return null;
  };
  return {
    id: "current",
    revision: createHash("sha256")
      .update(JSON.stringify([mounts, made]))
      .digest("hex"),
    async list(below) {
      const place = locate(below);
      if (place === null) throw new WorkspaceError("missing", below);
      const files = await listFolder({ root: await realOf(place.root, below), inside: place.inside, shown: below });
      return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
    },
    async read(file) {
      if (Object.hasOwn(made, file)) return Buffer.from(made[file] ?? "");
      const place = locate(file);
      if (place === null) throw new WorkspaceError("missing", file);
      const root = await realOf(place.root, file);
      const real = await realOf(path.join(root, place.inside), file);
      if (!isWithin(root, real)) throw new WorkspaceError("outside", file);
      return await readFile(real).catch((error: unknown) => fail(error, file));
    },
  };
}

interface Walk {
  readonly root: string;
  readonly inside: string;
  readonly shown: string;
}

async function listFolder({ root, inside, shown }: Walk): Promise<WorkspaceFile[]> {
  const entries = await readdir(path.join(root, inside), { withFileTypes: true }).catch((error: unknown) => fail(error, shown));
  const found = await Promise.all(
    entries.map(async (entry) => {
      const below = { root, inside: path.join(inside, entry.name), shown: shown === "" ? entry.name : `${shown}/${entry.name}` };
      if (entry.isDirectory()) return entry.name.startsWith(".") ? [] : await listFolder(below);
      const size = entry.isFile() || entry.isSymbolicLink() ? await sizeOf(below) : null;
      return size === null ? [] : [{ path: below.shown, size }];
    }),
  );
  return found.flat();
}

/** Null for a link to outside or to a folder, and for what went away meanwhile. */
async function sizeOf({ root, inside }: Walk): Promise<number | null> {
  try {
    const real = await realpath(path.join(root, inside));
    const stats = await stat(real);
    return isWithin(root, real) && stats.isFile() ? stats.size : null;
  } catch {
    return null;
  }
}

function realOf(file: string, shown: string): Promise<string> {
  return realpath(file).catch((error: unknown) => fail(error, shown));
}

function isWithin(root: string, real: string): boolean {
  return real === root || real.startsWith(root.endsWith(path.sep) ? root : root + path.sep);
}

const MEANING: ReadonlyMap<unknown, WorkspaceErrorCode> = new Map([
  ["ENOENT", "missing"],
  ["ENOTDIR", "missing"],
]);

function fail(error: unknown, shown: string): never {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  throw new WorkspaceError(MEANING.get(code) ?? "unreadable", shown, { cause: error });
}
