import { othersFiles } from "../mod/descriptor.ts";
import type { Diagnostic } from "../mod/diagnostic.ts";
import type { OpenSources } from "../mod/list-mod-files.ts";
import type { SourceLocation } from "../mod/source-location.ts";
import type { EventFact, FileFacts, SwallowedEvent } from "./event-facts.ts";
import { namespaceOf, ROOT_SCOPES } from "./event-types.ts";
import { componentsOf } from "./strong-components.ts";
import type { Defined, DefinitionTable } from "./definition-table.ts";
import type { LinkedGraph, UnnamedEdge } from "./link-event-graph.ts";

/** What is wrong with definitions in the light of all the others. */
export function checkDefinitions(linked: LinkedGraph, files: readonly FileFacts[], open: OpenSources): Diagnostic[] {
  const incoming = incomingOf(linked);
  return [
    ...checkDuplicates(linked.events, {
      code: "EVENT_DUPLICATE_ID",
      severity: "error",
      message: (id) => `${id} is defined more than once. Calls are taken to reach the definition that is read first; this one is another.`,
      idOf: ({ id }) => id,
    }),
    ...checkDuplicates(linked.helpers, {
      code: "HELPER_DUPLICATE_ID",
      severity: "warning",
      message: (name) =>
        `The scripted effect ${name} is defined more than once. Calls are taken to reach the definition that is read last; this one is another.`,
      idOf: ({ name }) => name,
    }),
    ...files.flatMap(({ swallowed }) => swallowed.map(swallowedDefinition)),
    ...checkNamespaces(linked.events.all, files, open),
    ...checkHelperCycles(linked),
    ...linked.events.all.flatMap((defined) => checkFiring(defined, incoming)),
  ];
}

interface DuplicateRule<Fact> {
  readonly code: string;
  readonly severity: "error" | "warning";
  readonly message: (id: string) => string;
  readonly idOf: (fact: Fact) => string;
}

function checkDuplicates<Fact extends { readonly at: SourceLocation }>(
  { all, active }: DefinitionTable<Fact>,
  { code, severity, message, idOf }: DuplicateRule<Fact>,
): Diagnostic[] {
  return all
    .filter(({ isActive }) => !isActive)
    .map(({ fact }) => {
      const winner = active.get(idOf(fact));
      return {
        code,
        severity,
        category: "reference",
        message: message(idOf(fact)),
        classification: severity === "error" ? "confirmed_error" : "probable_defect",
        confidence: "high",
        location: fact.at,
        related: winner === undefined ? [] : [winner.fact.at],
      };
    });
}

function swallowedDefinition({ id, at, inside }: SwallowedEvent): Diagnostic {
  return {
    code: "EVENT_DEFINITION_SWALLOWED",
    severity: "error",
    category: "syntax",
    message: `${id} is defined inside ${inside}, where the game does not see it. A "}" is probably missing above.`,
    classification: "confirmed_error",
    confidence: "high",
    location: at,
  };
}

/** Once for each namespace: the line is missing once, however many events miss it. */
function checkNamespaces(events: readonly Defined<EventFact>[], files: readonly FileFacts[], open: OpenSources): Diagnostic[] {
  const declared = new Set(files.flatMap(({ namespaces }) => namespaces.map(({ name }) => name)));
  const firstUse = new Map<string, EventFact>();
  for (const { fact } of events) {
    const namespace = namespaceOf(fact.id);
    if (namespace !== null && !declared.has(namespace) && !firstUse.has(namespace)) firstUse.set(namespace, fact);
  }
  const isCertain = !open.game && open.dependencies.length === 0;
  return [...firstUse].map(([namespace, { at }]) => ({
    code: "EVENT_NAMESPACE_UNDECLARED",
    severity: isCertain ? "error" : "warning",
    category: "reference",
    message: `No file says "add_namespace = ${namespace}"${isCertain ? "" : `, unless one of ${othersFiles(open)} does`}. Without it the game does not load events such as this one.`,
    classification: isCertain ? "confirmed_error" : "probable_defect",
    confidence: isCertain ? "high" : "medium",
    location: at,
  }));
}

