import type { OperationContext } from "@holdfast/core";
import { checkDefinitions } from "../../graph/check-definitions.ts";
import { checkOverrides } from "../../graph/check-overrides.ts";
import { checkReferences } from "../../graph/check-references.ts";
import type { EventGraph } from "../../graph/event-graph.ts";
import { GRAPH_LIMIT, type GraphSize } from "../../graph/graph-size.ts";
import { missingJudge } from "../../graph/judge-missing.ts";
import { sharedFacts, type FactsCache } from "../../graph/kept-facts.ts";
import { linkEventGraph } from "../../graph/link-event-graph.ts";
import { nameGraph } from "../../graph/name-graph.ts";
import { compareDiagnostics, type Diagnostic } from "../../mod/diagnostic.ts";
import { openBudget } from "../../mod/diagnostic-budget.ts";
import type { LayoutRefusal } from "../../mod/layout.ts";
import { isDisplayedAsMod, listModFiles, openFor, type ModListing } from "../../mod/list-mod-files.ts";
import { readLocalisedTexts, sharedTexts, type TextsCache } from "../../mod/localised-texts.ts";
import { checkProposal, type ProposalRefusal, type ProposedSource } from "../../mod/proposed-sources.ts";
import { openModFiles, type ScanLimits, type ScanRefusal } from "../../mod/read-mod-files.ts";
import type { SkippedSource } from "../../mod/skipped-source.ts";
import { keepPace } from "../../pace.ts";
import { readSources } from "./read-sources.ts";
import { settingDiagnostics, skippedDiagnostics } from "./scan-diagnostics.ts";

/** What a scan found out about a mod. */
export interface EventScan {
  readonly listing: ModListing;
  readonly revision: string;
  readonly graph: EventGraph;
  readonly graphHash: string;
  /** Localised texts of titles and options. */
  readonly texts: ReadonlyMap<string, string>;
  /** Display paths in load order. */
  readonly filesScanned: readonly string[];
  readonly skipped: readonly SkippedSource[];
  /** Sorted. What concerns files of the game or of other mods is left out. */
  readonly diagnostics: readonly Diagnostic[];
  /** How many were left out. */
  readonly diagnosticsElsewhere: number;
  /** False when something that was there is not in the graph. */
  readonly isComplete: boolean;
  /** True when files were left out because the graph had reached its limit. */
  readonly isFocused: boolean;
}

export interface ScanOptions {
  /** Files to read in the place of those of the mod. */
  readonly proposedSources?: readonly ProposedSource[];
  /** Whether to read anew what an earlier call has left in memory. */
  readonly refresh?: boolean;
  readonly limits?: ScanLimits;
  readonly graphLimit?: GraphSize;
  readonly caches?: { readonly facts: FactsCache; readonly texts: TextsCache };
}

/**
 * Reads a whole mod, with what its workspace has of the game and of other mods; limits and caches are arguments for tests. A file that
 * would take the graph beyond its limit is left out as a whole. Throws `WorkspaceError` when the folder cannot be listed, and the abort
 * reason of the context.
 */
export async function scanEvents(
  context: OperationContext,
  {
    proposedSources = [],
    refresh = false,
    limits,
    graphLimit = GRAPH_LIMIT,
    caches = { facts: sharedFacts, texts: sharedTexts },
  }: ScanOptions = {},
): Promise<EventScan | ScanRefusal | LayoutRefusal | ProposalRefusal> {
  const pace = keepPace(context.signal);
  const proposed = checkProposal(proposedSources);
  if ("code" in proposed) return proposed;
  const listing = await listModFiles(context.workspace, { proposed });
  if ("code" in listing) return listing;
  const progress = reportProgress(context, listing);
  const reader = openModFiles({ context, listing, pace, ...(limits === undefined ? {} : { limits }), onRead: progress.read });
  if ("code" in reader) return reader;
  const budget = openBudget();
  const read = await readSources({ reader, listing, pass: caches.facts.open({ refresh }), budget, graphLimit, pace });
  const record = reader.finish();
  if ("code" in record) return record;

  progress.step("Joining who fires what");
  const open = openFor(listing, "events");
  const unread = [...record.skipped, ...read.skipped];
  const linked = linkEventGraph(read.facts, { judgeMissing: missingJudge({ open, files: read.facts, skipped: unread }) });
  await pace();
  const { graph, hash } = await nameGraph(linked, pace);
  progress.step("Looking up titles");
  const pass = caches.texts.open({ refresh });
  const localised = await readLocalisedTexts(read.localisation, { wanted: textKeysOf(graph), budget, pass, pace });
  const skipped = [...unread, ...localised.skipped];
  const diagnostics = [
    ...listing.diagnostics,
    ...settingDiagnostics(listing, graph),
    ...skippedDiagnostics(skipped),
    ...read.facts.flatMap((facts) => facts.diagnostics),
    ...checkReferences(linked, { swallowed: read.facts.flatMap(({ swallowed }) => swallowed), open }),
    ...checkDefinitions(linked, read.facts, open),
    ...checkOverrides(linked, read.overridden),
    ...localised.diagnostics,
  ].toSorted(compareDiagnostics);
  const own = diagnostics.filter(concernsMod);
  const unreadPaths = new Set(skipped.map(({ path }) => path));
  return {
    listing,
    revision: record.revision,
    graph,
    graphHash: hash,
    texts: localised.texts,
    filesScanned: listing.files.map(({ displayPath }) => displayPath).filter((path) => !unreadPaths.has(path)),
    skipped,
    diagnostics: own,
    diagnosticsElsewhere: diagnostics.length - own.length,
    isComplete: skipped.length === 0 && !graph.edges.some(({ conditionsOmitted }) => conditionsOmitted !== undefined),
    isFocused: read.skipped.some(({ reasonCodes }) => reasonCodes.includes("GRAPH_LIMIT")),
  };
}

/** Nobody can repair the game; but what could not be read of it concerns whoever asks. */
function concernsMod({ code, location }: Diagnostic): boolean {
  return location === undefined || code === "SOURCE_SKIPPED" || isDisplayedAsMod(location.path);
}

function textKeysOf({ nodes }: EventGraph): Set<string> {
  return new Set(nodes.flatMap((node) => (node.kind === "event" ? node.titleKeys : node.kind === "option" ? node.nameKeys : [])));
}

interface ScanProgress {
  read(done: { readonly files: number; readonly bytes: number }): void;
  step(message: string): void;
}

/** Counts files; two steps follow. */
function reportProgress({ progress }: OperationContext, { files }: ModListing): ScanProgress {
  const total = files.length + 2;
  const totalBytes = files.reduce((sum, { size }) => sum + size, 0);
  let steps = 0;
  return {
    read: (done) =>
      progress({ value: done.files, total, message: `Read ${done.files} of ${files.length} files, ${done.bytes} of ${totalBytes} bytes` }),
    step: (message) => {
      steps += 1;
      progress({ value: files.length + steps, total, message });
    },
  };
}
