import { readLocalisation } from "../clausewitz/index.ts";
import type { Pace } from "../pace.ts";
import { syntaxDiagnostics, type Diagnostic } from "./diagnostic.ts";
import type { DiagnosticBudget } from "./diagnostic-budget.ts";
import { partlyRead, type LoadedFile, type SkippedSource } from "./read-mod-files.ts";
import { startOf } from "./source-location.ts";

/** Texts of the wanted keys, and what is wrong with the localisation files of all languages. */
export interface LocalisedTexts {
  /** In English where there is one, else in the first language that has it. */
  readonly texts: ReadonlyMap<string, string>;
  readonly diagnostics: readonly Diagnostic[];
  /** Files of which a part could not be read. */
  readonly skipped: readonly SkippedSource[];
}

export async function readLocalisedTexts(
  files: readonly LoadedFile[],
  { wanted, budget, pace }: { wanted: ReadonlySet<string>; budget: DiagnosticBudget; pace: Pace },
): Promise<LocalisedTexts> {
  const best = new Map<string, { text: string; rank: number }>();
  const diagnostics: Diagnostic[] = [];
  const skipped: SkippedSource[] = [];
  for (const loaded of files) {
    await pace();
    const { displayPath } = loaded.file;
    const localisation = readLocalisation(loaded.bytes);
    diagnostics.push(...budget.spend(displayPath, syntaxDiagnostics(displayPath, localisation)));
    if (!localisation.isWhole) skipped.push(partlyRead(loaded.file));
    if (!FILE_NAME.test(displayPath)) {
      diagnostics.push(misnamed(displayPath));
      continue;
    }
    const isOverride = /\/replace\//iu.test(displayPath);
    for (const { key, language, text, isLoaded } of localisation.entries) {
      if (!isLoaded || language === null || !wanted.has(key)) continue;
      const rank = (language === "english" ? 2 : 0) + (isOverride ? 1 : 0);
      if (rank > (best.get(key)?.rank ?? -1)) best.set(key, { text, rank });
    }
  }
  return { texts: new Map([...best].map(([key, { text }]) => [key, text])), diagnostics, skipped };
}

/** `languages.yml` names the languages themselves. */
const FILE_NAME = /l_[a-z_]+\.yml$|\/languages\.yml$/iu;

function misnamed(displayPath: string): Diagnostic {
  return {
    code: "LOCALISATION_FILE_NOT_LOADED",
    severity: "warning",
    category: "configuration",
    message: `The name of a localisation file must end in its language, such as "_l_english.yml"; the game does not load this one.`,
    classification: "probable_defect",
    confidence: "high",
    location: startOf(displayPath),
  };
}
