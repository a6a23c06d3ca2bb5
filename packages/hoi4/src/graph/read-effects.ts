import { type Block, blockOf, type Pair, parseNested, valueOf } from "../clausewitz/index.ts";
import { addCondition, type ConditionList } from "./condition-list.ts";
import { callIn, withCondition, withTrait, withWeight, type EffectFrame } from "./effect-frame.ts";
import { pointOf } from "../mod/source-location.ts";
import type { CallFact, CallTarget } from "./event-facts.ts";
import { eventTypeOf } from "./event-types.ts";
import { readBorderWar, readEventCall } from "./read-calls.ts";
import { readCondition, readGuard } from "./read-conditions.ts";
import { IMMEDIATE } from "./read-timing.ts";
import { choicesOf, readWeight, totalWeight, weightModifiers } from "./read-weights.ts";
import { renderValue } from "./render-expression.ts";
import type { ScriptContext } from "./script-context.ts";

/** Every call that running this block of effects can reach, in source order. */
export function readEffects(context: ScriptContext, block: Block, frame: EffectFrame): CallFact[] {
  const calls: CallFact[] = [];
  walk({ context, calls }, block, frame);
  return calls;
}

/** Whether the block of this lower-case key holds triggers, weights or texts rather than effects. */
export function holdsNoEffects(key: string): boolean {
  return NOT_EFFECTS.has(key) || NOT_EXECUTED.has(key);
}

interface Walk {
  readonly context: ScriptContext;
  readonly calls: CallFact[];
}

function walk(state: Walk, block: Block, frame: EffectFrame): void {
  let otherwise = frame.otherwise;
  for (const entry of block.entries) {
    if (entry.kind !== "pair" || entry.value === null) continue;
    const key = entry.key.text.toLowerCase();
    const body = blockOf(entry.value);
    const type = eventTypeOf(key);
    if (type !== null) state.calls.push(...readEventCall(state.context, entry, type, frame));
    else if (body === null) walkScalar(state, entry, frame);
    else if (key === "if" || key === "else_if" || key === "else") otherwise = walkBranch(state, { entry, key, body, frame, otherwise });
    else walkBlock(state, { entry, key, body, frame });
  }
}

/** A scripted effect is run by `name = yes`; in a meta effect its name may be put together while the game runs. */
function walkScalar({ context, calls }: Walk, { key, value }: Pair, frame: EffectFrame): void {
  if (value?.kind !== "scalar" || !value.is("yes")) return;
  const isComposed = frame.traits.includes("meta") && key.text.includes("[");
  const name = isComposed ? key.text : context.helpers.get(key.text.toLowerCase());
  if (name === undefined) return;
  const target: CallTarget = isComposed
    ? { kind: "dynamic", expression: name }
    : { kind: "helper", name, isSpelledAlike: name === key.text };
  calls.push({ ...callIn(frame), form: "scripted_effect", target, at: context.at(key, name), timing: IMMEDIATE });
}

interface Step {
  readonly entry: Pair;
  /** Lower case. */
  readonly key: string;
  readonly body: Block;
  readonly frame: EffectFrame;
}

/** Takes what holds when no branch before this one was taken, and answers the same for a following `else`; null where no chain goes on. */
function walkBranch(state: Walk, step: Step & { otherwise: ConditionList | null }): ConditionList | null {
  const { entry, key, body, frame, otherwise } = step;
  if (key !== "if" && otherwise === null) reportStrayElse(state.context, entry);
  const around = key === "if" || otherwise === null ? frame.conditions : otherwise;
  if (key === "else") {
    walk(state, body, { ...frame, conditions: around, otherwise: null });
    return null;
  }
  const { limit, failed } = readGuard(state.context, body);
  const notTaken = addCondition(around, failed);
  walk(state, body, { ...frame, conditions: addCondition(around, limit), otherwise: notTaken });
  return notTaken;
}

