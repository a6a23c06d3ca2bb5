import type { WorkspaceFile, WorkspaceView } from "@holdfast/core";
import type { Diagnostic } from "./diagnostic.ts";
import { compareText } from "../compare-text.ts";
import { scanRole, type ScanRole } from "./scan-folders.ts";
import { startOf } from "./source-location.ts";

/** One file that a scan reads, with its place in the load order of its layer. */
export interface ModFile {
  /** As the file system spells it. */
  readonly path: string;
  /** `mod:events/a.txt`: what results and graphs call it. */
  readonly displayPath: string;
  readonly layer: typeof MOD_LAYER;
  /** The game reads the files of a layer in this order. */
  readonly order: number;
  /** Bytes, as listed. */
  readonly size: number;
  readonly role: ScanRole;
}

export interface ModListing {
  readonly files: readonly ModFile[];
  /** The file that describes the mod, or null. */
  readonly descriptor: WorkspaceFile | null;
  readonly diagnostics: readonly Diagnostic[];
  /** Folders that hold an `events` folder themselves: a hint for a caller who named the folder above the mod. */
  readonly modFoldersBelow: readonly string[];
}

/** The layer that a workspace is; game, DLC and dependency layers come before it in the load order. */
export const MOD_LAYER = "mod" as const;

/** Which files an event scan reads. Throws `WorkspaceError` when the folder of the mod cannot be listed. */
export async function listModFiles(workspace: WorkspaceView): Promise<ModListing> {
  const listed = (await workspace.list("")).toSorted((a, b) => compareText(a.path, b.path));
  const diagnostics: Diagnostic[] = [];
  // Windows, where the game's authors work, knows one file where Linux may hold two that differ in letter case only.
  const byLowerPath = new Map<string, WorkspaceFile>();
  for (const file of listed) {
    const twin = byLowerPath.get(file.path.toLowerCase());
    if (twin !== undefined && scanRole(file.path) !== null) diagnostics.push(caseCollision(twin, file));
    byLowerPath.set(file.path.toLowerCase(), file);
  }
  const active = [...byLowerPath.values()].toSorted((a, b) => compareText(a.path, b.path));
  const files = active.flatMap(({ path, size }) => {
    const role = scanRole(path);
    return role === null ? [] : [{ path, displayPath: displayPath(path), layer: MOD_LAYER, size, role } satisfies Omit<ModFile, "order">];
  });
  return {
    files: files.map((file, order) => ({ ...file, order })),
    descriptor: findDescriptor(listed),
    diagnostics,
    modFoldersBelow: [...new Set(listed.flatMap(({ path }) => /^([^/]+)\/(?:events\/|descriptor\.mod$)/iu.exec(path)?.[1] ?? []))],
  };
}

export function displayPath(path: string): string {
  return `${MOD_LAYER}:${path}`;
}

/** `descriptor.mod`, or the only other `.mod` file of the folder: older mods ship the launcher's copy. */
function findDescriptor(listed: readonly WorkspaceFile[]): WorkspaceFile | null {
  const candidates = listed.filter(({ path }) => /^[^/]+\.mod$/iu.test(path));
  const named = candidates.find(({ path }) => path.toLowerCase() === "descriptor.mod");
  return named ?? (candidates.length === 1 ? (candidates[0] ?? null) : null);
}

function caseCollision(shadowed: WorkspaceFile, shadowing: WorkspaceFile): Diagnostic {
  return {
    code: "SOURCE_PATH_CASE_COLLISION",
    severity: "warning",
    category: "configuration",
    message: `"${shadowed.path}" and "${shadowing.path}" differ in letter case only, so Windows players have one of them. The second one was read, the first one was not.`,
    classification: "probable_defect",
    confidence: "confirmed",
    location: startOf(displayPath(shadowed.path)),
    related: [startOf(displayPath(shadowing.path))],
  };
}
