import { type Block, blockOf, pairs } from "../clausewitz/index.ts";
import type { Timing } from "./event-facts.ts";
import { renderExpression, renderValue } from "./render-expression.ts";

/** Constants of the file, `@name` with the sign, to their numbers. */
export type Constants = ReadonlyMap<string, number>;

export const IMMEDIATE: Timing = { mode: "immediate" };

/** When an event comes that is called with these arguments. Negative and computed delays are unknown, missing ones are none. */
export function readDelay(call: Block, constants: Constants): Timing {
  const { parts, unknown } = readParts(call, constants, DELAY_PARTS);
  if (unknown.length > 0) return { mode: "unknown", ...parts, unknown };
  const isFixed = [parts.hours, parts.days, parts.months, parts.years].some((part) => (part ?? 0) > 0);
  const isRandom = (parts.randomHours ?? 0) > 0 || (parts.randomDays ?? 0) > 0;
  if (!isFixed && !isRandom) return IMMEDIATE;
  return { mode: isFixed && isRandom ? "fixed_and_random" : isFixed ? "fixed" : "random", ...parts };
}

/** A `mean_time_to_happen` block; `base` counts days. */
export function readMeanTime(block: Block, constants: Constants): Timing {
  const { parts, unknown } = readParts(block, constants, MEAN_TIME_PARTS);
  const modifiers = [...pairs(block, "modifier")].flatMap(({ value }) => {
    const modifier = blockOf(value);
    return modifier === null ? [] : [renderExpression(modifier)];
  });
  return {
    mode: "mean_time_to_happen",
    ...parts,
    ...(unknown.length === 0 ? {} : { unknown }),
    ...(modifiers.length === 0 ? {} : { modifiers }),
  };
}

export function parseNumber(text: string, constants: Constants): number | null {
  if (text.startsWith("@")) return constants.get(text) ?? null;
  const number = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/u.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(number) ? number : null;
}

type Part = "hours" | "days" | "months" | "years" | "randomHours" | "randomDays";

// `random` is the older spelling of `random_hours`.
const DELAY_PARTS: ReadonlyMap<string, Part> = new Map([
  ["hours", "hours"],
  ["days", "days"],
  ["months", "months"],
  ["years", "years"],
  ["random_hours", "randomHours"],
  ["random", "randomHours"],
  ["random_days", "randomDays"],
]);

const MEAN_TIME_PARTS: ReadonlyMap<string, Part> = new Map([
  ["hours", "hours"],
  ["days", "days"],
  ["base", "days"],
  ["months", "months"],
  ["years", "years"],
]);

function readParts(
  block: Block,
  constants: Constants,
  names: ReadonlyMap<string, Part>,
): { parts: Partial<Record<Part, number>>; unknown: string[] } {
  const parts: Partial<Record<Part, number>> = {};
  const unknown: string[] = [];
  for (const entry of block.entries) {
    if (entry.kind !== "pair" || entry.value === null) continue;
    const name = entry.key.text.toLowerCase();
    const part = names.get(name);
    if (part === undefined) continue;
    const number = entry.value.kind === "scalar" ? parseNumber(entry.value.text, constants) : null;
    if (number !== null && number >= 0) parts[part] = number;
    else unknown.push(`${name} = ${renderValue(entry.value)}`);
  }
  return { parts, unknown };
}
