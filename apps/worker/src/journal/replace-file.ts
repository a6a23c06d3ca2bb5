import { constants, linkSync, renameSync } from "node:fs";
import { mkdir, open, rm, unlink } from "node:fs/promises";
import path from "node:path";
import type { FileVersion } from "@holdfast/core";
import { makeParentFolder, ownFolder, parentFolder, type PlanPlace } from "./plan-place.ts";
import { isUntouched, isVersion, lookAt, type PresentFile } from "./present-file.ts";
import { syncFolder } from "./sync-folder.ts";

/** Somebody else has changed a file of the plan. */
export class ForeignChange extends Error {
  override readonly name = "ForeignChange";
  readonly path: string;

  constructor(file: string) {
    super(`${JSON.stringify(file)} was changed by somebody else`);
    this.path = file;
  }
}

export interface Replacement {
  readonly path: string;
  /** Number of the file in its plan. */
  readonly position: number;
  /** What the file has to be until then, null for none. */
  readonly from: FileVersion | null;
  readonly to: FileVersion | null;
  /** Asked when all is prepared: rejects when the attempt may no longer write. */
  readonly mayWrite: () => Promise<void>;
  /** The same by what this process knows, in the last moment; throws. */
  readonly assertHeld: () => void;
}

/**
 * Puts one file in place of another in one step, or does nothing. The order is what makes it safe: the new bytes are durable under
 * another name; then the database is asked whether this attempt may still write; then the file is looked at once more. An attempt that
 * was paused after the question cannot do harm later, because whoever took over has removed its folder (`ownFolder`).
 *
 * Throws `ForeignChange` when the file is neither `from` nor, already, `to`.
 */
export async function replaceFile(place: PlanPlace, replacement: Replacement): Promise<void> {
  const { path: file, from, to, mayWrite, assertHeld } = replacement;
  const before = await lookAt(place, file);
  if (isVersion(before, to)) return;
  if (!isVersion(before, from)) throw new ForeignChange(file);
  const parent = to === null ? await parentFolder(place, file) : await makeParentFolder(place, file);
  if (parent === null) throw new ForeignChange(file);
  const own = ownFolder(parent, place);
  await mkdir(own, { recursive: true, mode: 0o700 });
  const target = path.join(parent, path.basename(file));
  const beside = path.join(own, String(replacement.position));
  // What this attempt has taken away comes back as it is, with its permissions and its other names.
  const isThere = isVersion(await lookAt(place, path.relative(place.folder, beside)), to);
  if (to !== null && !isThere) await writeDurably(beside, to.bytes, before);
  await mayWrite();
  const present = await lookAt(place, file);
  if (!isVersion(present, from)) throw new ForeignChange(file);
  assertHeld();
  if (!isUntouched(target, present)) throw new ForeignChange(file);
  swap({ target, beside, from, to, file });
  await syncFolder(parent);
  if (from === null) await unlink(beside);
}

function swap(names: { target: string; beside: string; from: FileVersion | null; to: FileVersion | null; file: string }): void {
  const { target, beside, from, to, file } = names;
  // Into the folder of the attempt, and not simply away: that would succeed whoever has taken over.
  if (to === null) return renameSync(target, beside);
  if (from !== null) return renameSync(beside, target);
  try {
    // A rename would replace what somebody has made in this moment, a link does not.
    linkSync(beside, target);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") throw new ForeignChange(file);
    throw error;
  }
}

/** A new file, or none at all: half of one would take the space that undoing the plan needs. */
async function writeDurably(name: string, bytes: Uint8Array, replaced: PresentFile): Promise<void> {
  await rm(name, { force: true });
  try {
    await writeNew(name, bytes, replaced);
  } catch (error) {
    await rm(name, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** With the permissions and, where we may, the owner of the file that it replaces. */
async function writeNew(name: string, bytes: Uint8Array, replaced: PresentFile): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  await using handle = await open(name, flags, 0o666);
  await handle.writeFile(bytes);
  if (replaced.kind === "file") {
    const { mode, uid, gid } = replaced.stats;
    await handle.chown(Number(uid), Number(gid)).catch(() => undefined);
    await handle.chmod(Number(mode) & 0o7777);
  }
  await handle.sync();
}
