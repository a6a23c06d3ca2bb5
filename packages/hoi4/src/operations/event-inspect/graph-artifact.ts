import { canonicalJson, type ArtifactFile } from "@holdfast/core";
import type { Pace } from "../../pace.ts";
import { toJson } from "../../to-json.ts";
import { countScan, describeMod } from "./scan-data.ts";
import type { EventScan } from "./scan-events.ts";

/**
 * Everything a scan knows, in one canonical JSON document: the same files give the same bytes, whoever scans them and when.
 * Lists are written item by item, so that a large graph is never held as one string.
 */
export async function graphArtifact(scan: EventScan, pace: Pace): Promise<ArtifactFile> {
  const members: Record<string, unknown> = {
    schema: "holdfast.hoi4.event-graph/1",
    mod: describeMod(scan.descriptor),
    revision: scan.revision,
    graphHash: scan.graphHash,
    counts: countScan(scan),
    complete: scan.isComplete,
    skippedSources: scan.skipped,
    files: scan.filesScanned,
    nodes: scan.graph.nodes,
    edges: scan.graph.edges,
    diagnostics: scan.diagnostics,
  };
  const chunks: Buffer[] = [];
  for (const [index, name] of Object.keys(members).toSorted().entries()) {
    chunks.push(Buffer.from(`${index === 0 ? "{" : ","}${JSON.stringify(name)}:`));
    await writeMember(chunks, members[name], pace);
  }
  chunks.push(Buffer.from("}"));
  return {
    name: "event-graph.json",
    mimeType: "application/json",
    title: "Event graph",
    bytes: Buffer.concat(chunks),
  };
}

const ITEMS_PER_CHUNK = 500;

async function writeMember(chunks: Buffer[], value: unknown, pace: Pace): Promise<void> {
  if (!Array.isArray(value)) {
    chunks.push(Buffer.from(canonicalJson(toJson(value))));
    return;
  }
  const items: readonly unknown[] = value;
  chunks.push(Buffer.from("["));
  for (let from = 0; from < items.length; from += ITEMS_PER_CHUNK) {
    await pace();
    const texts = items.slice(from, from + ITEMS_PER_CHUNK).map((item): string => canonicalJson(toJson(item)));
    chunks.push(Buffer.from(`${from === 0 ? "" : ","}${texts.join(",")}`));
  }
  chunks.push(Buffer.from("]"));
}
