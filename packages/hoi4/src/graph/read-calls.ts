import { type Block, blockOf, type Pair, pairs, type Scalar, textOf, type Value, valueOf } from "../clausewitz/index.ts";
import type { CallFact, CallTarget } from "./event-facts.ts";
import { eventTypeOf, isDynamic, type EventType } from "./event-types.ts";
import { callIn, type EffectFrame } from "./effect-frame.ts";
import { IMMEDIATE, readDelay } from "./read-timing.ts";
import type { ScriptContext } from "./script-context.ts";

/** `country_event = a.1` or `country_event = { id = a.1 days = 3 }`; no call when the block is a definition that lost its place. */
export function readEventCall(context: ScriptContext, { key, value }: Pair, form: EventType, frame: EffectFrame): CallFact[] {
  const block = blockOf(value);
  if (block !== null && looksLikeDefinition(block)) {
    swallow(context, { key, block, inside: frame.owner });
    return [];
  }
  const id = block === null ? value : valueOf(block, "id");
  if (id?.kind !== "scalar" || id.text === "") {
    reportMissingId(context, key);
    return [];
  }
  const timing = block === null ? IMMEDIATE : readDelay(block, context.constants);
  return [{ ...callIn(frame), form, target: callTarget(id), at: context.at(key, id.text), timing }];
}

export function callTarget({ text }: Scalar): CallTarget {
  return isDynamic(text) ? { kind: "dynamic", expression: text } : { kind: "event", id: text };
}

/** A border war names the events that its outcomes fire, for each side. */
export function readBorderWar(context: ScriptContext, war: Block, frame: EffectFrame): CallFact[] {
  const sides = ["attacker", "defender"].flatMap((side) => [...pairs(war, side)].flatMap(({ value }) => blockOf(value) ?? []));
  return [war, ...sides].flatMap((side) =>
    ["on_win", "on_lose", "on_cancel"].flatMap((outcome) =>
      [...pairs(side, outcome)].flatMap(({ key, value }) => {
        if (value?.kind !== "scalar" || value.text === "") return [];
        const scope = [...frame.scope, outcome];
        return [
          {
            ...callIn(frame),
            form: "border_war" as const,
            target: callTarget(value),
            at: context.at(key, value.text),
            timing: UNTIMED,
            scope,
          },
        ];
      }),
    ),
  );
}

/** Nobody knows beforehand how long a war lasts. */
const UNTIMED = { mode: "unknown", unknown: ["until the border war ends"] } as const;

/** Effects never have these parts, definitions hardly ever lack all of them. */
export function looksLikeDefinition(block: Block): boolean {
  return block.entries.some((entry) => entry.kind === "pair" && DEFINITION_KEYS.has(entry.key.text.toLowerCase()));
}

const DEFINITION_KEYS = new Set([
  "title",
  "desc",
  "picture",
  "option",
  "immediate",
  "is_triggered_only",
  "fire_only_once",
  "mean_time_to_happen",
  "hidden",
]);

/** Every definition inside another block: a closing brace is missing above it, and the game does not know the event. */
export function findSwallowed(context: ScriptContext, value: Value | null, inside: string): void {
  const block = blockOf(value);
  if (block === null) return;
  for (const entry of block.entries) {
    if (entry.kind !== "pair") continue;
    const inner = eventTypeOf(entry.key.text.toLowerCase()) === null ? null : blockOf(entry.value);
    if (inner !== null && looksLikeDefinition(inner)) swallow(context, { key: entry.key, block: inner, inside });
    else findSwallowed(context, entry.value, inside);
  }
}

function swallow({ swallowed, at }: ScriptContext, { key, block, inside }: { key: Scalar; block: Block; inside: string }): void {
  const id = textOf(valueOf(block, "id"));
  if (id !== null) swallowed.set(key.start, { id, at: at(key, id), inside });
}

function reportMissingId({ report, at }: ScriptContext, key: Scalar): void {
  report.add({
    code: "EVENT_CALL_WITHOUT_ID",
    severity: "warning",
    category: "validation",
    message: `This "${key.text}" does not say which event it fires: its "id" is missing.`,
    classification: "probable_defect",
    confidence: "high",
    location: at(key),
  });
}
