import { type Block, blockOf, pairs } from "../clausewitz/index.ts";
import { pointOf } from "../mod/source-location.ts";
import type { Condition } from "./condition-list.ts";
import { renderExpressions } from "./render-expression.ts";
import type { ScriptContext } from "./script-context.ts";

/** The limit of one branch of an `if`, and what its failing means for the branches after it. */
export interface Guard {
  /** Null when the branch has none: then it is always taken. */
  readonly limit: Condition | null;
  readonly failed: Condition;
}

export function readGuard(context: ScriptContext, branch: Block): Guard {
  const limit = readCondition(context, branch, "limit", "limit");
  if (limit === null) return { limit, failed: { kind: "branch_guard", expression: "always = no", location: pointOf(context.at(branch)) } };
  const triggers = [...pairs(branch, "limit")].reduce((count, { value }) => count + (blockOf(value)?.entries.length ?? 0), 0);
  // The game's NOT means "none of these", so that several triggers need an AND of their own to be negated together.
  const negated = triggers > 1 ? `NOT = { AND = { ${limit.expression} } }` : `NOT = { ${limit.expression} }`;
  return { limit, failed: { kind: "branch_guard", expression: negated, location: limit.location } };
}

/** The triggers of all blocks called `keyword`, which the game reads as one; null when they hold nothing. */
export function readCondition(context: ScriptContext, block: Block, keyword: string, kind: Condition["kind"]): Condition | null {
  const blocks = [...pairs(block, keyword)].flatMap(({ value }) => blockOf(value) ?? []);
  const [first] = blocks;
  const expression = renderExpressions(blocks);
  return first === undefined || expression === "" ? null : { kind, expression, location: pointOf(context.at(first)) };
}
