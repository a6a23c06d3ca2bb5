import { encodeText } from "./encoding.ts";
import { lastAtOrBefore } from "./positions.ts";
import { type Edit, type Pair, type Scalar, type ScriptFile, tokenKind } from "./syntax.ts";

/** One field of a definition as it shall be. */
export type FieldEdit =
  | { readonly kind: "replace"; readonly pair: Pair; readonly value: Scalar; readonly text: string }
  /** A new field behind the field `after`. Several behind the same one keep their order. */
  | { readonly kind: "insert"; readonly after: Pair; readonly key: string; readonly text: string }
  | { readonly kind: "remove"; readonly pair: Pair };

/**
 * The bytes to change for a field, in the manner of the text around it: quotes stay, a new field gets the indentation and the spacing of its
 * neighbour, a field that had a line to itself takes the line along. Null when the encoding of the file cannot hold the text.
 */
export function bytesOfEdit(script: ScriptFile, edit: FieldEdit): Edit | null {
  switch (edit.kind) {
    case "replace":
      return replaceScalar(script, edit.value, edit.text);
    case "insert":
      return insertField(script, edit);
    case "remove":
      return { ...removalRange(script.bytes, edit.pair), bytes: new Uint8Array() };
  }
}

/** Whether a comment stands between the key and the value of a field, and would go with it. */
export function hasCommentInside({ tokens }: ScriptFile, { start, end }: Pair): boolean {
  for (let index = lastAtOrBefore(tokens.starts, start); tokens.starts[index]! < end; index++)
    if (tokens.kinds[index] === tokenKind.comment) return true;
  return false;
}

function replaceScalar(script: ScriptFile, { start, end, quoted }: Scalar, text: string): Edit | null {
  const bytes = encodeText(script, text);
  return bytes === null ? null : { start: quoted ? start + 1 : start, end: quoted ? end - 1 : end, bytes };
}

function insertField(script: ScriptFile, { after, key, text }: Extract<FieldEdit, { kind: "insert" }>): Edit | null {
  const field = `${key}${signOf(script, after)}${text}`;
  const line = lineAround(script.bytes, after);
  const at = line.isAlone ? line.end : after.end;
  const next = script.bytes[at];
  const isParted = next === undefined || isBlank(next) || isLineEnd(next) || next === CLOSE_BRACE;
  const indentation = Buffer.from(script.bytes.subarray(line.start, after.start)).toString("latin1");
  const bytes = encodeText(script, line.isAlone ? `\n${indentation}${field}` : ` ${field}${isParted ? "" : " "}`);
  return bytes === null ? null : { start: at, end: at, bytes };
}

/** The `=` of a field with the blanks that its author puts around it. */
function signOf({ bytes }: ScriptFile, { key, value }: Pair): string {
  const between = value === null ? "" : Buffer.from(bytes.subarray(key.end, value.start)).toString("latin1");
  return /^[ \t]*=[ \t]*$/u.test(between) ? between : " = ";
}

function removalRange(bytes: Uint8Array, pair: Pair): { start: number; end: number } {
  const { isFirst, isLast, start, blanksEnd } = lineAround(bytes, pair);
  if (isFirst && isLast) return { start, end: lineEndAfter(bytes, blanksEnd) };
  return isFirst ? { start: pair.start, end: blanksEnd } : { start: skipBlanksBack(bytes, pair.start), end: pair.end };
}

interface Line {
  readonly start: number;
  /** Where the line end stands. */
  readonly end: number;
  /** Behind the field and the blanks that follow it. */
  readonly blanksEnd: number;
  /** Nothing but blanks stands before it on its line. */
  readonly isFirst: boolean;
  /** Nothing but blanks stands behind it on its line. */
  readonly isLast: boolean;
  /** Nothing but blanks and a comment share its line. */
  readonly isAlone: boolean;
}

function lineAround(bytes: Uint8Array, pair: Pair): Line {
  const start = skipBlanksBack(bytes, pair.start);
  const isFirst = start === 0 || isLineEnd(bytes[start - 1]!);
  let blanksEnd = pair.end;
  while (blanksEnd < bytes.length && isBlank(bytes[blanksEnd]!)) blanksEnd += 1;
  let end = blanksEnd;
  if (bytes[end] === HASH) while (end < bytes.length && !isLineEnd(bytes[end]!)) end += 1;
  const isBare = end === bytes.length || isLineEnd(bytes[end]!);
  return { start, end, blanksEnd, isFirst, isLast: isBare && end === blanksEnd, isAlone: isFirst && isBare };
}

function skipBlanksBack(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at > 0 && isBlank(bytes[at - 1]!)) at -= 1;
  return at;
}

function lineEndAfter(bytes: Uint8Array, at: number): number {
  if (at === bytes.length) return at;
  return bytes[at] === 0x0d && bytes[at + 1] === 0x0a ? at + 2 : at + 1;
}

const HASH = 0x23;
const CLOSE_BRACE = 0x7d;

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09;
}

function isLineEnd(byte: number): boolean {
  return byte === 0x0a || byte === 0x0d;
}
