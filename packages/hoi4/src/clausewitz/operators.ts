import { decodeBytes } from "./encoding.ts";
import type { Operator, Range } from "./syntax.ts";

/** The operator in a token's range. */
export function operatorOf(bytes: Uint8Array, { start, end }: Range): Operator {
  const first = bytes[start];
  if (end - start === 1) return first === 0x3d ? "=" : first === 0x3c ? "<" : ">";
  const text = decodeBytes({ bytes, encoding: "utf-8" }, start, end);
  return twoCharacters.find((operator) => operator === text) ?? "unknown";
}

/** Hearts of Iron IV has none of these, but users of other games of the engine write them. */
const twoCharacters = ["<=", ">=", "!=", "==", "?="] as const;
