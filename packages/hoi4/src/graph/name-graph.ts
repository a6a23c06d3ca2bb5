import { createHash } from "node:crypto";
import { canonicalJson, type JsonValue } from "@holdfast/core";
import { compareText } from "../compare-text.ts";
import { comparePoints } from "../mod/source-location.ts";
import type { Pace } from "../pace.ts";
import { toJson } from "../to-json.ts";
import type { EventGraph, GraphEdge, GraphNode } from "./event-graph.ts";
import type { LinkedGraph, UnnamedEdge } from "./link-event-graph.ts";
import { counted } from "./node-names.ts";

/** Puts a graph into the one order that its content has, whatever order its parts were found in. */
export async function nameGraph(
  { nodes, edges }: Pick<LinkedGraph, "nodes" | "edges">,
  pace: Pace,
): Promise<{ graph: EventGraph; hash: string }> {
  const sortedNodes = nodes.toSorted((a, b) => compareText(a.id, b.id));
  const namedEdges = await nameEdges(edges, pace);
  const hash = createHash("sha256");
  for (const node of sortedNodes) hash.update(`${canonicalJson(withoutLocations(node))}\n`);
  // An edge's id stands for everything that it says but its locations.
  for (const { id } of namedEdges) hash.update(`${id}\n`);
  return { graph: { nodes: sortedNodes, edges: namedEdges }, hash: hash.digest("hex") };
}

async function nameEdges(edges: readonly UnnamedEdge[], pace: Pace): Promise<GraphEdge[]> {
  const hashed: { edge: UnnamedEdge; name: string }[] = [];
  for (const [index, edge] of edges.entries()) {
    hashed.push({
      edge,
      name: createHash("sha256")
        .update(canonicalJson(withoutLocations(edge)))
        .digest("hex")
        .slice(0, 16),
    });
    if (index % EDGES_PER_PACE === 0) await pace();
  }
  // Equal edges differ by location only, which decides who is counted first and nothing else.
  const ordered = hashed.toSorted((a, b) => compareText(a.name, b.name) || comparePoints(a.edge.location, b.edge.location));
  const taken = new Map<string, number>();
  const named = ordered.map(({ edge, name }) => ({ id: counted(taken, name), ...edge }));
  return named.toSorted((a, b) => compareText(a.from, b.from) || compareText(a.to, b.to) || compareText(a.id, b.id));
}

const EDGES_PER_PACE = 500;

function withoutLocations(part: GraphNode | UnnamedEdge): JsonValue {
  const copy: Record<string, unknown> = { ...part };
  delete copy["location"];
  if ("conditions" in part) copy["conditions"] = part.conditions.map(({ kind, expression }) => ({ kind, expression }));
  return toJson(copy);
}