/** Once for each helper that can come back to itself. */
function checkHelperCycles({ helpers: { active } }: LinkedGraph): Diagnostic[] {
  const calleesOf = (name: string) =>
    (active.get(name)?.fact.calls ?? []).flatMap(({ target }) => (target.kind === "helper" ? [target.name] : []));
  return componentsOf([...active.keys()], calleesOf)
    .filter((members) => members.length > 1 || members.some((name) => calleesOf(name).includes(name)))
    .flatMap((members) => {
      const [first, ...others] = members.toSorted().flatMap((name) => active.get(name)?.fact ?? []);
      if (first === undefined) return [];
      return {
        code: "EVENT_HELPER_CYCLE",
        severity: "warning",
        category: "design",
        message: `Scripted effects call each other in a circle: ${listNames(members.toSorted())}.`,
        classification: "probable_defect",
        confidence: "high",
        location: first.at,
        related: others.map(({ at }) => at).slice(0, 100),
      } satisfies Diagnostic;
    });
}

function listNames(names: readonly string[]): string {
  const rest = names.length - NAMES_LISTED;
  return rest <= 0 ? names.join(", ") : `${names.slice(0, NAMES_LISTED).join(", ")} and ${rest} more`;
}

const NAMES_LISTED = 10;

interface Incoming {
  /** Nodes that a call from elsewhere reaches. */
  readonly called: ReadonlySet<string>;
  /** Events that fire themselves. */
  readonly repeated: ReadonlySet<string>;
  /** Nodes that a weighted list of an on_action picks, where the modifiers of a mean time change the weight. */
  readonly drawn: ReadonlySet<string>;
}

function incomingOf({ nodes, edges }: LinkedGraph): Incoming {
  const eventOf = new Map(nodes.flatMap((node) => (node.kind === "option" ? [[node.id, node.event]] : [])));
  const isOwn = ({ from, to }: UnnamedEdge) => (eventOf.get(from) ?? from) === to;
  return {
    called: new Set(edges.filter((edge) => !isOwn(edge)).map(({ to }) => to)),
    repeated: new Set(edges.filter(isOwn).map(({ to }) => to)),
    drawn: new Set(edges.flatMap(({ to, form }) => (form === "random_events" ? [to] : []))),
  };
}

function checkFiring({ fact, nodeId, isActive }: Defined<EventFact>, { called, repeated, drawn }: Incoming): Diagnostic[] {
  const { id, at, type, isTriggeredOnly, meanTime, trigger, isClosed } = fact;
  const base = { category: "design", location: at } as const;
  const found: Diagnostic[] = [];
  if (isTriggeredOnly && meanTime !== null && !drawn.has(nodeId)) {
    found.push({
      ...base,
      location: meanTime.at,
      code: "EVENT_MEAN_TIME_IGNORED",
      severity: "warning",
      message: `${id} waits to be fired (is_triggered_only = yes), so its mean_time_to_happen does nothing.`,
      classification: "design_warning",
      confidence: "high",
    });
  }
  if (!isTriggeredOnly && meanTime === null && trigger === null && isClosed) {
    found.push({
      ...base,
      code: "EVENT_FIRES_UNPROMPTED",
      severity: "warning",
      message: `${id} has no trigger and no "is_triggered_only = yes", so the game fires it by itself for every ${ROOT_SCOPES[type].replace("_", " ")}.`,
      classification: "probable_defect",
      confidence: "high",
    });
  }
  if (isTriggeredOnly && isActive && !called.has(nodeId)) {
    found.push({
      ...base,
      code: "EVENT_NEVER_FIRED",
      severity: "info",
      message: `${id} waits to be fired, and nothing that was read fires it${repeated.has(nodeId) ? " but itself" : ""}.`,
      classification: "design_warning",
      confidence: "medium",
    });
  }
  return found;
}
