import type { Position, ScriptFile } from "./syntax.ts";

/** Line and column of a byte offset; offsets outside the file are moved to its nearest end. The first call for a file reads it once. */
export function positionAt(file: Pick<ScriptFile, "bytes" | "encoding">, offset: number): Position {
  const { bytes } = file;
  const inside = Math.min(Math.max(offset, 0), bytes.length);
  const index = lineIndex(file);
  const line = lastAtOrBefore(index.lineStarts, inside);
  const column = charactersBefore(index, bytes, inside) - charactersBefore(index, bytes, index.lineStarts[line]!) + 1;
  return { line: line + 1, column, offset: inside };
}

interface LineIndex {
  readonly lineStarts: Uint32Array;
  /** Bytes that start no character, counted before each whole stride: a column costs one stride however long its line is. */
  readonly silentBefore: Uint32Array;
  readonly isSilent: (byte: number) => boolean;
  /** Bytes of the byte order mark, which have no column. */
  readonly markLength: number;
}

const strideBits = 10;

const indexes = new WeakMap<Uint8Array, LineIndex>();

function lineIndex({ bytes, encoding }: Pick<ScriptFile, "bytes" | "encoding">): LineIndex {
  const known = indexes.get(bytes);
  if (known !== undefined) return known;
  const isSilent = encoding === "windows-1252" ? () => false : isContinuation;
  const lineStarts = new Uint32Array(countLines(bytes));
  const silentBefore = new Uint32Array((bytes.length >> strideBits) + 1);
  let silent = 0;
  let lines = 1;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if ((at & ((1 << strideBits) - 1)) === 0) silentBefore[at >> strideBits] = silent;
    if (endsLine(bytes, at)) lineStarts[lines++] = at + 1;
    else if (byte >= 0x80 && isSilent(byte)) silent += 1;
  }
  if ((bytes.length & ((1 << strideBits) - 1)) === 0) silentBefore[bytes.length >> strideBits] = silent;
  const index = { lineStarts, silentBefore, isSilent, markLength: encoding === "utf-8-bom" ? 3 : 0 };
  indexes.set(bytes, index);
  return index;
}

function countLines(bytes: Uint8Array): number {
  let lines = 1;
  for (let at = 0; at < bytes.length; at++) if (endsLine(bytes, at)) lines += 1;
  return lines;
}

/** The pair CR LF ends its line at the LF. */
function endsLine(bytes: Uint8Array, at: number): boolean {
  const byte = bytes[at];
  return byte === 0x0a || (byte === 0x0d && bytes[at + 1] !== 0x0a);
}

function charactersBefore({ silentBefore, isSilent, markLength }: LineIndex, bytes: Uint8Array, offset: number): number {
  if (offset <= markLength) return 0;
  const stride = offset >> strideBits;
  let silent = silentBefore[stride]!;
  for (let at = stride << strideBits; at < offset; at++) if (isSilent(bytes[at]!)) silent += 1;
  return offset - silent - (markLength > 0 ? 1 : 0);
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** Index of the last element of ascending `values` that is not greater than `value`; the first element must not be greater. */
export function lastAtOrBefore(values: Uint32Array, value: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (values[middle]! <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}
