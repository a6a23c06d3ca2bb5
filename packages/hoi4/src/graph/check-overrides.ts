import { quantity } from "../quantity.ts";
import type { Diagnostic } from "../mod/diagnostic.ts";
import { startOf } from "../mod/source-location.ts";
import type { LinkedGraph } from "./link-event-graph.ts";

/** A file of an earlier layer that one of the mod stands for as a whole, with what it would have defined. */
export interface OverriddenFile {
  /** Display path. */
  readonly path: string;
  /** Display path of the file of the mod. */
  readonly by: string;
  readonly events: readonly string[];
  /** Scripted effects that no file defines any more, and that some file still runs. */
  readonly lostHelpers: readonly string[];
}

/**
 * What a file of the mod takes away that others still use. A copy of a game's file hides it with all that a later version of the game has
 * added to it, which shows nowhere but in what is missing.
 */
export function checkOverrides({ unresolved }: Pick<LinkedGraph, "unresolved">, overridden: readonly OverriddenFile[]): Diagnostic[] {
  const wanted = new Set(unresolved.map(({ reference }) => reference));
  return overridden.flatMap(({ path, by, events, lostHelpers }) => {
    const lost = [...events.filter((id) => wanted.has(id)), ...lostHelpers];
    if (lost.length === 0) return [];
    const more = lost.length > NAMES_LISTED ? `, and ${quantity(lost.length - NAMES_LISTED, "more definition")}` : "";
    return {
      code: "SOURCE_OVERRIDE_DROPS_DEFINITIONS",
      severity: "warning",
      category: "reference",
      message: `This file stands for ${path} as a whole and leaves out what is still used: ${lost.slice(0, NAMES_LISTED).join(", ")}${more}.`,
      classification: "probable_defect",
      confidence: "high",
      location: startOf(by),
      details: { overridden: path, lost: lost.slice(0, DETAILS_LISTED) },
    };
  });
}

const NAMES_LISTED = 5;
const DETAILS_LISTED = 100;
