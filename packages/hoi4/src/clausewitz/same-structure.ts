import { asBuffer } from "./encoding.ts";
import type { FieldEdit } from "./field-edit.ts";
import type { Block, Entry, Pair, Range, Scalar, ScriptFile, Value } from "./syntax.ts";

/** Whether `after` is `before` with exactly these fields changed: same words, same quotes, same blocks, in the same order. */
export function differsOnlyBy(before: ScriptFile, after: ScriptFile, edits: readonly FieldEdit[]): boolean {
  if (before.encoding !== after.encoding) return false;
  const comparison = { ...planOf(edits), before: asBuffer(before.bytes), after: asBuffer(after.bytes) };
  return isSameBlock(comparison, before.root, after.root);
}

/** The edits by where the field starts that each is about. */
interface Plan {
  readonly replaced: ReadonlyMap<number, string>;
  readonly removed: ReadonlySet<number>;
  readonly inserted: ReadonlyMap<number, readonly NewField[]>;
}

interface NewField {
  readonly key: string;
  readonly text: string;
}

interface Comparison extends Plan {
  readonly before: Buffer;
  readonly after: Buffer;
}

function planOf(edits: readonly FieldEdit[]): Plan {
  const insertions = edits.filter((edit) => edit.kind === "insert");
  return {
    replaced: new Map(edits.filter((edit) => edit.kind === "replace").map(({ pair, text }) => [pair.start, text])),
    removed: new Set(edits.filter((edit) => edit.kind === "remove").map(({ pair }) => pair.start)),
    inserted: Map.groupBy(insertions, ({ after }) => after.start),
  };
}

/** Scripts are at most 256 levels deep. */
function isSameBlock(comparison: Comparison, before: Block, after: Block): boolean {
  if (before.closed !== after.closed) return false;
  const found = after.entries;
  let at = 0;
  for (const entry of before.entries) {
    if (entry.kind === "value") {
      if (!isSameEntry(comparison, entry, found[at++])) return false;
      continue;
    }
    if (!comparison.removed.has(entry.start) && !isSameEntry(comparison, entry, found[at++])) return false;
    for (const field of comparison.inserted.get(entry.start) ?? []) if (!isNewField(field, found[at++])) return false;
  }
  return at === found.length;
}

function isSameEntry(comparison: Comparison, before: Entry, after: Entry | undefined): boolean {
  if (before.kind === "value") return after?.kind === "value" && isSameValue(comparison, before.value, after.value);
  return after?.kind === "pair" && isSamePair(comparison, before, after);
}

function isSamePair(comparison: Comparison, before: Pair, after: Pair): boolean {
  if (before.operator !== after.operator || before.implicit !== after.implicit) return false;
  if (!isSameText(comparison, before.key, after.key)) return false;
  if (before.value === null || after.value === null) return before.value === after.value;
  const text = comparison.replaced.get(before.start);
  if (text === undefined) return isSameValue(comparison, before.value, after.value);
  const isScalar = before.value.kind === "scalar" && after.value.kind === "scalar";
  return isScalar && before.value.quoted === after.value.quoted && after.value.text === text;
}

function isNewField({ key, text }: NewField, after: Entry | undefined): boolean {
  if (after?.kind !== "pair" || after.operator !== "=" || after.value?.kind !== "scalar") return false;
  return isPlain(after.key, key) && isPlain(after.value, text);
}

function isPlain(scalar: Scalar, text: string): boolean {
  return !scalar.quoted && scalar.text === text;
}

function isSameValue(comparison: Comparison, before: Value, after: Value): boolean {
  if (before.kind === "scalar") return after.kind === "scalar" && isSameText(comparison, before, after);
  if (before.kind === "block") return after.kind === "block" && isSameBlock(comparison, before, after);
  if (after.kind !== "tagged-block" || !isSameText(comparison, before.tag, after.tag)) return false;
  return isSameBlock(comparison, before.block, after.block);
}

/** Byte for byte, quotes included: nothing is decoded, and no two texts that look alike pass for each other. */
function isSameText({ before, after }: Comparison, a: Range, b: Range): boolean {
  return before.compare(after, b.start, b.end, a.start, a.end) === 0;
}
