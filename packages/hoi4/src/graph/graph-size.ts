import type { CallFact, EventFact, FileFacts, OptionFact, Weight } from "./event-facts.ts";

/** How large facts become in a graph. Both numbers are estimates from above that need nothing but the facts of one file. */
export interface GraphSize {
  /** Nodes, edges and definitions that the game does not see. */
  readonly parts: number;
  /** Of names and texts, each as often as the graph repeats it; conditions have a budget of their own. */
  readonly characters: number;
}

/** What fits into the memory of a worker's child beside the files of a mod, with the artifact that it becomes. */
export const GRAPH_LIMIT: GraphSize = { parts: 250_000, characters: 64 * 1024 * 1024 };

export const EMPTY_SIZE: GraphSize = { parts: 0, characters: 0 };

export function graphSizeOf({ namespaces, events, helpers, entries, swallowed }: FileFacts): GraphSize {
  return sumOf([
    ...namespaces.map(({ name }) => ({ parts: 1, characters: name.length })),
    ...swallowed.map(({ id, inside }) => ({ parts: 1, characters: 3 * id.length + inside.length })),
    ...events.map(eventSize),
    ...helpers.map(({ name, calls }) => sumOf([{ parts: 1, characters: 2 * name.length }, ...calls.map((call) => callSize(call, name))])),
    ...entries.map(({ id, phase, calls }) => {
      const name = `${id}${phase ?? ""}`;
      return sumOf([{ parts: 1, characters: 2 * name.length }, ...calls.map((call) => callSize(call, name))]);
    }),
  ]);
}

export function addSizes(a: GraphSize, b: GraphSize): GraphSize {
  return { parts: a.parts + b.parts, characters: a.characters + b.characters };
}

export function isWithin(size: GraphSize, limit: GraphSize): boolean {
  return size.parts <= limit.parts && size.characters <= limit.characters;
}

function eventSize({ id, titles, descriptions, isTriggeredOnly, calls, options }: EventFact): GraphSize {
  const isEnd = calls.length === 0 && options.length === 0;
  return sumOf([
    { parts: 1 + (isTriggeredOnly ? 0 : 2) + (isEnd ? 2 : 0), characters: 6 * id.length + lengthOf(titles) + lengthOf(descriptions) },
    ...calls.map((call) => callSize(call, id)),
    ...options.map((option) => optionSize(option, id)),
  ]);
}

function optionSize({ names, aiChance, calls }: OptionFact, eventId: string): GraphSize {
  const name = names[0] ?? "";
  return sumOf([
    { parts: calls.length === 0 ? 4 : 2, characters: 5 * (eventId.length + name.length) + lengthOf(names) + (aiChance?.length ?? 0) },
    ...calls.map((call) => callSize(call, `${eventId}${name}`)),
  ]);
}

/** An edge, with the name of the place it leaves. */
function callSize({ target, scope, weight, outerWeights, timing, at }: CallFact, from: string): GraphSize {
  const to = target.kind === "event" ? target.id : target.kind === "helper" ? target.name : target.expression;
  const characters =
    from.length +
    2 * to.length +
    at.path.length +
    lengthOf(scope) +
    lengthOf(timing.unknown) +
    outerWeights.reduce((sum, outer) => sum + weightLength(outer), weightLength(weight));
  return { parts: 1, characters };
}

function weightLength(weight: Weight | null): number {
  return weight === null ? 0 : WEIGHT_FRAME + weight.expression.length + lengthOf(weight.modifiers);
}

/** Names and punctuation around a weight in JSON. */
const WEIGHT_FRAME = 80;

/** With what parts the items of a list. */
function lengthOf(texts: readonly string[] = []): number {
  return texts.reduce((sum, text) => sum + text.length + 4, 0);
}

function sumOf(sizes: readonly GraphSize[]): GraphSize {
  return sizes.reduce(addSizes, EMPTY_SIZE);
}
