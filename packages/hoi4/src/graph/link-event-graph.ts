import type { Confidence } from "../mod/diagnostic.ts";
import { pointOf, type SourcePoint } from "../mod/source-location.ts";
import { addCondition, listConditions, type ConditionList } from "./condition-list.ts";
import type { CallFact, CallTarget, EntryFact, EntryKind, EventFact, FileFacts, HelperFact } from "./event-facts.ts";
import type { EdgeReason, GraphEdge, GraphNode, UnresolvedReason } from "./event-graph.ts";
import { firingHelpers, tabulate, type Defined, type DefinitionTable } from "./definition-table.ts";
import { namespaceOf, ROOT_SCOPES } from "./event-types.ts";
import { counted, namePart, nodeName } from "./node-names.ts";
import { IMMEDIATE } from "./read-timing.ts";

/** A graph before its edges are named, with the definitions behind its nodes. */
export interface LinkedGraph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly UnnamedEdge[];
  readonly events: DefinitionTable<EventFact>;
  readonly helpers: DefinitionTable<HelperFact>;
  /** Calls of what no file that was read defines. */
  readonly unresolved: readonly UnresolvedCall[];
}

export type UnnamedEdge = Omit<GraphEdge, "id">;

export interface UnresolvedCall {
  readonly call: CallFact;
  readonly reference: string;
  readonly reason: UnresolvedReason;
}

/**
 * Characters of conditions that a graph may carry, with what surrounds them. One condition around many calls is repeated
 * on each of their edges, so a small file could otherwise ask for more memory than there is.
 */
const CONDITION_BUDGET = 32 * 1024 * 1024;

/** Why an id that the mod does not define stays open. */
export type JudgeMissing = (eventId: string) => Exclude<UnresolvedReason, "dynamic">;

/** Joins the facts of all files, which are in load order, into one graph. Scripted effects keep nodes of their own: the structural view. */
export function linkEventGraph(
  files: readonly FileFacts[],
  { judgeMissing, conditionBudget = CONDITION_BUDGET }: { judgeMissing: JudgeMissing; conditionBudget?: number },
): LinkedGraph {
  const facts = { events: files.flatMap(({ events }) => events), helpers: files.flatMap(({ helpers }) => helpers) };
  // Of events the game keeps the first definition it reads, of scripted effects the last one.
  const events = tabulate({ facts: facts.events, kind: "event", idOf: ({ id }) => id, winner: (definitions) => definitions[0] });
  const helpers = tabulate({
    facts: facts.helpers,
    kind: "helper",
    idOf: ({ name }) => name,
    winner: (definitions) => definitions.at(-1),
  });
  const link: Link = {
    nodes: new Map(),
    edges: [],
    events,
    helpers,
    judgeMissing,
    unresolved: [],
    firing: firingHelpers(helpers),
    budget: conditionBudget,
  };
  for (const defined of helpers.all) linkHelper(link, defined);
  for (const defined of events.all) linkEvent(link, defined);
  for (const entry of files.flatMap(({ entries }) => entries)) linkEntry(link, entry);
  return { nodes: [...link.nodes.values()], edges: link.edges, events, helpers, unresolved: link.unresolved };
}

interface Link {
  readonly nodes: Map<string, GraphNode>;
  readonly edges: UnnamedEdge[];
  readonly events: DefinitionTable<EventFact>;
  readonly helpers: DefinitionTable<HelperFact>;
  readonly judgeMissing: JudgeMissing;
  readonly unresolved: UnresolvedCall[];
  /** Helpers that can lead to an event. */
  readonly firing: ReadonlySet<string>;
  budget: number;
}

function linkHelper(link: Link, { fact, nodeId, isActive }: Defined<HelperFact>): void {
  link.nodes.set(nodeId, { kind: "helper", id: nodeId, name: fact.name, isActive, location: pointOf(fact.at) });
  for (const call of fact.calls) linkCall(link, { from: nodeId, reason: "helper_call", call, helperStack: [fact.name] });
}

function linkEvent(link: Link, { fact, nodeId, isActive }: Defined<EventFact>): void {
  const { id, type, titles, descriptions, isHidden, isTriggeredOnly, firesOnlyOnce, isMajor, at } = fact;
  link.nodes.set(nodeId, {
    kind: "event",
    id: nodeId,
    eventId: id,
    type,
    namespace: namespaceOf(id),
    titleKeys: titles,
    descriptionKeys: descriptions,
    isHidden,
    isTriggeredOnly,
    firesOnlyOnce,
    isMajor,
    rootScope: ROOT_SCOPES[type],
    isActive,
    location: pointOf(at),
  });
  if (!isTriggeredOnly) linkPolling(link, { fact, nodeId });
  for (const call of fact.calls) linkCall(link, { from: nodeId, reason: call.section === "after" ? "after_call" : "immediate_call", call });
  linkOptions(link, { fact, nodeId });
  if (fact.options.length === 0 && !fact.calls.some((call) => leadsOn(link, call))) linkTerminal(link, { from: nodeId, at: pointOf(at) });
}

/** The game itself tries an event that does not wait to be fired. */
function linkPolling(link: Link, { fact, nodeId }: { fact: EventFact; nodeId: string }): void {
  const entryId = `entry:implicit/${nodeId.slice("event:".length)}`;
  const location = pointOf(fact.at);
  link.nodes.set(entryId, { kind: "entry", id: entryId, entryKind: "implicit", noun: "game", name: fact.id, phase: null, location });
  link.edges.push({
    ...plainEdge({ from: entryId, to: nodeId, reason: "implicit_entry", location }),
    traits: ["delayed"],
    ...graphConditions(link, addCondition(null, fact.trigger)),
    timing: fact.meanTime?.timing ?? { mode: "mean_time_to_happen" },
  });
}

