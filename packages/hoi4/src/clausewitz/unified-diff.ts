import { decodeBytes } from "./encoding.ts";
import type { Edit, ScriptFile } from "./syntax.ts";

/**
 * The edits of a file as a unified diff, in UTF-8 whatever the file is in. They are known, so nothing has to be searched for:
 * the lines that they touch are the ones that changed. Edits must not overlap, as `applyEdits` demands.
 */
export function unifiedDiff({ path, before, edits }: { path: string; before: ScriptFile; edits: readonly Edit[] }): string {
  const lines = cutLines(before.bytes);
  const changes = changedLines(before, lines, edits);
  if (changes.length === 0) return "";
  const hunks: string[] = [];
  let shift = 0;
  for (let from = 0; from < changes.length;) {
    let to = from + 1;
    while (to < changes.length && changes[to]!.first - changes[to - 1]!.end <= 2 * CONTEXT) to += 1;
    const { text, growth } = hunkOf({ before, lines, changes: changes.slice(from, to), shift });
    hunks.push(text);
    shift += growth;
    from = to;
  }
  return [`--- a/${path}\n`, `+++ b/${path}\n`, ...hunks].join("");
}

const CONTEXT = 3;

/** Lines `first` to before `end` of the old file give way to others; all texts have their line ends. */
interface LineChange {
  readonly first: number;
  readonly end: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** Offsets at which lines start, and the length of the file as the last of them. */
function cutLines(bytes: Uint8Array): number[] {
  const starts = [0];
  for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) starts.push(at + 1);
  if (starts.at(-1) !== bytes.length) starts.push(bytes.length);
  return starts;
}

const LINE_FEED = 0x0a;

function changedLines(before: ScriptFile, lines: readonly number[], edits: readonly Edit[]): LineChange[] {
  const groups: { first: number; end: number; edits: Edit[] }[] = [];
  for (const edit of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    const [first, end] = [lineAt(lines, edit.start), lineAt(lines, edit.end) + 1];
    const last = groups.at(-1);
    if (last !== undefined && first < last.end) {
      last.end = Math.max(last.end, end);
      last.edits.push(edit);
    } else groups.push({ first, end, edits: [edit] });
  }
  const changes = groups.map((group) => {
    const removed = textLines(before, before.bytes.subarray(lines[group.first], lines[group.end]));
    const added = textLines(before, spliced(before.bytes, { start: lines[group.first]!, end: lines[group.end]! }, group.edits));
    return withoutSame({ first: group.first, end: group.end, removed, added });
  });
  return changes.filter(({ removed, added }) => removed.length + added.length > 0);
}

/** Index of the line that an offset stands in; the end of the file belongs to the last line. */
function lineAt(lines: readonly number[], offset: number): number {
  let [low, high] = [0, Math.max(0, lines.length - 2)];
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (lines[middle]! <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

function spliced(bytes: Uint8Array, { start, end }: { start: number; end: number }, edits: readonly Edit[]): Uint8Array {
  const parts: Uint8Array[] = [];
  let at = start;
  for (const edit of edits) {
    parts.push(bytes.subarray(at, edit.start), edit.bytes);
    at = edit.end;
  }
  return Buffer.concat([...parts, bytes.subarray(at, end)]);
}

function textLines({ encoding }: ScriptFile, bytes: Uint8Array): string[] {
  return decodeBytes({ bytes, encoding }, 0, bytes.length).match(/[^\n]*\n|[^\n]+$/gu) ?? [];
}

/** An edit that takes away a whole line reaches the start of the next one, which stays as it was. */
function withoutSame({ first, end, removed, added }: LineChange): LineChange {
  const most = Math.min(removed.length, added.length);
  let head = 0;
  while (head < most && removed[head] === added[head]) head += 1;
  let tail = 0;
  while (tail < most - head && removed.at(-1 - tail) === added.at(-1 - tail)) tail += 1;
  const middle = (texts: readonly string[]) => texts.slice(head, texts.length - tail);
  return { first: first + head, end: end - tail, removed: middle(removed), added: middle(added) };
}

function hunkOf({
  before,
  lines,
  changes,
  shift,
}: {
  before: ScriptFile;
  lines: readonly number[];
  changes: readonly LineChange[];
  /** By how many lines the new file is longer up to here. */
  shift: number;
}): { text: string; growth: number } {
  const from = Math.max(0, changes[0]!.first - CONTEXT);
  const to = Math.min(lines.length - 1, changes.at(-1)!.end + CONTEXT);
  const body: string[] = [];
  let at = from;
  const keepUntil = (end: number) => {
    for (; at < end; at++)
      body.push(...textLines(before, before.bytes.subarray(lines[at], lines[at + 1])).map((line) => marked(" ", line)));
  };
  let growth = 0;
  for (const { first, end, removed, added } of changes) {
    keepUntil(first);
    body.push(...removed.map((line) => marked("-", line)), ...added.map((line) => marked("+", line)));
    growth += added.length - removed.length;
    at = end;
  }
  keepUntil(to);
  const header = `@@ -${rangeText(from, to - from)} +${rangeText(from + shift, to - from + growth)} @@\n`;
  return { text: [header, ...body].join(""), growth };
}

function marked(sign: string, line: string): string {
  return line.endsWith("\n") ? `${sign}${line}` : `${sign}${line}\n\\ No newline at end of file\n`;
}

/** A range without lines is named by the line before it. */
function rangeText(from: number, count: number): string {
  return `${count === 0 ? from : from + 1},${count}`;
}
