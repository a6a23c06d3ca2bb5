import { type Block, blockOf, pairs, type Scalar } from "../clausewitz/index.ts";
import type { Weight } from "./event-facts.ts";
import { parseNumber } from "./read-timing.ts";
import { renderExpression } from "./render-expression.ts";
import type { ScriptContext } from "./script-context.ts";

/** What a `random_list` chooses from: a weight, which may be a variable, and effects. */
export function choicesOf(list: Block): { key: Scalar; effects: Block }[] {
  return list.entries.flatMap((entry) => {
    const effects = entry.kind === "pair" && !entry.key.is("modifier") ? blockOf(entry.value) : null;
    return entry.kind === "pair" && effects !== null ? [{ key: entry.key, effects }] : [];
  });
}

export function weightModifiers(choice: Block): string[] {
  return [...pairs(choice, "modifier")].flatMap(({ value }) => {
    const modifier = blockOf(value);
    return modifier === null ? [] : [renderExpression(modifier)];
  });
}

/** The sum of the weights, rounded to millionths so that the order of summands does not show; null when one of them is no number. */
export function totalWeight({ constants }: ScriptContext, keys: readonly Scalar[]): number | null {
  let total = 0;
  for (const key of keys) {
    const weight = parseNumber(key.text, constants);
    if (weight === null) return null;
    total += weight;
  }
  const rounded = Number(total.toFixed(6));
  return Number.isFinite(rounded) ? rounded : null;
}

export function readWeight({ constants, report, at }: ScriptContext, key: Scalar, rest: Pick<Weight, "total" | "modifiers">): Weight {
  const value = parseNumber(key.text, constants);
  if (value !== null && value < 0) {
    report.add({
      code: "EVENT_RANDOM_WEIGHT_INVALID",
      severity: "warning",
      category: "validation",
      message: `A weight cannot be negative: ${key.text}.`,
      classification: "probable_defect",
      confidence: "high",
      location: at(key),
    });
  }
  const validity = value === null ? "unknown" : value < 0 ? "invalid" : "valid";
  return { value, expression: key.text, validity, ...rest };
}
