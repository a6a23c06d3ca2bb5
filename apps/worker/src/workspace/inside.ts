import { realpath } from "node:fs/promises";
import path from "node:path";

/** Where a workspace lies: a folder that the worker declared as a root, and the path below it. */
export interface WorkspacePlace {
  readonly root: string;
  readonly path: string;
}

/** The folder of a workspace without any link. Rejects when it is not there, and when it leads out of its root. */
export async function resolveFolder(place: WorkspacePlace): Promise<string> {
  const root = await realpath(place.root);
  const folder = await realpath(path.join(root, place.path));
  if (!isWithin(root, folder)) throw new Error(`the workspace folder "${place.path}" leads out of its root`);
  return folder;
}

/** Whether a path without links is the folder or lies in it. */
export function isWithin(folder: string, real: string): boolean {
  return real === folder || real.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep);
}

/** Folders with such a name (`.git`) are no part of a workspace. */
export function isHidden(name: string): boolean {
  return name.startsWith(".");
}
