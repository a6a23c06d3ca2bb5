import { parseAs } from "./parse-script.ts";
import { lastAtOrBefore } from "./positions.ts";
import type { ParseLimits, Range, Scalar, ScriptFile } from "./syntax.ts";

/** Script inside a string, such as `division = "name = \"1. Division\" …"`. */
export interface NestedScript {
  readonly script: ScriptFile;
  /** The byte offset in the outer file for a byte offset in the nested script; that of the backslash where an escape begins. */
  readonly outerOffset: (offset: number) => number;
}

/** Reads the text of a scalar of `file` as script of its own. Escapes are resolved first, as the game does, and the mapping remembers them. */
export function parseNested(file: ScriptFile, scalar: Scalar, limits: ParseLimits = {}): NestedScript {
  const start = scalar.quoted ? scalar.start + 1 : scalar.start;
  const { inner, escapes } = resolveEscapes(file.bytes, { start, end: scalar.end });
  const encoding = file.encoding === "windows-1252" ? "windows-1252" : "utf-8";
  const script = parseAs({ bytes: inner, encoding, limits });
  return {
    script,
    outerOffset: (offset) => {
      const passed = escapes.length === 0 || escapes[0]! >= offset ? 0 : lastAtOrBefore(escapes, offset - 1) + 1;
      return start + offset + passed;
    },
  };
}

/** Stops at the closing quote; `escapes` are the offsets in `inner` of the characters that had a backslash. */
function resolveEscapes(bytes: Uint8Array, { start, end }: Range): { inner: Uint8Array; escapes: Uint32Array } {
  const inner = new Uint8Array(end - start);
  const escapes: number[] = [];
  let length = 0;
  for (let at = start; at < end && bytes[at] !== 0x22; at++) {
    const next = bytes[at + 1];
    if (bytes[at] === 0x5c && at + 1 < end && (next === 0x22 || next === 0x5c)) {
      escapes.push(length);
      at += 1;
    }
    inner[length] = bytes[at]!;
    length += 1;
  }
  return { inner: inner.subarray(0, length), escapes: Uint32Array.from(escapes) };
}