function walkBlock(state: Walk, step: Step): void {
  const { key, body, frame, entry } = step;
  if (holdsNoEffects(key)) return;
  switch (key) {
    case "hidden_effect":
      walk(state, body, withTrait(frame, "hidden"));
      return;
    case "random":
      walkRandom(state, step);
      return;
    case "random_list":
      walkRandomList(state, step);
      return;
    case "meta_effect":
      walkMetaEffect(state, step);
      return;
    case "start_border_war":
    case "set_border_war_data":
      for (const call of readBorderWar(state.context, body, frame)) state.calls.push(call);
      return;
    case "random_events":
      reportMisplacedList(state.context, entry);
      return;
    default: {
      const inner = withCondition(frame, readCondition(state.context, body, "limit", "limit"));
      walk(state, body, LOOPS.has(key) ? inner : { ...inner, scope: [...frame.scope, entry.key.text] });
    }
  }
}

/** Shown in a tooltip and never run. */
const NOT_EXECUTED = new Set(["effect_tooltip", "custom_effect_tooltip", "complete_tooltip", "outcome_potential", "tooltip", "log"]);

/** Blocks of triggers, weights and texts that stand next to effects. */
const NOT_EFFECTS = new Set(
  `limit trigger available visible allowed allowed_civil_war activation bypass cancel cancel_trigger remove_trigger potential
   target_trigger target_root_trigger custom_trigger_tooltip prerequisite mutually_exclusive allow_branch highlight_states
   ai_will_do ai_chance mean_time_to_happen modifier targeted_modifier research_bonus equipment_bonus name title desc text`.split(/\s+/u),
);

/** They repeat effects without changing whom the effects are for. */
const LOOPS = new Set(["while_loop_effect", "for_loop_effect", "for_each_loop", "for_each_scope_loop"]);

function walkRandom(state: Walk, { body, frame }: Step): void {
  const chance = valueOf(body, "chance");
  const condition =
    chance === null
      ? null
      : ({ kind: "random_chance", expression: renderValue(chance), location: pointOf(state.context.at(chance)) } as const);
  walk(state, body, withTrait(withCondition(frame, condition), "random"));
}

function walkRandomList(state: Walk, { body, frame }: Step): void {
  const { context } = state;
  const choices = choicesOf(body);
  const total = totalWeight(
    context,
    choices.map(({ key }) => key),
  );
  for (const { key, effects } of choices) {
    const weight = readWeight(context, key, { total, modifiers: weightModifiers(effects) });
    const inner = withCondition(frame, readCondition(context, effects, "trigger", "limit"));
    walk(state, effects, withWeight(inner, weight));
  }
}

/** The text of a meta effect is script with placeholders, written as a block or as a string. */
function walkMetaEffect(state: Walk, { body, frame }: Step): void {
  const inner = withTrait(frame, "meta");
  const text = valueOf(body, "text");
  const block = blockOf(text);
  if (block !== null) walk(state, block, inner);
  // A string in a string in a string would bring back the depth that the parser has limited.
  if (text?.kind !== "scalar" || !text.quoted || frame.traits.includes("meta")) return;
  const { context } = state;
  const nested = parseNested(context.file, text);
  const at: ScriptContext["at"] = ({ start, end }, symbol) =>
    context.at({ start: nested.outerOffset(start), end: nested.outerOffset(end) }, symbol);
  walk({ context: { ...context, file: nested.script, at }, calls: state.calls }, nested.script.root, inner);
}

function reportStrayElse({ report, at }: ScriptContext, { key }: Pair): void {
  report.add({
    code: "EVENT_ELSE_WITHOUT_IF",
    severity: "warning",
    category: "validation",
    message: `No "if" comes before this "${key.text}" in the same block, so it is unclear when it runs.`,
    classification: "probable_defect",
    confidence: "high",
    location: at(key),
  });
}

function reportMisplacedList({ report, at }: ScriptContext, { key }: Pair): void {
  report.add({
    code: "EVENT_RANDOM_EVENTS_MISPLACED",
    severity: "warning",
    category: "validation",
    message: `"${key.text}" works directly inside an on_action only; nothing in this one fires.`,
    classification: "probable_defect",
    confidence: "high",
    location: at(key),
  });
}
