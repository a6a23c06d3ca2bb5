import { createRandom, type Random } from "./random.ts";

/** How large a mod is generated, and how much of it is wrong. */
export interface GenerateOptions {
  readonly events: number;
  readonly seed: number;
  /** How often each kind of defect is planted; default: once for every 250 events, and at least once. 0 gives a mod in order. */
  readonly defects?: number;
  /** Lines of effects that fire nothing, for each option; default 3. */
  readonly filler?: number;
}

/** Slips that one event each gets. */
export const EVENT_DEFECTS = [
  "missing_target",
  "game_target",
  "dynamic_target",
  "misspelled_target",
  "duplicate",
  "no_option",
  "idle_mean_time",
  "unprompted",
  "missing_operator",
  "missing_value",
] as const;

export type EventDefect = (typeof EVENT_DEFECTS)[number];

export interface PlannedEvent {
  readonly index: number;
  readonly id: string;
  readonly namespace: string;
  readonly file: string;
  readonly defect: EventDefect | null;
  /** The next event of the circle that this one belongs to. */
  readonly next: string | null;
}

export interface PlannedHelper {
  readonly name: string;
  /** Fires only events of at least this index, so that no circle arises by accident. */
  readonly fires: number;
}

export interface ModPlan {
  readonly random: Random;
  readonly events: readonly PlannedEvent[];
  readonly helpers: readonly PlannedHelper[];
  /** Ids of each circle of three. */
  readonly cycles: readonly (readonly string[])[];
  readonly defects: number;
  readonly filler: number;
}

const EVENTS_PER_FILE = 40;
const EVENTS_PER_NAMESPACE = 200;

/** Decides what a mod holds. Events fire later ones only, but for the circles that are meant. */
export function planMod({ events: count, seed, defects, filler = 3 }: GenerateOptions): ModPlan {
  const random = createRandom(seed);
  const repeats = defects ?? Math.max(1, Math.floor(count / 250));
  const slots = chooseSlots({ count, repeats, random });
  const idOf = (index: number) => `gen${Math.floor(index / EVENTS_PER_NAMESPACE)}.${(index % EVENTS_PER_NAMESPACE) + 1}`;
  const events = Array.from({ length: count }, (_, index): PlannedEvent => {
    const place = [0, 1, 2].find((step) => slots.cycles.has(index - step));
    return {
      index,
      id: idOf(index),
      namespace: `gen${Math.floor(index / EVENTS_PER_NAMESPACE)}`,
      file: `events/gen_${String(Math.floor(index / EVENTS_PER_FILE)).padStart(4, "0")}.txt`,
      defect: slots.defects.get(index) ?? null,
      next: place === undefined ? null : idOf(place === 2 ? index - 2 : index + 1),
    };
  });
  const helpers = Array.from({ length: Math.ceil(count / 20) }, (_, index) => ({
    name: `gen_effect_${index}`,
    fires: random.below(count),
  }));
  const cycles = [...slots.cycles].map((start) => [idOf(start), idOf(start + 1), idOf(start + 2)]);
  return { random, events, helpers, cycles, defects: repeats, filler };
}

/** Circles take three events in a row; each other slip has one of the rest to itself, so that no two can hide each other. */
function chooseSlots({ count, repeats, random }: { count: number; repeats: number; random: Random }): {
  cycles: ReadonlySet<number>;
  defects: ReadonlyMap<number, EventDefect>;
} {
  const needed = repeats * (3 + EVENT_DEFECTS.length);
  if (needed > count) throw new RangeError(`${needed} defects need more than ${count} events`);
  const triples = random.shuffle(Array.from({ length: Math.floor(count / 3) }, (_, index) => index * 3));
  const cycles = new Set(triples.slice(0, repeats));
  const others = triples.slice(repeats).flatMap((start) => [start, start + 1, start + 2]);
  const free = random.shuffle([...others, ...Array.from({ length: count % 3 }, (_, index) => count - 1 - index)]);
  const defects = new Map<number, EventDefect>();
  for (const [kind, defect] of EVENT_DEFECTS.entries())
    for (let index = 0; index < repeats; index += 1) {
      const slot = free[kind * repeats + index];
      if (slot !== undefined) defects.set(slot, defect);
    }
  return { cycles, defects };
}
