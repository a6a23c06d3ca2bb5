import { compareText } from "../compare-text.ts";
import { type Position, positionAt, type Range, type ScriptFile } from "../clausewitz/index.ts";

/** A range in a file of some layer, as findings carry it. */
export interface SourceLocation {
  /** Labelled by layer: `mod:events/a.txt`. */
  readonly path: string;
  readonly start: Position;
  readonly end: Position;
  /** The id or name that stands there, when it has one. */
  readonly symbol?: string;
}

/** Where a definition or a call begins, as graphs carry it. */
export interface SourcePoint {
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

/** Bytes with the encoding that says what is a character. */
export type Positioned = Pick<ScriptFile, "bytes" | "encoding">;

export function locate(path: string, file: Positioned, range: Range, symbol?: string): SourceLocation {
  const location = { path, start: positionAt(file, range.start), end: positionAt(file, range.end) };
  return symbol === undefined ? location : { ...location, symbol };
}

/** What concerns a file as a whole stands at its beginning. */
export function startOf(path: string): SourceLocation {
  const start = { line: 1, column: 1, offset: 0 };
  return { path, start, end: start };
}

export function pointOf({ path, start }: SourceLocation): SourcePoint {
  return { path, line: start.line, column: start.column };
}

export function comparePoints(a: SourcePoint, b: SourcePoint): number {
  return compareText(a.path, b.path) || a.line - b.line || a.column - b.column;
}
