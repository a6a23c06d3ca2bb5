import { decodeBytes } from "./encoding.ts";
import { operatorOf } from "./operators.ts";
import { type Bare, type Block, type Encoding, type Entry, type Pair, type Scalar, type Tokens, type Value, tokenKind } from "./syntax.ts";
import { type TreeRows, column, previousToken, rowWidth } from "./tree-rows.ts";

/** What all nodes of one file share. */
export interface NodeSource {
  readonly bytes: Uint8Array;
  readonly encoding: Encoding;
  readonly tokens: Tokens;
  readonly rows: TreeRows;
  /** Start of the one string without a closing quote, or -1. */
  readonly unterminatedAt: number;
}

/** The root block of a file; the nodes below are made when `entries` of their block is first read. */
export function rootBlock(source: NodeSource, { closed }: { closed: boolean }): Block {
  return new SourceBlock(source, { start: 0, end: source.bytes.length, closed, firstRow: 0, endRow: source.rows.count });
}

interface BlockShape {
  readonly start: number;
  readonly end: number;
  readonly closed: boolean;
  readonly firstRow: number;
  readonly endRow: number;
}

// Nodes are classes because a large script has hundreds of thousands: their accessors live on the prototype, and the shared source stays out of sight.
class SourceBlock implements Block {
  readonly kind = "block";
  readonly start: number;
  readonly end: number;
  readonly closed: boolean;
  readonly #source: NodeSource;
  readonly #firstRow: number;
  readonly #endRow: number;
  #entries: readonly Entry[] | null = null;

  constructor(source: NodeSource, { start, end, closed, firstRow, endRow }: BlockShape) {
    this.start = start;
    this.end = end;
    this.closed = closed;
    this.#source = source;
    this.#firstRow = firstRow;
    this.#endRow = endRow;
  }

  get entries(): readonly Entry[] {
    this.#entries ??= readEntries(this.#source, this.#firstRow, this.#endRow);
    return this.#entries;
  }
}

function readEntries(source: NodeSource, firstRow: number, endRow: number): readonly Entry[] {
  if (firstRow === endRow) return noEntries;
  const { cells } = source.rows;
  const entries: Entry[] = [];
  for (let row = firstRow; row < endRow; row = cells[row * rowWidth + column.next]!) entries.push(entryAt(source, row));
  return entries;
}

const noEntries: readonly Entry[] = Object.freeze([]);

function entryAt(source: NodeSource, row: number): Pair | Bare {
  const { bytes, tokens, rows } = source;
  const base = row * rowWidth;
  const key = rows.cells[base + column.key]!;
  const operator = rows.cells[base + column.operator]!;
  const value = valueAt(source, row);
  if (key < 0) return { kind: "value", value: value! };
  const start = tokens.starts[key]!;
  const end = value === null ? tokens.ends[operator]! : value.end;
  return {
    kind: "pair",
    key: new SourceScalar(source, key),
    operator: operator < 0 ? "=" : operatorOf(bytes, { start: tokens.starts[operator]!, end: tokens.ends[operator]! }),
    implicit: operator < 0,
    value,
    start,
    end,
  };
}

function valueAt(source: NodeSource, row: number): Value | null {
  const { bytes, tokens, rows } = source;
  const base = row * rowWidth;
  const value = rows.cells[base + column.value]!;
  if (value < 0) return null;
  if (tokens.kinds[value] !== tokenKind.open) return new SourceScalar(source, value);
  const close = rows.cells[base + column.close]!;
  const closed = close < tokens.count;
  const end = closed ? tokens.ends[close]! : bytes.length;
  const start = tokens.starts[value]!;
  const block = new SourceBlock(source, { start, end, closed, firstRow: row + 1, endRow: rows.cells[base + column.next]! });
  // Between the operator of a pair and its block stands nothing but a header word.
  const before = rows.cells[base + column.operator]! < 0 ? -1 : previousToken(tokens, value);
  if (before < 0 || tokens.kinds[before] !== tokenKind.atom) return block;
  const tag = new SourceScalar(source, before);
  return { kind: "tagged-block", tag, block, start: tag.start, end };
}

class SourceScalar implements Scalar {
  readonly kind = "scalar";
  readonly start: number;
  readonly end: number;
  readonly quoted: boolean;
  readonly #source: NodeSource;

  constructor(source: NodeSource, token: number) {
    this.start = source.tokens.starts[token]!;
    this.end = source.tokens.ends[token]!;
    this.quoted = source.tokens.kinds[token] === tokenKind.string;
    this.#source = source;
  }

  get text(): string {
    if (!this.quoted) return decodeBytes(this.#source, this.start, this.end);
    const inner = decodeBytes(this.#source, this.start + 1, this.#innerEnd());
    return inner.includes("\\") ? inner.replaceAll(/\\(["\\])/g, "$1") : inner;
  }

  is(keyword: string): boolean {
    const { bytes } = this.#source;
    const start = this.quoted ? this.start + 1 : this.start;
    const end = this.quoted ? this.#innerEnd() : this.end;
    if (end - start !== keyword.length) return false;
    for (let at = start; at < end; at++) {
      const byte = bytes[at]!;
      const lower = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
      if (lower !== keyword.charCodeAt(at - start)) return false;
    }
    return true;
  }

  #innerEnd(): number {
    return this.start === this.#source.unterminatedAt ? this.end : this.end - 1;
  }
}
