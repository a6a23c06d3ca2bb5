import { createHash, randomUUID } from "node:crypto";
import type { BigIntStats, Dirent } from "node:fs";
import { lstat, readdir, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { pause } from "@holdfast/process";
import { isHidden, isWithin, resolveFolder, type WorkspacePlace } from "./inside.ts";

/** Files of one workspace, at most; more of them than that are never taken for the same. */
const MAX_FILES = 500_000;
/**
 * File systems stamp changes by a clock that stands still for milliseconds: of a file that has changed this recently, another change may
 * leave no trace. So we look again when everything is older.
 */
const SETTLED_AFTER_MS = 20;
const LOOKS = 10;

/**
 * Names exactly the files that the view of a workspace shows: path, size, and the times of the last change of content and of anything
 * else, in nanoseconds. A folder that is not there has a name too. Files that cannot be listed, are too many, or do not stop changing
 * get a name that will never come again. Rejects never.
 */
export async function sourceRevision(place: WorkspacePlace): Promise<string> {
  try {
    const folder = await resolveFolder(place).catch(missingAsNull);
    if (folder === null) return "missing";
    for (let look = 1; look <= LOOKS; look += 1) {
      const startedAt = Date.now();
      const files: FileStamp[] = [];
      await collect({ root: folder, folder, shown: "", files });
      const newestMs = files.reduce((newest, { changedMs }) => Math.max(newest, changedMs), 0);
      // A change in the future is by a clock that is not ours, and says nothing about now.
      if (newestMs < startedAt - SETTLED_AFTER_MS || newestMs > startedAt + SETTLED_AFTER_MS) return digest(files);
      await pause(SETTLED_AFTER_MS);
    }
  } catch {
    // What cannot be listed cannot be compared.
  }
  return `unknown:${randomUUID()}`;
}

interface FileStamp {
  readonly path: string;
  readonly stamp: string;
  readonly changedMs: number;
}

function digest(files: readonly FileStamp[]): string {
  const hash = createHash("sha256");
  for (const file of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) hash.update(`${JSON.stringify([file.path, file.stamp])}\n`);
  return hash.digest("hex");
}

async function collect(walk: { root: string; folder: string; shown: string; files: FileStamp[] }): Promise<void> {
  const { root, folder, shown, files } = walk;
  const entries = await readdir(folder, { withFileTypes: true });
  const folders: Dirent[] = [];
  const found = await Promise.all(
    entries.map(async (entry) => {
      if (!entry.isDirectory()) return await stampOf(root, path.join(folder, entry.name), entry);
      if (!isHidden(entry.name)) folders.push(entry);
      return null;
    }),
  );
  for (const [index, stats] of found.entries()) {
    const name = entries[index]?.name;
    if (stats === null || name === undefined) continue;
    const { size, mtimeNs, ctimeNs, ctimeMs } = stats;
    files.push({ path: join(shown, name), stamp: `${size}:${mtimeNs}:${ctimeNs}`, changedMs: Number(ctimeMs) });
  }
  if (files.length > MAX_FILES) throw new RangeError(`more than ${MAX_FILES} files`);
  for (const { name } of folders) await collect({ root, folder: path.join(folder, name), shown: join(shown, name), files });
}

/** Null for what the view does not show. */
async function stampOf(root: string, file: string, entry: Dirent): Promise<BigIntStats | null> {
  if (entry.isFile()) return await lstat(file, { bigint: true }).catch(missingAsNull);
  if (!entry.isSymbolicLink()) return null;
  const real = await realpath(file).catch(() => null);
  if (real === null || !isWithin(root, real)) return null;
  const stats = await stat(real, { bigint: true }).catch(missingAsNull);
  return stats?.isFile() === true ? stats : null;
}

function join(shown: string, name: string): string {
  return shown === "" ? name : `${shown}/${name}`;
}

function missingAsNull(error: unknown): null {
  if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")) return null;
  throw error;
}
