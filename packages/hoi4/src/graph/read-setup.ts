import { type Block, blockOf, type Entry, type Pair } from "../clausewitz/index.ts";
import type { CallerShape } from "../mod/scan-folders.ts";
import { rootFrame } from "./effect-frame.ts";
import type { CallFact, EntryFact } from "./event-facts.ts";
import { readEffects } from "./read-effects.ts";
import type { ScriptContext } from "./script-context.ts";

/** History runs when a game starts; what stands under a date, when the game starts there or later. */
export function readSetup(
  context: ScriptContext,
  { kind, noun, id }: Pick<CallerShape, "kind" | "noun"> & { id: string },
  history: Block,
): EntryFact[] {
  const undated = { ...history, entries: history.entries.filter((entry) => !isDated(entry)) };
  const dated = history.entries.filter(isDated).flatMap((entry) => {
    const block = blockOf(entry.value);
    return block === null ? [] : [{ block, date: entry.key.text }];
  });
  return [{ block: undated, date: null }, ...dated].flatMap(({ block, date }) => {
    const calls = readEffects(context, block, rootFrame("effect", id)).map((call) => (date === null ? call : onDate(call, date)));
    return calls.length === 0 ? [] : [{ kind, noun, id, phase: date, at: context.at(block, id), calls }];
  });
}

const DATE = /^-?\d+\.\d+\.\d+(?:\.\d+)?$/u;

function isDated(entry: Entry): entry is Pair {
  return entry.kind === "pair" && DATE.test(entry.key.text);
}

function onDate(call: CallFact, date: string): CallFact {
  return { ...call, timing: { ...call.timing, mode: "date", date } };
}
