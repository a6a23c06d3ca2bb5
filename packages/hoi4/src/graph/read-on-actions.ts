import { type Block, blockOf, type Pair, pairs, type Scalar } from "../clausewitz/index.ts";
import { callIn, rootFrame, withTrait } from "./effect-frame.ts";
import type { CallFact, EntryFact } from "./event-facts.ts";
import { eventTypeOf } from "./event-types.ts";
import { callTarget } from "./read-calls.ts";
import { readEffects } from "./read-effects.ts";
import { IMMEDIATE } from "./read-timing.ts";
import { readWeight, totalWeight } from "./read-weights.ts";
import type { ScriptContext } from "./script-context.ts";

/** The game adds up the blocks of one on_action over all files, so each block found is one more part of the same entry. */
export function readOnActions(context: ScriptContext): EntryFact[] {
  for (const entry of context.file.root.entries) {
    if (entry.kind === "pair" && blockOf(entry.value) !== null && !entry.key.is("on_actions")) reportOutside(context, entry.key);
  }
  return [...pairs(context.file.root, "on_actions")]
    .flatMap(({ value }) => blockOf(value)?.entries ?? [])
    .flatMap((entry) => {
      const body = entry.kind === "pair" ? blockOf(entry.value) : null;
      if (entry.kind !== "pair" || body === null) return [];
      const calls = body.entries.flatMap((part) => (part.kind === "pair" ? readPart(context, entry.key.text, part) : []));
      return calls.length === 0
        ? []
        : [
            {
              kind: "on_action" as const,
              noun: "on_action",
              id: entry.key.text,
              phase: null,
              at: context.at(entry.key, entry.key.text),
              calls,
            },
          ];
    });
}

function readPart(context: ScriptContext, onAction: string, { key, value }: Pair): CallFact[] {
  if (eventTypeOf(key.text.toLowerCase()) !== null) reportIdleCall(context, onAction, key);
  const block = blockOf(value);
  if (block === null) return [];
  if (key.is("effect")) return readEffects(context, block, rootFrame("effect", onAction));
  if (key.is("events")) return readList(context, onAction, block);
  return key.is("random_events") ? readWeightedList(context, onAction, block) : [];
}

function reportOutside({ report, at }: ScriptContext, key: Scalar): void {
  report.add({
    code: "ON_ACTION_OUTSIDE_LIST",
    severity: "warning",
    category: "validation",
    message: `"${key.text}" stands outside of "on_actions = { … }", where the game does not see it. Perhaps a "}" above closes too much.`,
    classification: "probable_defect",
    confidence: "high",
    location: at(key, key.text),
  });
}

function reportIdleCall({ report, at }: ScriptContext, onAction: string, key: Scalar): void {
  report.add({
    code: "EVENT_CALL_OUTSIDE_EFFECT",
    severity: "warning",
    category: "validation",
    message: `This "${key.text}" stands directly in ${onAction}, where nothing runs it. Put it into "effect = { … }".`,
    classification: "probable_defect",
    confidence: "high",
    location: at(key),
  });
}

/** `events = { a.1 a.2 }` fires all of them. */
function readList(context: ScriptContext, onAction: string, list: Block): CallFact[] {
  const frame = callIn(rootFrame("effect", onAction));
  return list.entries.flatMap((entry) => {
    if (entry.kind !== "value" || entry.value.kind !== "scalar") return [];
    return [
      {
        ...frame,
        form: "events" as const,
        target: callTarget(entry.value),
        at: context.at(entry.value, entry.value.text),
        timing: IMMEDIATE,
      },
    ];
  });
}

/** `random_events = { 100 = a.1 300 = 0 }` fires one of them; 0 takes part in the draw and fires nothing. */
function readWeightedList(context: ScriptContext, onAction: string, list: Block): CallFact[] {
  const choices = list.entries.flatMap((entry) =>
    entry.kind === "pair" && entry.value?.kind === "scalar" ? [{ key: entry.key, id: entry.value }] : [],
  );
  const total = totalWeight(
    context,
    choices.map(({ key }) => key),
  );
  const frame = callIn(withTrait(rootFrame("effect", onAction), "weighted"));
  return choices.flatMap(({ key, id }) => {
    const weight = readWeight(context, key, { total, modifiers: [] });
    if (id.text === "0") return [];
    return [{ ...frame, weight, form: "random_events" as const, target: callTarget(id), at: context.at(key, id.text), timing: IMMEDIATE }];
  });
}
