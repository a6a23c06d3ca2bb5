import { lastAtOrBefore } from "./positions.ts";
import { type Edit, type Range, type ScriptFile, type Tokens, tokenKind } from "./syntax.ts";

/**
 * The file's bytes with the ranges replaced and every other byte left alone. Throws `EditRefusedError` for a range outside the file, for
 * edits that overlap, and for an edit next to a place whose structure is a guess. Insertions at one offset keep the order they are given in.
 */
export function applyEdits(file: ScriptFile, edits: readonly Edit[]): Uint8Array {
  const ordered = edits.toSorted((a, b) => a.start - b.start || a.end - b.end);
  let settled = 0;
  let size = file.bytes.length;
  for (const edit of ordered) {
    if (!isInside(file.bytes, edit)) throw new EditRefusedError("outside", edit);
    if (edit.start < settled) throw new EditRefusedError("overlap", edit);
    if (touchesGuess(file, edit)) throw new EditRefusedError("guess", edit);
    settled = edit.end;
    size += edit.bytes.length - (edit.end - edit.start);
  }
  const result = new Uint8Array(size);
  let from = 0;
  let to = 0;
  for (const edit of ordered) {
    result.set(file.bytes.subarray(from, edit.start), to);
    to += edit.start - from;
    result.set(edit.bytes, to);
    to += edit.bytes.length;
    from = edit.end;
  }
  result.set(file.bytes.subarray(from), to);
  return result;
}

/** The file put together from its tokens; equal to its bytes, because tokens leave nothing out. */
export function renderTokens({ bytes, tokens: { count, starts, ends } }: ScriptFile): Uint8Array {
  let size = 0;
  for (let index = 0; index < count; index++) size += ends[index]! - starts[index]!;
  const result = new Uint8Array(size);
  let to = 0;
  for (let index = 0; index < count; index++) {
    result.set(bytes.subarray(starts[index], ends[index]), to);
    to += ends[index]! - starts[index]!;
  }
  return result;
}

export type EditRefusal = "outside" | "overlap" | "guess";

/** The edits of a file are applied all or not at all; `range` is the first one that cannot be. */
export class EditRefusedError extends Error {
  override readonly name = "EditRefusedError";
  readonly refusal: EditRefusal;
  readonly range: Range;

  constructor(refusal: EditRefusal, { start, end }: Range) {
    super(`The edit of bytes ${start} to ${end} was refused: ${reasons[refusal]}. Nothing was changed.`);
    this.refusal = refusal;
    this.range = { start, end };
  }
}

const reasons: Record<EditRefusal, string> = {
  outside: "the range does not lie in the file",
  overlap: "it overlaps another edit",
  guess: "the structure of the script next to it is a guess, see the findings there",
};

function isInside(bytes: Uint8Array, { start, end }: Range): boolean {
  return Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && end <= bytes.length;
}

/** Looks as far as the nearest meaningful tokens, because white space between an edit and a stray brace does not part them. */
function touchesGuess({ bytes, tokens, blocked }: ScriptFile, edit: Range): boolean {
  const start = meaningfulStart(tokens, edit.start);
  const end = meaningfulEnd(tokens, edit.end, bytes.length);
  return blocked.some((guess) =>
    guess.start === guess.end ? guess.start <= end && guess.end >= start : guess.start < end && guess.end > start,
  );
}

function meaningfulStart({ kinds, starts, count }: Tokens, offset: number): number {
  if (count === 0) return 0;
  let index = lastAtOrBefore(starts, Math.max(offset - 1, 0));
  while (index > 0 && kinds[index]! <= tokenKind.lastTrivia) index -= 1;
  return starts[index]!;
}

function meaningfulEnd({ kinds, starts, ends, count }: Tokens, offset: number, length: number): number {
  if (count === 0) return length;
  let index = lastAtOrBefore(starts, offset);
  while (index < count && kinds[index]! <= tokenKind.lastTrivia) index += 1;
  return index < count ? ends[index]! : length;
}
