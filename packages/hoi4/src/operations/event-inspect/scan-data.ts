import { replacesFolder, type Descriptor } from "../../mod/descriptor.ts";
import { LAYOUT_FILE } from "../../mod/layout.ts";
import type { ModListing } from "../../mod/list-mod-files.ts";
import { INLINE_LIMITS } from "../contract.ts";
import { cutList, inlineOrNull, inlineText } from "../inline-lists.ts";
import type { ScanData } from "./contract.ts";
import { eventRows } from "./event-rows.ts";
import type { EventScan } from "./scan-events.ts";

/** What a scan answers as `data`. */
export function scanData(scan: EventScan): ScanData {
  const counts = countScan(scan);
  const rows = cutList(eventRows(scan.graph, scan.texts), {
    total: counts.events,
    count: INLINE_LIMITS.rows,
    bytes: INLINE_LIMITS.rowBytes,
  });
  const skipped = cutList(scan.skipped, {
    total: scan.skipped.length,
    count: INLINE_LIMITS.skippedSources,
    bytes: INLINE_LIMITS.skippedBytes,
  });
  return {
    mode: "scan",
    analysisMode: scan.isFocused ? "focused" : "full",
    mod: describeMod(scan.listing.descriptor),
    layers: describeLayers(scan.listing),
    precedence: PRECEDENCE,
    revision: scan.revision,
    graphHash: scan.graphHash,
    counts,
    complete: scan.isComplete,
    skippedSources: skipped.shown.map(({ path, reasonCodes, possibleSymbolKinds }) => ({
      path,
      reasonCodes: [...reasonCodes],
      possibleSymbolKinds: [...possibleSymbolKinds],
    })),
    events: rows.shown,
    eventsOmitted: rows.omitted,
    hint: hintFor(scan),
  };
}

/** By which rule a later layer unloads files of earlier ones: the game leaves the folders inside a replaced folder alone. */
export const PRECEDENCE = { sameRelativePath: "whole_file", replacePath: "one_folder", pathsCompared: "case_insensitive" } as const;

export function describeLayers({ layers }: ModListing): ScanData["layers"] {
  return layers.map(({ label, kind, folder, name, active, shadowed, replaced }) => ({
    label,
    kind,
    folder: inlineText(folder),
    name: inlineOrNull(name),
    files: active,
    shadowedFiles: shadowed,
    replacedFiles: replaced,
  }));
}

export function describeMod(descriptor: Descriptor): ScanData["mod"] {
  return {
    name: inlineOrNull(descriptor.name),
    version: inlineOrNull(descriptor.version),
    supportedVersion: inlineOrNull(descriptor.supportedVersion),
    replacesEvents: replacesFolder(descriptor, "events"),
  };
}

export function countScan({ graph, diagnostics, diagnosticsElsewhere, skipped }: EventScan): ScanData["counts"] {
  const ofKind = Map.groupBy(graph.nodes, ({ kind }) => kind);
  const count = (kind: (typeof graph.nodes)[number]["kind"]) => ofKind.get(kind)?.length ?? 0;
  return {
    events: count("event"),
    options: count("option"),
    entries: count("entry"),
    helpers: count("helper"),
    unresolvedNodes: count("unresolved"),
    terminals: count("terminal"),
    edges: graph.edges.length,
    derivedEdges: 0,
    diagnostics: diagnostics.length,
    diagnosticsElsewhere,
    blockingDiagnostics: diagnostics.filter(({ severity }) => severity === "error" || severity === "blocker").length,
    skippedSources: skipped.length,
    artifacts: 1,
  };
}

/** What a caller who sees no events may have meant. */
function hintFor({ graph, listing }: EventScan): string | null {
  if (graph.nodes.some(({ kind }) => kind === "event")) return null;
  const [first, ...others] = listing.modFoldersBelow;
  if (first === undefined) return `A mod keeps them in "events/*.txt"; nothing like that is here.`;
  const names = [first, ...others].slice(0, 5).map((name) => `"${name}"`);
  const found = `${names.join(", ")} below it ${others.length === 0 ? "looks like one" : "look like some"}`;
  return `A workspace is the folder of one mod; ${found}. Say which one in ${LAYOUT_FILE}: { "hoi4": { "mod": "…" } }.`;
}