function linkOptions(link: Link, { fact, nodeId }: { fact: EventFact; nodeId: string }): void {
  const taken = new Map<string, number>();
  const event = nodeId.slice("event:".length);
  for (const option of fact.options) {
    const optionId = counted(taken, `option:${event}/${namePart(option.names[0] ?? "(unnamed)")}`);
    const location = pointOf(option.at);
    const { index, names, aiChance, trigger, calls } = option;
    link.nodes.set(optionId, {
      kind: "option",
      id: optionId,
      event: nodeId,
      eventId: fact.id,
      index,
      nameKeys: names,
      isConditional: trigger !== null,
      aiChance,
      location,
    });
    link.edges.push({
      ...plainEdge({ from: nodeId, to: optionId, reason: "option_branch", location }),
      ...graphConditions(link, addCondition(null, trigger)),
    });
    for (const call of calls) linkCall(link, { from: optionId, reason: "option_call", call });
    if (!calls.some((call) => leadsOn(link, call))) linkTerminal(link, { from: optionId, at: location });
  }
}

/** Whether a call can still fire something: a helper that fires nothing ends the chain as surely as no call at all. */
function leadsOn({ firing, helpers }: Link, { target }: CallFact): boolean {
  return target.kind !== "helper" || firing.has(target.name) || !helpers.active.has(target.name);
}

const ENTRY_REASONS: Record<EntryKind, EdgeReason> = {
  on_action: "on_action_entry",
  focus: "focus_entry",
  decision: "decision_entry",
  mission: "mission_entry",
  country_setup: "setup_entry",
  state_setup: "setup_entry",
  implicit: "implicit_entry",
  other: "other_entry",
};

/** Several blocks may make one entry, such as an on_action that many files add to; the first one gives it its place. */
function linkEntry(link: Link, { kind, noun, id, phase, at, calls }: EntryFact): void {
  const kindName = kind === "other" ? noun.replaceAll(" ", "_") : kind;
  const nodeId = nodeName("entry", kindName, id, ...(phase === null ? [] : [phase]));
  if (!link.nodes.has(nodeId))
    link.nodes.set(nodeId, { kind: "entry", id: nodeId, entryKind: kind, noun, name: id, phase, location: pointOf(at) });
  for (const call of calls) linkCall(link, { from: nodeId, reason: ENTRY_REASONS[kind], call });
}

interface Linking {
  readonly from: string;
  readonly reason: EdgeReason;
  readonly call: CallFact;
  readonly helperStack?: readonly string[];
}

function linkCall(link: Link, { from, reason, call, helperStack = [] }: Linking): void {
  const { form, traits, conditions, timing, weight, outerWeights, scope, at, target } = call;
  const edge = {
    from,
    form,
    traits: timing.mode === "immediate" ? traits : [...traits, "delayed" as const],
    ...graphConditions(link, conditions),
    timing,
    weight,
    ...(outerWeights.length === 0 ? {} : { outerWeights }),
    scope,
    helperStack,
    location: pointOf(at),
  };
  const typed = edgeReason(target, reason);
  const defined = definitionOf(link, target);
  if (defined !== undefined) {
    const confidence: Confidence = target.kind === "helper" && !target.isSpelledAlike ? "medium" : "confirmed";
    link.edges.push({ ...edge, to: defined.nodeId, reason: typed, confidence });
    return;
  }
  const missing = missingReference(link, target);
  const to = `unresolved:${target.kind}/${missing.reference}`;
  link.nodes.set(to, { kind: "unresolved", id: to, ...missing });
  link.unresolved.push({ call, ...missing });
  link.edges.push({ ...edge, to, reason: typed, confidence: "unresolved" });
}

function edgeReason({ kind }: CallTarget, ofCaller: EdgeReason): EdgeReason {
  if (kind === "dynamic") return "unresolved_dynamic_reference";
  return kind === "helper" ? "scripted_effect_call" : ofCaller;
}

function definitionOf({ events, helpers }: Link, target: CallTarget): { readonly nodeId: string } | undefined {
  if (target.kind === "event") return events.active.get(target.id);
  return target.kind === "helper" ? helpers.active.get(target.name) : undefined;
}

function missingReference({ judgeMissing }: Link, target: CallTarget): Pick<UnresolvedCall, "reference" | "reason"> {
  switch (target.kind) {
    case "event":
      return { reference: target.id, reason: judgeMissing(target.id) };
    case "helper":
      // Names are collected from all files, but the facts of a file can be too many for the graph.
      return { reference: target.name, reason: "skipped" };
    case "dynamic":
      return { reference: target.expression, reason: "dynamic" };
  }
}

function linkTerminal(link: Link, { from, at }: { from: string; at: SourcePoint }): void {
  const to = `terminal:${from}`;
  link.nodes.set(to, { kind: "terminal", id: to });
  link.edges.push(plainEdge({ from, to, reason: "terminal", location: at }));
}

function plainEdge(edge: Pick<GraphEdge, "from" | "to" | "reason" | "location">): UnnamedEdge {
  return {
    ...edge,
    form: null,
    traits: [],
    conditions: [],
    timing: IMMEDIATE,
    weight: null,
    scope: [],
    helperStack: [],
    confidence: "confirmed",
  };
}

function graphConditions(link: Link, list: ConditionList | null): Pick<GraphEdge, "conditions" | "conditionsOmitted"> {
  if (list === null) return { conditions: [] };
  link.budget -= list.size;
  return link.budget < 0 ? { conditions: [], conditionsOmitted: list.count } : { conditions: listConditions(list) };
}
