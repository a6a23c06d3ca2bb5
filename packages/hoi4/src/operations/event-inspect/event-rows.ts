import { describeTiming, joinChances } from "../../graph/describe-call.ts";
import type { EventGraph, EventNode, GraphNode, OptionNode } from "../../graph/event-graph.ts";
import { indexNeighbours, type Neighbours, type Passage } from "../../graph/event-neighbours.ts";
import { isDisplayedAsMod } from "../../mod/list-mod-files.ts";
import { comparePoints } from "../../mod/source-location.ts";
import { inlineOrNull, inlineText } from "../inline-lists.ts";
import type { EventRow, EventRowCall, EventRowCaller } from "./contract.ts";

/** Longer lists of one row are cut; the row counts what it leaves out. */
const ROW_LIMITS = { options: 12, callers: 12, calls: 16 } as const;

/** One row for each definition, those of the mod first, made while they are asked for. */
export function* eventRows(graph: EventGraph, texts: ReadonlyMap<string, string>): Generator<EventRow> {
  const neighbours = indexNeighbours(graph);
  const options = Map.groupBy(
    graph.nodes.filter((node) => node.kind === "option"),
    ({ event }) => event,
  );
  const events = graph.nodes.filter((node) => node.kind === "event").toSorted((a, b) => comparePoints(a.location, b.location));
  const isOwn = ({ location }: EventNode) => isDisplayedAsMod(location.path);
  for (const event of [...events.filter(isOwn), ...events.filter((node) => !isOwn(node))]) {
    const own = (options.get(event.id) ?? []).toSorted((a, b) => a.index - b.index);
    yield rowOf({ event, options: own, neighbours, texts });
  }
}

interface RowParts {
  readonly event: EventNode;
  readonly options: readonly OptionNode[];
  readonly neighbours: Neighbours;
  readonly texts: ReadonlyMap<string, string>;
}

function rowOf({ event, options, neighbours, texts }: RowParts): EventRow {
  const textOf = (key: string | undefined) => (key === undefined ? null : inlineOrNull(texts.get(key)));
  const callers = neighbours
    .callersOf(event.id)
    .toSorted((a, b) => comparePoints(a.firstEdge.location, b.firstEdge.location))
    .map(callerOf);
  const calls = neighbours.callsFrom([event, ...options].map(({ id }) => id)).map(callOf);
  const omitted = {
    options: Math.max(0, options.length - ROW_LIMITS.options),
    callers: Math.max(0, callers.length - ROW_LIMITS.callers),
    calls: Math.max(0, calls.length - ROW_LIMITS.calls),
  };
  const unresolved = new Set(calls.filter(({ resolution }) => resolution !== "resolved").map((call) => call.event));
  return {
    id: inlineText(event.eventId),
    type: event.type,
    titleKey: inlineOrNull(event.titleKeys[0]),
    title: textOf(event.titleKeys[0]),
    file: event.location.path,
    line: event.location.line,
    flags: flagsOf(event),
    options: options
      .slice(0, ROW_LIMITS.options)
      .map(({ nameKeys: [name], isConditional }) => ({ name: inlineOrNull(name), text: textOf(name), isConditional })),
    callers: callers.slice(0, ROW_LIMITS.callers),
    calls: calls.slice(0, ROW_LIMITS.calls),
    unresolvedTargets: [...unresolved].slice(0, ROW_LIMITS.calls),
    ...(omitted.options + omitted.callers + omitted.calls === 0 ? {} : { omitted }),
  };
}

function flagsOf(event: EventNode): EventRow["flags"] {
  const flags: EventRow["flags"] = [];
  if (event.isHidden) flags.push("hidden");
  if (event.isTriggeredOnly) flags.push("triggered_only");
  if (event.firesOnlyOnce) flags.push("fire_only_once");
  if (event.isMajor) flags.push("major");
  if (!event.isActive) flags.push("duplicate");
  return flags;
}

function callerOf(passage: Passage): EventRowCaller {
  const { path: file, line } = passage.firstEdge.location;
  return { ...callerName(passage.from), ...howOf(passage), file, line };
}

function callerName(node: GraphNode): Pick<EventRowCaller, "kind" | "id" | "event" | "phase"> {
  switch (node.kind) {
    case "event":
      return { kind: "event", id: inlineText(node.eventId), event: inlineText(node.eventId), phase: null };
    case "option":
      return { kind: "option", id: optionName(node), event: inlineText(node.eventId), phase: null };
    case "entry":
      return { kind: node.noun, id: inlineText(node.name), event: null, phase: inlineOrNull(node.phase) };
    case "helper":
    case "unresolved":
    case "terminal":
      return { kind: node.kind, id: inlineText(node.id), event: null, phase: null };
  }
}

function optionName({ nameKeys, index }: OptionNode): string {
  return inlineOrNull(nameKeys[0]) ?? `option ${index + 1}`;
}

function callOf(passage: Passage): EventRowCall {
  const { from, to, edge, firstEdge } = passage;
  const { path: file, line } = edge.location;
  const section = firstEdge.reason === "after_call" ? "after" : "immediate";
  return {
    event: inlineText(targetName(to)),
    from: from.kind === "option" ? optionName(from) : section,
    resolution: to.kind === "unresolved" ? to.reason : "resolved",
    ...howOf(passage),
    file,
    line,
  };
}

function targetName(node: GraphNode): string {
  if (node.kind === "event") return node.eventId;
  return node.kind === "unresolved" ? node.reference : node.id;
}

/** The delay is that of the edge that fires the event: running a scripted effect takes no time. */
function howOf({ via, edge, conditions, chances }: Passage): Pick<EventRowCall, "via" | "when" | "chance" | "conditions"> {
  return {
    via: via.map(inlineText),
    when: inlineText(describeTiming(edge.timing)),
    chance: chances.length === 0 ? null : inlineText(joinChances(chances)),
    conditions,
  };
}
