import type { FindingCollector } from "./findings.ts";
import { operatorOf } from "./operators.ts";
import { excerpt } from "./scan.ts";
import { type Encoding, type Range, type Tokens, tokenKind } from "./syntax.ts";
import { type TreeRows, addRow, closeRow, column, createRows, nextToken, rowWidth } from "./tree-rows.ts";

export interface TreeInput {
  readonly bytes: Uint8Array;
  readonly encoding: Encoding;
  readonly tokens: Tokens;
  /** The tokens do not reach the end of the file, so a missing brace is no slip of the author. */
  readonly truncated: boolean;
  readonly maxDepth: number;
  readonly findings: FindingCollector;
}

export interface Tree {
  readonly rows: TreeRows;
  /** Blocks that the end of the file closes. */
  readonly unclosed: number;
}

/** Finds the entries and blocks of a script in one pass without recursion, and reports where they are not as they should be. */
export function buildTree(input: TreeInput): Tree {
  const { tokens, findings } = input;
  const { kinds, count } = tokens;
  const builder: Builder = { ...input, rows: createRows(count >> 2), open: [] };
  let index = nextToken(tokens, 0);
  while (index < count) {
    switch (kinds[index]) {
      case tokenKind.open:
        index = openBlock(builder, index, addRow(builder.rows, -1, -1, index));
        break;
      case tokenKind.close: {
        const row = builder.open.pop();
        if (row === undefined) findings.report("EXTRA_CLOSE_BRACE", rangeOf(tokens, index));
        else closeRow(builder.rows, row, index);
        index = nextToken(tokens, index + 1);
        break;
      }
      case tokenKind.operator:
        findings.report("OPERATOR_WITHOUT_KEY", rangeOf(tokens, index), quote(builder, index));
        index = nextToken(tokens, index + 1);
        break;
      default:
        index = readEntry(builder, index);
    }
  }
  closeAtEnd(builder);
  return { rows: builder.rows, unclosed: builder.open.length };
}

interface Builder extends TreeInput {
  readonly rows: TreeRows;
  /** Rows of the blocks that are open, outermost first. */
  readonly open: number[];
}

/** Reads what begins with the word or string at `index`; like its helpers it answers with the token to go on with. */
function readEntry(builder: Builder, index: number): number {
  const { tokens, rows, findings } = builder;
  const after = nextToken(tokens, index + 1);
  switch (tokens.kinds[after]) {
    case tokenKind.operator:
      return readValue(builder, index, after);
    case tokenKind.open:
      findings.report("MISSING_OPERATOR", rangeOf(tokens, index), quote(builder, index));
      return openBlock(builder, after, addRow(rows, index, -1, after));
    default:
      addRow(rows, -1, -1, index);
      return after;
  }
}

/** Reads what follows `key operator`. A value that is itself followed by an operator is the next key and must not be lost. */
function readValue(builder: Builder, key: number, operator: number): number {
  const { tokens, rows, findings } = builder;
  const { kinds } = tokens;
  reportOperator(builder, operator);
  let index = nextToken(tokens, operator + 1);
  for (; kinds[index] === tokenKind.operator; index = nextToken(tokens, index + 1)) {
    findings.report("REPEATED_OPERATOR", rangeOf(tokens, index));
  }
  const kind = kinds[index];
  if (kind === tokenKind.open) return openBlock(builder, index, addRow(rows, key, operator, index));
  const after = kind === tokenKind.atom || kind === tokenKind.string ? nextToken(tokens, index + 1) : index;
  if (after === index || kinds[after] === tokenKind.operator) {
    findings.report("MISSING_VALUE", { start: tokens.starts[key]!, end: tokens.ends[operator]! }, quote(builder, key));
    addRow(rows, key, operator, -1);
    return index;
  }
  if (kinds[after] === tokenKind.open) {
    if (kind === tokenKind.atom && isHeader(builder, index)) return openBlock(builder, after, addRow(rows, key, operator, after));
    findings.report("UNATTACHED_BLOCK", { start: tokens.starts[index]!, end: tokens.ends[after]! }, quote(builder, index));
  }
  addRow(rows, key, operator, index);
  return after;
}

function reportOperator(builder: Builder, index: number): void {
  const range = rangeOf(builder.tokens, index);
  if (range.end - range.start === 1) return;
  const code = operatorOf(builder.bytes, range) === "unknown" ? "UNKNOWN_OPERATOR" : "UNSUPPORTED_OPERATOR";
  builder.findings.report(code, range, quote(builder, index));
}

/** Words that make a block a colour, or a list in other games of the engine. Each may also be a country tag, so position decides. */
const headers = new Set(["rgb", "hsv", "hsv360", "hex", "list"]);

function isHeader({ bytes, encoding, tokens }: Builder, index: number): boolean {
  const { start, end } = rangeOf(tokens, index);
  return end - start <= 6 && headers.has(excerpt({ bytes, encoding }, start, end).toLowerCase());
}

function openBlock(builder: Builder, index: number, row: number): number {
  const { bytes, tokens, rows, open, maxDepth, findings } = builder;
  if (open.length < maxDepth) {
    open.push(row);
    return nextToken(tokens, index + 1);
  }
  const close = matchingClose(tokens, index);
  const end = close < tokens.count ? tokens.ends[close]! : bytes.length;
  findings.report("DEPTH_LIMIT", { start: tokens.starts[index]!, end }, String(maxDepth));
  closeRow(rows, row, close);
  return nextToken(tokens, close + 1);
}

/** The token count when the block is not closed. */
function matchingClose({ kinds, count }: Tokens, open: number): number {
  let depth = 0;
  for (let index = open; index < count; index++) {
    if (kinds[index] === tokenKind.open) depth += 1;
    else if (kinds[index] === tokenKind.close) depth -= 1;
    if (depth === 0) return index;
  }
  return count;
}

function closeAtEnd({ bytes, tokens, rows, open, truncated, findings }: Builder): void {
  for (const row of open) closeRow(rows, row, tokens.count);
  if (truncated || open.length === 0) return;
  for (const row of open) findings.report("MISSING_CLOSE_BRACE", rangeOf(tokens, rows.cells[row * rowWidth + column.value]!));
  // Text added at the end would land inside the unclosed block, so the end is as doubtful as the brace.
  findings.block({ start: bytes.length, end: bytes.length });
}

function rangeOf({ starts, ends }: Tokens, index: number): Range {
  return { start: starts[index]!, end: ends[index]! };
}

function quote({ bytes, encoding, tokens }: Builder, index: number): string {
  return excerpt({ bytes, encoding }, tokens.starts[index]!, tokens.ends[index]!);
}
