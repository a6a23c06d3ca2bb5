import { type Tokens, tokenKind } from "./syntax.ts";

/**
 * The tree as token indexes, one row per entry in source order, children behind their parent. A row is a tenth of the objects it stands for,
 * so a file costs little until somebody walks into it.
 */
export interface TreeRows {
  cells: Int32Array;
  count: number;
}

/** Cells of a row. */
export const column = {
  /** -1 for an entry without a key. */
  key: 0,
  /** -1 where the operator is left out. */
  operator: 1,
  /** The scalar or opening brace, -1 for a forgotten value. */
  value: 2,
  /** The closing brace of a block, or the token count when it is missing. */
  close: 3,
  /** The first row behind this entry and its children. */
  next: 4,
} as const;

export const rowWidth = 5;

export function createRows(expected: number): TreeRows {
  return { cells: new Int32Array((expected + 16) * rowWidth), count: 0 };
}

/** Adds an entry without children and returns its row. */
export function addRow(rows: TreeRows, key: number, operator: number, value: number): number {
  const row = rows.count;
  const base = row * rowWidth;
  if (base === rows.cells.length) {
    const grown = new Int32Array(base * 2);
    grown.set(rows.cells);
    rows.cells = grown;
  }
  const { cells } = rows;
  cells[base + column.key] = key;
  cells[base + column.operator] = operator;
  cells[base + column.value] = value;
  cells[base + column.next] = row + 1;
  rows.count = row + 1;
  return row;
}

/** Makes every row added since `row` a child of it. */
export function closeRow(rows: TreeRows, row: number, closeToken: number): void {
  rows.cells[row * rowWidth + column.close] = closeToken;
  rows.cells[row * rowWidth + column.next] = rows.count;
}

/** The first token from `from` on that is no trivia, or the token count. */
export function nextToken({ kinds, count }: Tokens, from: number): number {
  let index = from;
  while (index < count && kinds[index]! <= tokenKind.lastTrivia) index += 1;
  return index;
}

/** The last token before `before` that is no trivia, or -1. */
export function previousToken({ kinds }: Tokens, before: number): number {
  let index = before - 1;
  while (index >= 0 && kinds[index]! <= tokenKind.lastTrivia) index -= 1;
  return index;
}
