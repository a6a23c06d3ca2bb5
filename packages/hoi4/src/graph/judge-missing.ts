import { replacesFolder, type Descriptor } from "../mod/descriptor.ts";
import type { SkippedSource } from "../mod/read-mod-files.ts";
import type { FileFacts } from "./event-facts.ts";
import { namespaceOf } from "./event-types.ts";
import type { JudgeMissing } from "./link-event-graph.ts";

/**
 * Whose fault an undefined id is. The files of the game and of mods that load before this one are not here, and most ids that
 * a mod does not define are theirs. The mod is at fault for certain when it unloads their events, when a slip of its own hides
 * the definition, or when it declares the namespace and depends on no other mod: an addition to a mod repeats its namespaces.
 */
export function missingJudge({
  descriptor,
  files,
  skipped,
}: {
  descriptor: Descriptor;
  files: readonly FileFacts[];
  skipped: readonly SkippedSource[];
}): JudgeMissing {
  const declared = new Set(files.flatMap(({ namespaces }) => namespaces.map(({ name }) => name)));
  const isAlone = descriptor.dependencies.length === 0;
  const isReplaced = replacesFolder(descriptor, "events");
  const couldBeSkipped = skipped.some(({ possibleSymbolKinds }) => possibleSymbolKinds.includes("event"));
  const swallowed = new Set(files.flatMap((file) => file.swallowed.map(({ id }) => id)));
  return (eventId) => {
    if (swallowed.has(eventId)) return "missing";
    if (couldBeSkipped) return "skipped";
    const namespace = namespaceOf(eventId);
    return isReplaced || (isAlone && namespace !== null && declared.has(namespace)) ? "missing" : "not_configured";
  };
}
