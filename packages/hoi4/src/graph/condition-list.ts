import type { SourcePoint } from "../mod/source-location.ts";

export interface Condition {
  readonly kind: "event_trigger" | "option_trigger" | "limit" | "branch_guard" | "random_chance";
  /** One canonical line of script; a chance is a number of percent. */
  readonly expression: string;
  readonly location: SourcePoint;
}

/**
 * Conditions that all hold, as a list that shares its outer part with the block around: in a chain of thousands of `else_if` every branch
 * holds all the conditions before it, and as arrays of their own these would grow with the square of the chain. Null is the empty list.
 */
export interface ConditionList {
  readonly innermost: Condition;
  readonly outer: ConditionList | null;
  readonly count: number;
  /** Characters of the whole list in a graph, with what surrounds them there, roughly. */
  readonly size: number;
}

/** Adding no condition changes nothing. */
export function addCondition(outer: ConditionList | null, innermost: Condition | null): ConditionList | null {
  if (innermost === null) return outer;
  const size = innermost.expression.length + innermost.location.path.length + CONDITION_FRAME;
  return { innermost, outer, count: (outer?.count ?? 0) + 1, size: (outer?.size ?? 0) + size };
}

/** Outermost first. */
export function listConditions(list: ConditionList | null): Condition[] {
  const conditions: Condition[] = [];
  for (let part = list; part !== null; part = part.outer) conditions.push(part.innermost);
  return conditions.toReversed();
}

/** Names and punctuation around an expression in JSON. */
const CONDITION_FRAME = 90;
