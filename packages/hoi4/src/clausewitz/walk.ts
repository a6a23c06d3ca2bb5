import type { Block, Pair, Value } from "./syntax.ts";

/** The pairs of a block whose key is the given keyword in any letter case, in source order. Ids are exact: compare their `text` instead. */
export function* pairs(block: Block, keyword: string): Generator<Pair> {
  const wanted = keyword.toLowerCase();
  for (const entry of block.entries) if (entry.kind === "pair" && entry.key.is(wanted)) yield entry;
}

/** The value of the first pair with this keyword; null when there is none or its value was forgotten. */
export function valueOf(block: Block, keyword: string): Value | null {
  for (const pair of pairs(block, keyword)) return pair.value;
  return null;
}

/** The block of a value, behind a colour header or not; null for anything else. */
export function blockOf(value: Value | null): Block | null {
  if (value === null || value.kind === "scalar") return null;
  return value.kind === "block" ? value : value.block;
}

/** The text of a scalar value; null for anything else. */
export function textOf(value: Value | null): string | null {
  return value?.kind === "scalar" ? value.text : null;
}
