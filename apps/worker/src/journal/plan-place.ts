import { mkdir, readdir, realpath, rm } from "node:fs/promises";
import path from "node:path";
import type { AttemptRef } from "@holdfast/core";
import { syncFolder } from "./sync-folder.ts";

/** Where the files of a plan lie, and what its attempt calls its own there. */
export interface PlanPlace {
  /** Of the workspace, without any link. */
  readonly folder: string;
  readonly attempt: Pick<AttemptRef, "taskId" | "token">;
}

/** A path of the plan does not lead to a place where a file of the workspace can be. */
export class PlaceError extends Error {
  override readonly name = "PlaceError";
}

/**
 * The folder that holds a file of the plan; null when it is not there. Throws `PlaceError` when the way to it leads through a link, a file,
 * or a folder that the file system spells differently.
 */
export async function parentFolder(place: PlanPlace, file: string): Promise<string | null> {
  const parent = path.dirname(path.join(place.folder, file));
  const real = await realpath(parent).catch((error: unknown) => absent(error, file));
  // What is not there may still have to be made, and not behind a link.
  if (real === null && parent !== place.folder) await parentFolder(place, path.relative(place.folder, parent));
  if (real !== null && real !== parent)
    throw new PlaceError(`the way to ${JSON.stringify(file)} leads through a link or is spelled differently`);
  return real;
}

/** Makes the folder that holds a file of the plan, durably. */
export async function makeParentFolder(place: PlanPlace, file: string): Promise<string> {
  const parent = path.dirname(path.join(place.folder, file));
  // From above: what is there must be no link before anything is made below it.
  for (const folder of foldersDownTo(place.folder, parent)) {
    if ((await parentFolder(place, path.relative(place.folder, path.join(folder, "x")))) !== null) continue;
    await mkdir(folder);
    await syncFolder(path.dirname(folder));
  }
  return parent;
}

/**
 * The folder, beside the files, for what an attempt is about to put there and what it has taken away. Hidden, so that no view shows it.
 * Its name is the fence: an attempt that takes over removes the folders of those before it, and then no step of theirs that was already
 * permitted can succeed any more, because each is a rename or a link out of such a folder or into it.
 */
export function ownFolder(parent: string, { attempt }: PlanPlace): string {
  return path.join(parent, `${prefixOf(attempt)}${attempt.token}`);
}

/**
 * Removes the folders of earlier attempts at the task, or its own. Once it has resolved, they are gone. Never those of a later attempt: one
 * that was replaced while it took over would fence off its successor.
 */
export async function removeFolders(
  place: PlanPlace,
  files: readonly { readonly path: string }[],
  whose: "earlier" | "own",
): Promise<void> {
  const parents = new Set<string>();
  for (const file of files) {
    const parent = await parentFolder(place, file.path).catch(() => null);
    if (parent !== null) parents.add(parent);
  }
  const { token } = place.attempt;
  for (const parent of parents) {
    for (const name of await readdir(parent)) {
      const owner = tokenOf(name, place);
      if (owner === null || (whose === "own" ? owner !== token : owner >= token)) continue;
      // Somebody may still put something into it; then it is removed again.
      await rm(path.join(parent, name), { recursive: true, force: true, maxRetries: 10 });
    }
  }
}

function prefixOf({ taskId }: PlanPlace["attempt"]): string {
  return `.holdfast-${taskId}-`;
}

/** Whose folder of the task this is; null for anything else. */
function tokenOf(name: string, { attempt }: PlanPlace): number | null {
  const prefix = prefixOf(attempt);
  const rest = name.startsWith(prefix) ? name.slice(prefix.length) : "";
  return /^[0-9]+$/u.test(rest) ? Number(rest) : null;
}

function foldersDownTo(top: string, bottom: string): readonly string[] {
  if (bottom === top) return [];
  return [...foldersDownTo(top, path.dirname(bottom)), bottom];
}

function absent(error: unknown, file: string): null {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT") return null;
  if (code === "ENOTDIR" || code === "ELOOP" || code === "ENAMETOOLONG")
    throw new PlaceError(`there can be no file ${JSON.stringify(file)}`, { cause: error });
  throw error;
}
