import type { CallFact, CallTrait, Condition, Weight } from "./event-facts.ts";
import type { Guard } from "./read-conditions.ts";

/** What holds for every call found in a block of effects. */
export interface EffectFrame {
  readonly section: CallFact["section"];
  /** The definition that the block belongs to, for messages. */
  readonly owner: string;
  readonly conditions: readonly Condition[];
  /** In the order of `CallTrait`. */
  readonly traits: readonly CallTrait[];
  readonly weight: Weight | null;
  readonly scope: readonly string[];
  /** Set inside a branch of an `if`: an `else` that stands in it belongs to that `if`, as scripts of the first game versions wrote it. */
  readonly branch: Branch | null;
}

export interface Branch {
  /** What holds around the whole chain. */
  readonly outer: readonly Condition[];
  /** One for each branch so far. */
  readonly guards: readonly Guard[];
}

export function rootFrame(section: CallFact["section"], owner: string): EffectFrame {
  return { section, owner, conditions: [], traits: [], weight: null, scope: [], branch: null };
}

/** What a call takes over from the block it stands in. */
export function callIn({
  section,
  conditions,
  traits,
  weight,
  scope,
}: EffectFrame): Pick<CallFact, "section" | "conditions" | "traits" | "weight" | "scope"> {
  return { section, conditions, traits, weight, scope };
}

export function withCondition(frame: EffectFrame, condition: Condition | null): EffectFrame {
  return { ...frame, branch: null, ...(condition === null ? {} : { conditions: [...frame.conditions, condition] }) };
}

export function withTrait(frame: EffectFrame, trait: CallTrait): EffectFrame {
  return { ...frame, branch: null, traits: TRAIT_ORDER.filter((known) => known === trait || frame.traits.includes(known)) };
}

const TRAIT_ORDER: readonly CallTrait[] = ["hidden", "random", "weighted", "meta"];
