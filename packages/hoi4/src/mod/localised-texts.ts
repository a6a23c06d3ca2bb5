import { readLocalisation } from "../clausewitz/index.ts";
import type { Pace } from "../pace.ts";
import { syntaxDiagnostics, type Diagnostic } from "./diagnostic.ts";
import type { DiagnosticBudget } from "./diagnostic-budget.ts";
import { createFileCache, type CachePass, type FileCache } from "./file-cache.ts";
import type { LoadedFile } from "./read-mod-files.ts";
import { partlyRead, type SkippedSource } from "./skipped-source.ts";
import { startOf } from "./source-location.ts";

/** Texts of the wanted keys, and what is wrong with the localisation files of all languages. */
export interface LocalisedTexts {
  /** In English where there is one, else in the first language that has it. */
  readonly texts: ReadonlyMap<string, string>;
  readonly diagnostics: readonly Diagnostic[];
  /** Files of which a part could not be read. */
  readonly skipped: readonly SkippedSource[];
}

/** What the game gets from one localisation file. */
export interface KeptTexts {
  readonly entries: readonly { readonly key: string; readonly text: string; readonly isEnglish: boolean }[];
  readonly diagnostics: readonly Diagnostic[];
  readonly isWhole: boolean;
}

export type TextsCache = FileCache<KeptTexts>;

/** Texts for every operation of this process. */
export const sharedTexts: TextsCache = createTextsCache();

export function createTextsCache(maxBytes: number = 64 * 1024 * 1024): TextsCache {
  return createFileCache({ maxBytes });
}

/** Reads files in load order. Of several texts of one key, those of a `replace` folder win, then those of later layers, then the first. */
export async function readLocalisedTexts(
  files: readonly LoadedFile[],
  { wanted, budget, pass, pace }: { wanted: ReadonlySet<string>; budget: DiagnosticBudget; pass: CachePass<KeptTexts>; pace: Pace },
): Promise<LocalisedTexts> {
  const best = new Map<string, { text: string; rank: number; layer: string }>();
  const diagnostics: Diagnostic[] = [];
  const skipped: SkippedSource[] = [];
  for (const loaded of files) {
    await pace();
    const { displayPath, layer } = loaded.file;
    const kept = readKept(pass, loaded);
    diagnostics.push(...budget.spend(displayPath, kept.diagnostics));
    if (!kept.isWhole) skipped.push(partlyRead(loaded.file));
    if (!FILE_NAME.test(displayPath)) {
      diagnostics.push(misnamed(displayPath));
      continue;
    }
    const isOverride = /\/replace\//iu.test(displayPath);
    for (const { key, text, isEnglish } of kept.entries) {
      if (!wanted.has(key)) continue;
      const rank = (isEnglish ? 2 : 0) + (isOverride ? 1 : 0);
      const found = best.get(key);
      if (found === undefined || rank > found.rank || (rank === found.rank && layer !== found.layer)) best.set(key, { text, rank, layer });
    }
  }
  return { texts: new Map([...best].map(([key, { text }]) => [key, text])), diagnostics, skipped };
}

function readKept(pass: CachePass<KeptTexts>, { file: { displayPath }, bytes, sha256 }: LoadedFile): KeptTexts {
  const key = `${sha256} ${displayPath}`;
  const kept = pass.get(key);
  if (kept !== undefined) return kept;
  const localisation = readLocalisation(bytes);
  const entries = localisation.entries.flatMap(({ key: name, language, text, isLoaded }) =>
    isLoaded && language !== null ? [{ key: name, text, isEnglish: language === "english" }] : [],
  );
  const made = { entries, diagnostics: syntaxDiagnostics(displayPath, localisation), isWhole: localisation.isWhole };
  pass.put(key, made, 2_000 + 2 * bytes.length + 120 * entries.length + 1_000 * made.diagnostics.length);
  return made;
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
