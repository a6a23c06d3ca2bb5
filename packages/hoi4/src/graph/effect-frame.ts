import { addCondition, type Condition, type ConditionList } from "./condition-list.ts";
import type { CallFact, CallTrait, Weight } from "./event-facts.ts";

/** What holds for every call found in a block of effects. */
export interface EffectFrame {
  readonly section: CallFact["section"];
  /** The definition that the block belongs to, for messages. */
  readonly owner: string;
  readonly conditions: ConditionList | null;
  /** In the order of `CallTrait`. */
  readonly traits: readonly CallTrait[];
  readonly weight: Weight | null;
  readonly outerWeights: readonly Weight[];
  readonly scope: readonly string[];
  /**
   * What holds when the branch of an `if` that this block is, and those before it, are not taken: an `else` that stands in it belongs to that
   * `if`, as scripts of the first game versions wrote it. Null outside of branches.
   */
  readonly otherwise: ConditionList | null;
}

export function rootFrame(section: CallFact["section"], owner: string): EffectFrame {
  return { section, owner, conditions: null, traits: [], weight: null, outerWeights: [], scope: [], otherwise: null };
}

/** What a call takes over from the block it stands in. */
export function callIn({
  section,
  conditions,
  traits,
  weight,
  outerWeights,
  scope,
}: EffectFrame): Pick<CallFact, "section" | "conditions" | "traits" | "weight" | "outerWeights" | "scope"> {
  return { section, conditions, traits, weight, outerWeights, scope };
}

export function withCondition(frame: EffectFrame, condition: Condition | null): EffectFrame {
  return { ...frame, otherwise: null, conditions: addCondition(frame.conditions, condition) };
}

export function withTrait(frame: EffectFrame, trait: CallTrait): EffectFrame {
  return { ...frame, otherwise: null, traits: TRAIT_ORDER.filter((known) => known === trait || frame.traits.includes(known)) };
}

/** A choice of a weighted list, which may stand in a choice of another one. */
export function withWeight(frame: EffectFrame, weight: Weight): EffectFrame {
  const outerWeights = frame.weight === null ? frame.outerWeights : [...frame.outerWeights, frame.weight];
  return { ...withTrait(frame, "weighted"), weight, outerWeights };
}

const TRAIT_ORDER: readonly CallTrait[] = ["hidden", "random", "weighted", "meta"];
