import type { ListedLayer } from "./layer.ts";
import { definableKinds, type ScanRole } from "./scan-folders.ts";

/** A file, or a layer as a whole, that a result does not cover, and what could be in it. */
export interface SkippedSource {
  readonly path: string;
  readonly reasonCodes: readonly SkipReason[];
  readonly possibleSymbolKinds: readonly string[];
}

export type SkipReason =
  | "FILE_TOO_LARGE"
  | "SCRIPT_TOO_LARGE"
  | "FILE_UNREADABLE"
  | "FILE_VANISHED"
  | "FILE_OUTSIDE_WORKSPACE"
  | "STRUCTURE_NOT_READ"
  | "GRAPH_LIMIT"
  | "LAYER_MISSING"
  | "LAYER_UNREADABLE"
  | "LAYER_OUTSIDE_WORKSPACE";

/** What each way of not getting at a file is called in results. */
export const FILE_FAULTS = { missing: "FILE_VANISHED", unreadable: "FILE_UNREADABLE", outside: "FILE_OUTSIDE_WORKSPACE" } as const;

const LAYER_FAULTS = { missing: "LAYER_MISSING", unreadable: "LAYER_UNREADABLE", outside: "LAYER_OUTSIDE_WORKSPACE" } as const;

/** A file that was opened and whose structure could not be read to its end. */
export function partlyRead({ displayPath: path, role }: { readonly displayPath: string; readonly role: ScanRole }): SkippedSource {
  return { path, reasonCodes: ["STRUCTURE_NOT_READ"], possibleSymbolKinds: definableKinds(role) };
}

/** A folder that the layout names and that could not be listed: everything could be in there. */
export function skippedLayer({ label, fault }: ListedLayer): SkippedSource[] {
  if (fault === null) return [];
  return [{ path: `${label}:`, reasonCodes: [LAYER_FAULTS[fault]], possibleSymbolKinds: EVERY_KIND }];
}

const EVERY_KIND = ["event", "scripted_effect", "scripted_trigger", "localisation", "replace_path"];
