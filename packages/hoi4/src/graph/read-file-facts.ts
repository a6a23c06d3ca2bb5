import { syntaxDiagnostics } from "../mod/diagnostic.ts";
import type { ModFile } from "../mod/list-mod-files.ts";
import type { EntryFact, FileFacts, HelperFact } from "./event-facts.ts";
import { readEntries } from "./read-entries.ts";
import { readEventDefinitions } from "./read-event-definitions.ts";
import { readHelpers } from "./read-helpers.ts";
import { openScript, parseSource, type HelperNames } from "./script-context.ts";

/** Facts with what the parser met, and whether the whole file has a structure that could be read. */
export interface ReadFile {
  readonly facts: FileFacts;
  readonly isWhole: boolean;
}

/** Everything that one script says about events. Depends on nothing but its bytes, its path and the names of the helpers. */
export function readFileFacts(
  { file, bytes }: { readonly file: Pick<ModFile, "displayPath" | "role">; readonly bytes: Uint8Array },
  helpers: HelperNames,
): ReadFile {
  const script = parseSource(bytes);
  const context = openScript({ path: file.displayPath, file: script, helpers });
  const definitions = file.role.kind === "events" ? readEventDefinitions(context) : { namespaces: [], events: [] };
  const helperFacts: HelperFact[] = file.role.kind === "scripted_effects" ? readHelpers(context) : [];
  const entries: EntryFact[] = file.role.kind === "caller" ? readEntries(context, file.role.shape, fileNameOf(file.displayPath)) : [];
  return {
    facts: {
      ...definitions,
      helpers: helperFacts,
      entries,
      swallowed: [...context.swallowed.values()],
      diagnostics: [...syntaxDiagnostics(file.displayPath, script), ...context.report.finish()],
    },
    isWhole: script.isWhole,
  };
}

function fileNameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
