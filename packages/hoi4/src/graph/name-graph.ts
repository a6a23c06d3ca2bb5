import { createHash, hash as hashOnce } from "node:crypto";
import { compareText } from "../compare-text.ts";
import { comparePoints } from "../mod/source-location.ts";
import type { Pace } from "../pace.ts";
import type { Timing, Weight } from "./event-facts.ts";
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
  for (let from = 0; from < sortedNodes.length; from += PARTS_PER_PACE) {
    hash.update(
      sortedNodes
        .slice(from, from + PARTS_PER_PACE)
        .map(nodeText)
        .join("\n"),
    );
    await pace();
  }
  // An edge's id stands for everything that it says but its locations.
  hash.update(namedEdges.map(({ id }) => id).join("\n"));
  return { graph: { nodes: sortedNodes, edges: namedEdges }, hash: hash.digest("hex") };
}

const PARTS_PER_PACE = 500;

async function nameEdges(edges: readonly UnnamedEdge[], pace: Pace): Promise<GraphEdge[]> {
  const byName = new Map<string, UnnamedEdge[]>();
  for (const [index, edge] of edges.entries()) {
    const name = hashOnce("sha256", edgeText(edge)).slice(0, 16);
    const alike = byName.get(name);
    if (alike === undefined) byName.set(name, [edge]);
    else alike.push(edge);
    if (index % PARTS_PER_PACE === 0) await pace();
  }
  const named: GraphEdge[] = [];
  const taken = new Map<string, number>();
  for (const [name, alike] of byName) {
    // Equal edges differ by location only, which decides who is counted first and nothing else.
    const [only, ...others] = alike;
    if (only !== undefined && others.length === 0) named.push({ id: name, ...only });
    else
      for (const edge of alike.toSorted((a, b) => comparePoints(a.location, b.location))) named.push({ id: counted(taken, name), ...edge });
  }
  return named.toSorted((a, b) => compareText(a.from, b.from) || compareText(a.to, b.to) || compareText(a.id, b.id));
}

/** What an edge says, but for where: lists in a fixed order, because a graph of a large mod has no time for sorting the names of members. */
function edgeText(edge: UnnamedEdge): string {
  const { from, to, reason, form, traits, conditions, conditionsOmitted = 0, timing, weight, outerWeights = [], scope, helperStack } = edge;
  return JSON.stringify([
    from,
    to,
    reason,
    form,
    traits,
    conditions.map(({ kind, expression }) => [kind, expression]),
    conditionsOmitted,
    timingParts(timing),
    weight === null ? null : weightParts(weight),
    outerWeights.map(weightParts),
    scope,
    helperStack,
    edge.confidence,
  ]);
}

function timingParts({ mode, hours, days, months, years, randomHours, randomDays, date, unknown, modifiers }: Timing): unknown[] {
  return [mode, hours, days, months, years, randomHours, randomDays, date, unknown, modifiers];
}

function weightParts({ value, expression, total, modifiers, validity }: Weight): unknown[] {
  return [value, expression, total, modifiers, validity];
}

function nodeText(node: GraphNode): string {
  return JSON.stringify([node.kind, node.id, ...nodeParts(node)]);
}

function nodeParts(node: GraphNode): unknown[] {
  switch (node.kind) {
    case "event": {
      const { type, titleKeys, descriptionKeys, isHidden, isTriggeredOnly, firesOnlyOnce, isMajor, isActive, eventId } = node;
      return [eventId, type, titleKeys, descriptionKeys, isHidden, isTriggeredOnly, firesOnlyOnce, isMajor, isActive];
    }
    case "option":
      return [node.event, node.eventId, node.index, node.nameKeys, node.isConditional, node.aiChance];
    case "entry":
      return [node.entryKind, node.noun, node.name, node.phase];
    case "helper":
      return [node.name, node.isActive];
    case "unresolved":
      return [node.reference, node.reason];
    case "terminal":
      return [];
  }
}
