import type { OpenSources } from "../mod/list-mod-files.ts";
import type { SkippedSource } from "../mod/skipped-source.ts";
import type { FileFacts } from "./event-facts.ts";
import { namespaceOf } from "./event-types.ts";
import type { JudgeMissing } from "./link-event-graph.ts";

/**
 * Whose fault an undefined id is. When the files of the game or of mods that load before this one are not here, most ids that
 * nothing defines are theirs. The mod is at fault for certain when it unloads their events, when a slip of its own hides the
 * definition, or when it declares the namespace and all mods that it depends on are here: an addition to a mod repeats its namespaces.
 */
export function missingJudge({
  open,
  files,
  skipped,
}: {
  /** Nothing is open where the events of all earlier layers are unloaded. */
  open: OpenSources;
  files: readonly FileFacts[];
  skipped: readonly SkippedSource[];
}): JudgeMissing {
  const declared = new Set(files.flatMap(({ namespaces }) => namespaces.map(({ name }) => name)));
  const isAlone = open.dependencies.length === 0;
  const isWhole = isAlone && !open.game;
  const couldBeSkipped = skipped.some(({ possibleSymbolKinds }) => possibleSymbolKinds.includes("event"));
  const swallowed = new Set(files.flatMap((file) => file.swallowed.map(({ id }) => id)));
  return (eventId) => {
    if (swallowed.has(eventId)) return "missing";
    if (couldBeSkipped) return "skipped";
    const namespace = namespaceOf(eventId);
    return isWhole || (isAlone && namespace !== null && declared.has(namespace)) ? "missing" : "not_configured";
  };
}
