import type { OverriddenFile } from "../../graph/check-overrides.ts";
import type { FileFacts } from "../../graph/event-facts.ts";
import { addSizes, EMPTY_SIZE, isWithin, type GraphSize } from "../../graph/graph-size.ts";
import { keptHelperNames, readKept, type FactsPass, type KeptFacts } from "../../graph/kept-facts.ts";
import type { HelperNames } from "../../graph/script-context.ts";
import type { DiagnosticBudget } from "../../mod/diagnostic-budget.ts";
import { isOfMod, overriddenByMod, type ModFile, type ModListing } from "../../mod/list-mod-files.ts";
import type { LoadedFile, ModReader } from "../../mod/read-mod-files.ts";
import { definableKinds } from "../../mod/scan-folders.ts";
import { partlyRead, type SkippedSource } from "../../mod/skipped-source.ts";
import type { Pace } from "../../pace.ts";

/** What the files of a listing say, in load order. */
export interface ReadSources {
  readonly facts: readonly FileFacts[];
  /** Display paths of files that the graph has in part or not at all. */
  readonly skipped: readonly SkippedSource[];
  /** What files of the mod stand for. */
  readonly overridden: readonly OverriddenFile[];
  /** Localisation files, which are looked through once it is known which texts are wanted. */
  readonly localisation: readonly LoadedFile[];
}

/**
 * Reads every file once and keeps what scripts say instead of their bytes. Scripted effects come first, because all other files are read
 * with their names, and the mod before the game, because a graph that is full should lack the latter.
 */
export async function readSources({
  reader,
  listing,
  pass,
  budget,
  graphLimit,
  pace,
}: {
  reader: ModReader;
  listing: ModListing;
  pass: FactsPass;
  budget: DiagnosticBudget;
  graphLimit: GraphSize;
  pace: Pace;
}): Promise<ReadSources> {
  const found: { readonly order: number; readonly facts: FileFacts; readonly asked: KeptFacts["asked"] }[] = [];
  const skipped: { readonly order: number; readonly source: SkippedSource }[] = [];
  const localisation: LoadedFile[] = [];
  let size = EMPTY_SIZE;

  function take(loaded: LoadedFile, helpers: HelperNames): void {
    const { displayPath, role, order } = loaded.file;
    const read = readKept(pass, loaded, helpers);
    const withFile = addSizes(size, read.size);
    if (!isWithin(withFile, graphLimit)) {
      skipped.push({ order, source: { path: displayPath, reasonCodes: ["GRAPH_LIMIT"], possibleSymbolKinds: definableKinds(role) } });
      return;
    }
    size = withFile;
    found.push({ order, facts: { ...read.facts, diagnostics: budget.spend(displayPath, read.facts.diagnostics) }, asked: read.asked });
    if (!read.isWhole) skipped.push({ order, source: partlyRead(loaded.file) });
  }

  const definers: LoadedFile[] = [];
  for await (const loaded of reader.read(listing.files.filter(definesHelpers))) definers.push(loaded);
  const helpers = await namesOf(definers, { pass, pace });
  for (const loaded of modFirst(definers, ({ file }) => file)) {
    take(loaded, helpers);
    await pace();
  }
  const others = listing.files.filter((file) => !definesHelpers(file));
  for await (const loaded of reader.read(modFirst(others, (file) => file))) {
    if (loaded.file.role.kind === "localisation") localisation.push(loaded);
    else take(loaded, helpers);
  }
  const overridden: OverriddenFile[] = [];
  const hidden = new Map(overriddenByMod(listing).map(({ file, by }) => [file.order, by]));
  for await (const loaded of reader.read(overriddenByMod(listing).map(({ file }) => file))) {
    const { events, helpers: defined } = readKept(pass, loaded, helpers).facts;
    const lost = defined.map(({ name }) => name).filter((name) => helpers.get(name.toLowerCase()) === undefined);
    overridden.push({
      path: loaded.file.displayPath,
      by: hidden.get(loaded.file.order) ?? "",
      events: events.map(({ id }) => id),
      lostHelpers: lost.filter((name) => found.some(({ asked }) => asked.has(name.toLowerCase()))),
    });
  }
  return {
    overridden,
    facts: inOrder(found).map(({ facts }) => facts),
    skipped: inOrder(skipped).map(({ source }) => source),
    localisation: localisation.toSorted((a, b) => a.file.order - b.file.order),
  };
}

function definesHelpers({ role }: ModFile): boolean {
  return role.kind === "scripted_effects";
}

/** Lower case to the spelling of the definition that the game uses, which is the last one. */
async function namesOf(definers: readonly LoadedFile[], { pass, pace }: { pass: FactsPass; pace: Pace }): Promise<HelperNames> {
  const names = new Map<string, string>();
  for (const loaded of definers) {
    for (const name of keptHelperNames(pass, loaded)) names.set(name.toLowerCase(), name);
    await pace();
  }
  return names;
}

function modFirst<Item>(items: readonly Item[], fileOf: (item: Item) => ModFile): Item[] {
  return [...items.filter((item) => isOfMod(fileOf(item))), ...items.filter((item) => !isOfMod(fileOf(item)))];
}

function inOrder<Item extends { readonly order: number }>(items: readonly Item[]): Item[] {
  return items.toSorted((a, b) => a.order - b.order);
}
