import type { OperationContext } from "@holdfast/core";
import { checkDefinitions } from "../../graph/check-definitions.ts";
import { checkReferences } from "../../graph/check-references.ts";
import type { FileFacts } from "../../graph/event-facts.ts";
import type { EventGraph } from "../../graph/event-graph.ts";
import { addSizes, EMPTY_SIZE, GRAPH_LIMIT, graphSizeOf, isWithin, type GraphSize } from "../../graph/graph-size.ts";
import { missingJudge } from "../../graph/judge-missing.ts";
import { linkEventGraph } from "../../graph/link-event-graph.ts";
import { nameGraph } from "../../graph/name-graph.ts";
import { readFileFacts } from "../../graph/read-file-facts.ts";
import { helperNamesIn } from "../../graph/read-helpers.ts";
import type { HelperNames } from "../../graph/script-context.ts";
import type { Descriptor } from "../../mod/descriptor.ts";
import { compareDiagnostics, type Diagnostic } from "../../mod/diagnostic.ts";
import { openBudget, type DiagnosticBudget } from "../../mod/diagnostic-budget.ts";
import { listModFiles, type ModListing } from "../../mod/list-mod-files.ts";
import { readLocalisedTexts } from "../../mod/localised-texts.ts";
import {
  partlyRead,
  readModFiles,
  type LoadedFile,
  type ScanLimits,
  type ScanRefusal,
  type SkippedSource,
} from "../../mod/read-mod-files.ts";
import { definableKinds } from "../../mod/scan-folders.ts";
import { keepPace, type Pace } from "../../pace.ts";
import { skippedDiagnostics, settingDiagnostics } from "./scan-diagnostics.ts";

/** What a scan found out about a mod. */
export interface EventScan {
  readonly listing: ModListing;
  readonly descriptor: Descriptor;
  readonly revision: string;
  readonly graph: EventGraph;
  readonly graphHash: string;
  /** Localised texts of titles and options. */
  readonly texts: ReadonlyMap<string, string>;
  /** Display paths in load order. */
  readonly filesScanned: readonly string[];
  readonly skipped: readonly SkippedSource[];
  /** Sorted. */
  readonly diagnostics: readonly Diagnostic[];
  /** False when something that was there is not in the graph. */
  readonly isComplete: boolean;
  /** True when files were left out because the graph had reached its limit. */
  readonly isFocused: boolean;
}

/**
 * Reads a whole mod; the limits are arguments for tests. A file that would take the graph beyond its limit is left out as a whole.
 * Throws `WorkspaceError` when the folder cannot be listed, and the abort reason of the context.
 */
export async function scanEvents(
  context: OperationContext,
  { limits, graphLimit = GRAPH_LIMIT }: { limits?: ScanLimits; graphLimit?: GraphSize } = {},
): Promise<EventScan | ScanRefusal> {
  const pace = keepPace(context.signal);
  const listing = await listModFiles(context.workspace);
  const progress = reportProgress(context, listing.files.length);
  const snapshot = await readModFiles({ context, listing, pace, ...(limits === undefined ? {} : { limits }), onRead: progress.read });
  if ("code" in snapshot) return snapshot;

  const budget = openBudget();
  const read = await readScripts(snapshot.files, { pace, graphLimit, budget, onScript: progress.script });
  progress.step("Joining who fires what");
  const unreadScripts = [...snapshot.skipped, ...read.skipped];
  const judgeMissing = missingJudge({ descriptor: snapshot.descriptor, files: read.facts, skipped: unreadScripts });
  const linked = linkEventGraph(read.facts, { judgeMissing });
  await pace();
  const { graph, hash } = await nameGraph(linked, pace);
  progress.step("Looking up titles");
  const localisation = snapshot.files.filter(({ file }) => file.role.kind === "localisation");
  const localised = await readLocalisedTexts(localisation, { wanted: textKeysOf(graph), budget, pace });
  const skipped = [...unreadScripts, ...localised.skipped];
  const diagnostics = [
    ...listing.diagnostics,
    ...snapshot.descriptor.diagnostics,
    ...settingDiagnostics(listing, graph),
    ...skippedDiagnostics(skipped),
    ...read.facts.flatMap((facts) => facts.diagnostics),
    ...checkReferences(linked, { swallowed: read.facts.flatMap(({ swallowed }) => swallowed), descriptor: snapshot.descriptor }),
    ...checkDefinitions(linked, read.facts, snapshot.descriptor),
    ...localised.diagnostics,
  ].toSorted(compareDiagnostics);
  const unread = new Set(skipped.map(({ path }) => path));
  return {
    listing,
    descriptor: snapshot.descriptor,
    revision: snapshot.revision,
    graph,
    graphHash: hash,
    texts: localised.texts,
    filesScanned: listing.files.map(({ displayPath }) => displayPath).filter((path) => !unread.has(path)),
    skipped,
    diagnostics,
    isComplete: skipped.length === 0 && !graph.edges.some(({ conditionsOmitted }) => conditionsOmitted !== undefined),
    isFocused: read.skipped.some(({ reasonCodes }) => reasonCodes.includes("GRAPH_LIMIT")),
  };
}

