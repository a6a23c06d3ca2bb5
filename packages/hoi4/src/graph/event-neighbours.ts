import type { EventGraph, GraphEdge, GraphNode } from "./event-graph.ts";

/** One way from a place that runs effects to an event, seen through the scripted effects between them. */
export interface Passage {
  /** The event, option or entry that starts it. */
  readonly from: GraphNode;
  /** The event or unresolved reference that it reaches. */
  readonly to: GraphNode;
  /** The scripted effects in between, first called first. */
  readonly via: readonly string[];
  /** The edge that fires the event: it knows the delay. */
  readonly edge: GraphEdge;
  /** The edge that leaves `from`: it knows where the caller stands. */
  readonly firstEdge: GraphEdge;
  /** How many conditions hold on the whole way. */
  readonly conditions: number;
}

/** Callers and callees of nodes. Each scripted effect is passed once on the way from or to one edge, so cycles of them end. */
export interface Neighbours {
  callersOf(nodeId: string): Passage[];
  callsFrom(nodeId: string): Passage[];
}

export function indexNeighbours({ nodes, edges }: EventGraph): Neighbours {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const outgoing = Map.groupBy(edges, ({ from }) => from);
  const incoming = Map.groupBy(edges, ({ to }) => to);
  const nodeOf = (id: string) => byId.get(id) ?? null;
  return {
    callersOf: (nodeId) => walkBack({ nodeId, incoming, nodeOf }),
    callsFrom: (nodeId) => walkOn({ nodeId, outgoing, nodeOf }),
  };
}

interface Lookup {
  readonly nodeId: string;
  readonly nodeOf: (id: string) => GraphNode | null;
}

/** A popular scripted effect has thousands of callers; nobody reads more of them in a list. */
const PASSAGES_PER_EDGE = 1_000;

/** A scripted effect on the way, with what is known of the way to it. */
interface Stop {
  readonly helperId: string;
  readonly via: readonly string[];
  readonly conditions: number;
}

function walkBack({ nodeId, incoming, nodeOf }: Lookup & { incoming: ReadonlyMap<string, readonly GraphEdge[]> }): Passage[] {
  const to = nodeOf(nodeId);
  if (to === null) return [];
  return (incoming.get(nodeId) ?? []).flatMap((edge) => {
    const found: Passage[] = [];
    const seen = new Set<string>();
    const queue: Stop[] = [];
    const arrive = (firstEdge: GraphEdge, rest: Pick<Stop, "via" | "conditions">) => {
      const from = nodeOf(firstEdge.from);
      if (from === null || seen.has(from.id)) return;
      seen.add(from.id);
      const conditions = rest.conditions + conditionsOf(firstEdge);
      if (from.kind === "helper") queue.push({ helperId: from.id, via: [from.name, ...rest.via], conditions });
      else found.push({ from, to, via: rest.via, edge, firstEdge, conditions });
    };
    arrive(edge, { via: [], conditions: 0 });
    for (const stop of queue) {
      for (const call of incoming.get(stop.helperId) ?? []) arrive(call, stop);
      if (found.length >= PASSAGES_PER_EDGE) break;
    }
    return found;
  });
}

function walkOn({ nodeId, outgoing, nodeOf }: Lookup & { outgoing: ReadonlyMap<string, readonly GraphEdge[]> }): Passage[] {
  const from = nodeOf(nodeId);
  if (from === null) return [];
  return (outgoing.get(nodeId) ?? []).flatMap((firstEdge) => {
    const found: Passage[] = [];
    const seen = new Set<string>();
    const queue: Stop[] = [];
    const arrive = (edge: GraphEdge, soFar: Pick<Stop, "via" | "conditions">) => {
      const to = nodeOf(edge.to);
      const conditions = soFar.conditions + conditionsOf(edge);
      if (to?.kind === "event" || to?.kind === "unresolved") found.push({ from, to, via: soFar.via, edge, firstEdge, conditions });
      if (to?.kind !== "helper" || seen.has(to.id)) return;
      seen.add(to.id);
      queue.push({ helperId: to.id, via: [...soFar.via, to.name], conditions });
    };
    arrive(firstEdge, { via: [], conditions: 0 });
    for (const stop of queue) {
      for (const call of outgoing.get(stop.helperId) ?? []) arrive(call, stop);
      if (found.length >= PASSAGES_PER_EDGE) break;
    }
    return found;
  });
}

function conditionsOf({ conditions, conditionsOmitted = 0 }: GraphEdge): number {
  return conditions.length + conditionsOmitted;
}
