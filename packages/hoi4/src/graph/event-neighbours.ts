import { comparePoints } from "../mod/source-location.ts";
import { describeChance } from "./describe-call.ts";
import type { EventGraph, GraphEdge, GraphNode } from "./event-graph.ts";

/** One way from a place that runs effects to an event, seen through the scripted effects between them. */
export interface Passage {
  /** The event, option or entry that starts it. */
  readonly from: GraphNode;
  /** The event or unresolved reference that it reaches. */
  readonly to: GraphNode;
  /** The scripted effects in between, first called first; the first `VIA_LIMIT` of them. */
  readonly via: readonly string[];
  /** The edge that fires the event: it knows the delay. */
  readonly edge: GraphEdge;
  /** The edge that leaves `from`: it knows where the caller stands. */
  readonly firstEdge: GraphEdge;
  /** How many conditions hold on the whole way. */
  readonly conditions: number;
  /** How likely each step is that is not certain, in words and in the order of the calls; the first `VIA_LIMIT` of them. */
  readonly chances: readonly string[];
}

/**
 * Callers and callees of nodes. Each scripted effect is passed once on the way from or to one edge, so cycles of them end. An answer stops
 * at a thousand passages: nobody reads more of them in a list, and a popular scripted effect has more callers than memory has room for.
 */
export interface Neighbours {
  callersOf(nodeId: string): Passage[];
  /** The calls of all these nodes together: node by node, and of each node in the order of its script. */
  callsFrom(nodeIds: readonly string[]): Passage[];
}

export function indexNeighbours({ nodes, edges }: EventGraph): Neighbours {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const outgoing = Map.groupBy(edges, ({ from }) => from);
  const incoming = Map.groupBy(edges, ({ to }) => to);
  const nodeOf = (id: string) => byId.get(id) ?? null;
  return {
    callersOf: (nodeId) => {
      const walk = { found: [], edgesLeft: EDGES_PER_ANSWER, nodeOf };
      const to = nodeOf(nodeId);
      if (to !== null) for (const edge of incoming.get(nodeId) ?? []) walkBack(walk, { to, edge, incoming });
      return walk.found;
    },
    callsFrom: (nodeIds) => {
      const walk = { found: [], edgesLeft: EDGES_PER_ANSWER, nodeOf };
      for (const nodeId of nodeIds) {
        const from = nodeOf(nodeId);
        const edgesAway = (outgoing.get(nodeId) ?? []).toSorted((a, b) => comparePoints(a.location, b.location));
        if (from !== null) for (const firstEdge of edgesAway) walkOn(walk, { from, firstEdge, outgoing });
      }
      return walk.found;
    },
  };
}

const PASSAGES_PER_ANSWER = 1_000;

/** Scripted effects can be called in so many ways that those without a caller take longer to follow than an answer is worth. */
const EDGES_PER_ANSWER = 20_000;

const VIA_LIMIT = 8;

/** The answer to one question in the making. */
interface Walk {
  readonly found: Passage[];
  edgesLeft: number;
  readonly nodeOf: (id: string) => GraphNode | null;
}

function isOver({ found, edgesLeft }: Walk): boolean {
  return found.length >= PASSAGES_PER_ANSWER || edgesLeft <= 0;
}

type EdgesByNode = ReadonlyMap<string, readonly GraphEdge[]>;

/** A scripted effect on the way, with what is known of the way to it. */
interface Stop {
  readonly helperId: string;
  readonly soFar: Way;
}

type Way = Pick<Passage, "via" | "conditions" | "chances">;

const NO_WAY: Way = { via: [], conditions: 0, chances: [] };

function walkBack(walk: Walk, { to, edge, incoming }: { to: GraphNode; edge: GraphEdge; incoming: EdgesByNode }): void {
  const seen = new Set<string>();
  const queue: Stop[] = [];
  const arrive = (firstEdge: GraphEdge, { via, ...rest }: Way) => {
    walk.edgesLeft -= 1;
    const from = walk.nodeOf(firstEdge.from);
    if (from === null || seen.has(from.id)) return;
    seen.add(from.id);
    const conditions = rest.conditions + conditionsOf(firstEdge);
    const chances = [...chancesOf(firstEdge), ...rest.chances].slice(0, VIA_LIMIT);
    if (from.kind !== "helper") walk.found.push({ from, to, via, edge, firstEdge, conditions, chances });
    else queue.push({ helperId: from.id, soFar: { via: [from.name, ...via].slice(0, VIA_LIMIT), conditions, chances } });
  };
  if (!isOver(walk)) arrive(edge, NO_WAY);
  for (const { helperId, soFar } of queue) {
    for (const call of incoming.get(helperId) ?? []) {
      if (isOver(walk)) return;
      arrive(call, soFar);
    }
  }
}

function walkOn(walk: Walk, { from, firstEdge, outgoing }: { from: GraphNode; firstEdge: GraphEdge; outgoing: EdgesByNode }): void {
  const seen = new Set<string>();
  const queue: Stop[] = [];
  const arrive = (edge: GraphEdge, { via, ...rest }: Way) => {
    walk.edgesLeft -= 1;
    const to = walk.nodeOf(edge.to);
    const conditions = rest.conditions + conditionsOf(edge);
    const chances = [...rest.chances, ...chancesOf(edge)].slice(0, VIA_LIMIT);
    if (to?.kind === "event" || to?.kind === "unresolved") walk.found.push({ from, to, via, edge, firstEdge, conditions, chances });
    if (to?.kind !== "helper" || seen.has(to.id)) return;
    seen.add(to.id);
    queue.push({ helperId: to.id, soFar: { via: [...via, to.name].slice(0, VIA_LIMIT), conditions, chances } });
  };
  if (!isOver(walk)) arrive(firstEdge, NO_WAY);
  for (const { helperId, soFar } of queue) {
    for (const call of outgoing.get(helperId) ?? []) {
      if (isOver(walk)) return;
      arrive(call, soFar);
    }
  }
}

function chancesOf(edge: GraphEdge): string[] {
  const chance = describeChance(edge);
  return chance === null ? [] : [chance];
}

function conditionsOf({ conditions, conditionsOmitted = 0 }: GraphEdge): number {
  return conditions.length + conditionsOmitted;
}