interface ReadScripts {
  readonly facts: readonly FileFacts[];
  readonly skipped: readonly SkippedSource[];
}

async function readScripts(
  files: readonly LoadedFile[],
  { pace, graphLimit, budget, onScript }: { pace: Pace; graphLimit: GraphSize; budget: DiagnosticBudget; onScript: (path: string) => void },
): Promise<ReadScripts> {
  const helpers = await collectHelperNames(files, pace);
  const facts: FileFacts[] = [];
  const skipped: SkippedSource[] = [];
  let size = EMPTY_SIZE;
  for (const loaded of files) {
    const { role, displayPath } = loaded.file;
    if (role.kind === "localisation") continue;
    onScript(displayPath);
    await pace();
    const read = readFileFacts(loaded, helpers);
    const withFile = addSizes(size, graphSizeOf(read.facts));
    if (!isWithin(withFile, graphLimit)) {
      skipped.push({ path: displayPath, reasonCodes: ["GRAPH_LIMIT"], possibleSymbolKinds: definableKinds(role) });
      continue;
    }
    facts.push({ ...read.facts, diagnostics: budget.spend(displayPath, read.facts.diagnostics) });
    size = withFile;
    if (!read.isWhole) skipped.push(partlyRead(loaded.file));
  }
  return { facts, skipped };
}

/** Every file is read with these names, so they come first, at the price of parsing the scripted effects twice. */
async function collectHelperNames(files: readonly LoadedFile[], pace: Pace): Promise<HelperNames> {
  const names = new Map<string, string>();
  for (const { file, bytes } of files) {
    if (file.role.kind !== "scripted_effects") continue;
    await pace();
    for (const name of helperNamesIn(bytes)) names.set(name.toLowerCase(), name);
  }
  return names;
}

function textKeysOf({ nodes }: EventGraph): Set<string> {
  return new Set(nodes.flatMap((node) => (node.kind === "event" ? node.titleKeys : node.kind === "option" ? node.nameKeys : [])));
}

interface ScanProgress {
  read(files: number): void;
  script(path: string): void;
  step(message: string): void;
}

/** Each file counts twice, for reading and for analysing; two steps follow. */
function reportProgress({ progress }: OperationContext, files: number): ScanProgress {
  const total = files * 2 + 2;
  let scripts = 0;
  let steps = 0;
  return {
    read: (done) => progress({ value: done, total, message: `Reading files: ${done} of ${files}` }),
    script: (path) => {
      scripts += 1;
      progress({ value: files + scripts, total, message: `Analysing ${path}` });
    },
    step: (message) => {
      steps += 1;
      progress({ value: files * 2 + steps, total, message });
    },
  };
}
