import { canonicalJson, type ArtifactFile } from "@holdfast/core";
import { inKeyOrder } from "../../in-key-order.ts";
import type { Pace } from "../../pace.ts";
import { toJson } from "../../to-json.ts";
import { countScan, describeLayers, describeMod, PRECEDENCE } from "./scan-data.ts";
import type { EventScan } from "./scan-events.ts";

/** Bytes. Twice as much for a moment, when the parts are put together, still fits beside a heap that is full. */
export const ARTIFACT_LIMIT = 192 * 1024 * 1024;

/**
 * Everything a scan knows, in one canonical JSON document: the same files give the same bytes, whoever scans them and when.
 * Lists are written item by item, so that a large graph is never held as one string. Null when the document would be larger than the limit.
 */
export async function graphArtifact(scan: EventScan, pace: Pace, maxBytes: number): Promise<ArtifactFile | null> {
  const members: Record<string, unknown> = {
    schema: "holdfast.hoi4.event-graph/1",
    mod: describeMod(scan.listing.descriptor),
    revision: scan.revision,
    graphHash: scan.graphHash,
    counts: countScan(scan),
    complete: scan.isComplete,
    layers: describeLayers(scan.listing),
    shadowedFiles: scan.listing.shadowed.map(({ file, by }) => ({ path: file.displayPath, shadowedBy: by })),
    precedence: PRECEDENCE,
    skippedSources: scan.skipped,
    files: scan.filesScanned,
    nodes: scan.graph.nodes,
    edges: scan.graph.edges,
    diagnostics: scan.diagnostics,
  };
  const chunks: Buffer[] = [];
  let left = maxBytes;
  for await (const text of documentTexts(members, pace)) {
    const chunk = Buffer.from(text);
    left -= chunk.length;
    if (left < 0) return null;
    chunks.push(chunk);
  }
  return {
    name: "event-graph.json",
    mimeType: "application/json",
    title: "Event graph",
    bytes: Buffer.concat(chunks),
  };
}

async function* documentTexts(members: Readonly<Record<string, unknown>>, pace: Pace): AsyncGenerator<string> {
  for (const [index, name] of Object.keys(members).toSorted().entries()) {
    yield `${index === 0 ? "{" : ","}${JSON.stringify(name)}:`;
    const value = members[name];
    if (Array.isArray(value)) yield* listTexts(value, pace);
    else yield canonicalJson(toJson(value));
  }
  yield "}";
}

const ITEMS_PER_CHUNK = 500;

async function* listTexts(items: readonly unknown[], pace: Pace): AsyncGenerator<string> {
  yield "[";
  for (let from = 0; from < items.length; from += ITEMS_PER_CHUNK) {
    await pace();
    const texts = items.slice(from, from + ITEMS_PER_CHUNK).map((item) => JSON.stringify(inKeyOrder(item)));
    yield `${from === 0 ? "" : ","}${texts.join(",")}`;
  }
  yield "]";
}
