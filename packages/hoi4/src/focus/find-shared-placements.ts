import type { OperationContext } from "@holdfast/core";
import { parseScript } from "../clausewitz/index.ts";
import type { ModFile, ModListing } from "../mod/list-mod-files.ts";
import { readModFiles } from "../mod/read-mod-files.ts";
import type { Pace } from "../pace.ts";
import { placementOf, type Placement } from "./placement.ts";
import { readFocusFile } from "./read-focus-file.ts";

export interface SharedPlacements {
  /** The first definition of an id in load order counts. */
  readonly placements: ReadonlyMap<string, Placement>;
  /** Display paths in load order. */
  readonly filesRead: readonly string[];
}

/** The focuses of all files but one that a tree of that one may stand relative to. Files that cannot be read are passed over. */
export async function findSharedPlacements({
  context,
  listing,
  except,
  pace,
}: {
  context: Pick<OperationContext, "workspace" | "signal">;
  listing: ModListing;
  except: ModFile;
  pace: Pace;
}): Promise<SharedPlacements> {
  const files = listing.files.filter((file) => isFocusFile(file) && file.path !== except.path);
  const snapshot = await readModFiles({ context, listing: { ...listing, files }, pace });
  if ("code" in snapshot) return { placements: new Map(), filesRead: [] };
  const placements = new Map<string, Placement>();
  for (const { bytes } of snapshot.files) {
    await pace();
    const { shared, constants } = readFocusFile(parseScript(bytes));
    for (const focus of shared) if (!placements.has(focus.id)) placements.set(focus.id, placementOf(focus, constants));
  }
  return { placements, filesRead: snapshot.files.map(({ file }) => file.displayPath) };
}

/** Whether the game reads focus trees from it. */
export function isFocusFile({ role }: ModFile): boolean {
  return role.kind === "caller" && role.shape.noun === "focus";
}
