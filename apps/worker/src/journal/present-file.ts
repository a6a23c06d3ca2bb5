import { createHash } from "node:crypto";
import { constants, lstatSync, type BigIntStats } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import type { FileVersion } from "@holdfast/core";
import { PLAN_BYTES } from "../sandbox/frames.ts";
import { parentFolder, PlaceError, type PlanPlace } from "./plan-place.ts";

/** What is at a path of the plan now. `other`: something that a plan can neither be made from nor replace. */
export type PresentFile =
  | { readonly kind: "absent" }
  | { readonly kind: "file"; readonly version: FileVersion; readonly stats: BigIntStats }
  | { readonly kind: "other"; readonly reason: string };

/** A link, a folder, a pipe, or something below a file. */
const NO_FILE: ReadonlySet<unknown> = new Set(["ELOOP", "EISDIR", "ENXIO", "ENOTDIR", "ENAMETOOLONG"]);

export async function lookAt(place: PlanPlace, file: string): Promise<PresentFile> {
  const shown = JSON.stringify(file);
  try {
    const parent = await parentFolder(place, file);
    if (parent === null) return { kind: "absent" };
    // A link is not followed, and a named pipe must not block.
    await using handle = await open(
      path.join(parent, path.basename(file)),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) return { kind: "other", reason: `${shown} is no file` };
    if (stats.size > PLAN_BYTES) return { kind: "other", reason: `${shown} has more than ${PLAN_BYTES} bytes` };
    const bytes = await handle.readFile();
    return { kind: "file", version: { sha256: createHash("sha256").update(bytes).digest("hex"), bytes }, stats };
  } catch (error) {
    if (error instanceof PlaceError) return { kind: "other", reason: error.message };
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT") return { kind: "absent" };
    if (NO_FILE.has(code)) return { kind: "other", reason: `there can be no file ${shown}` };
    throw error;
  }
}

export function isVersion(present: PresentFile, version: FileVersion | null): boolean {
  if (version === null) return present.kind === "absent";
  return present.kind === "file" && present.version.sha256 === version.sha256;
}

/** Whether the file has not been touched since it was looked at. Synchronous: nothing of ours comes between this and what follows. */
export function isUntouched(target: string, present: PresentFile): boolean {
  const now = lstatSync(target, { bigint: true, throwIfNoEntry: false });
  if (present.kind !== "file" || now === undefined) return present.kind === "absent" && now === undefined;
  const { stats } = present;
  return (["dev", "ino", "size", "mtimeNs", "ctimeNs"] as const).every((field) => now[field] === stats[field]);
}
