import type { FieldEdit } from "./field-edit.ts";
import type { Block, Entry, Pair, ScriptFile, Value } from "./syntax.ts";

/** Whether `after` is `before` with exactly these fields changed: same words, same quotes, same blocks, in the same order. */
export function differsOnlyBy(before: ScriptFile, after: ScriptFile, edits: readonly FieldEdit[]): boolean {
  const wanted = wordsOf(before.root, planOf(edits));
  const found = wordsOf(after.root, planOf([]));
  for (;;) {
    const [one, other] = [wanted.next(), found.next()];
    if (one.done === true || other.done === true) return one.done === other.done;
    if (one.value !== other.value) return false;
  }
}

/** By where the field starts that it is about. */
interface Plan {
  readonly replaced: ReadonlyMap<number, string>;
  readonly removed: ReadonlySet<number>;
  readonly inserted: ReadonlyMap<number, readonly { readonly key: string; readonly text: string }[]>;
}

function planOf(edits: readonly FieldEdit[]): Plan {
  const insertions = edits.filter((edit) => edit.kind === "insert");
  return {
    replaced: new Map(edits.filter((edit) => edit.kind === "replace").map(({ pair, text }) => [pair.start, text])),
    removed: new Set(edits.filter((edit) => edit.kind === "remove").map(({ pair }) => pair.start)),
    inserted: Map.groupBy(insertions, ({ after }) => after.start),
  };
}

/** A block as a flat list of words that no two different blocks share; scripts are at most 256 levels deep. */
function* wordsOf(block: Block, plan: Plan): Generator<string> {
  for (const entry of block.entries) {
    if (entry.kind === "value") yield* valueWords(entry.value, plan);
    else if (!plan.removed.has(entry.start)) yield* pairWords(entry, plan);
    if (entry.kind === "pair") for (const { key, text } of plan.inserted.get(entry.start) ?? []) yield* [key, "=", text].map(plain);
  }
}

function* pairWords(pair: Pair & Entry, plan: Plan): Generator<string> {
  yield scalarWord(pair.key);
  yield plain(pair.operator);
  const text = plan.replaced.get(pair.start);
  if (pair.value === null) yield "nothing";
  else if (text !== undefined && pair.value.kind === "scalar") yield scalarWord({ quoted: pair.value.quoted, text });
  else yield* valueWords(pair.value, plan);
}

function* valueWords(value: Value, plan: Plan): Generator<string> {
  switch (value.kind) {
    case "scalar":
      yield scalarWord(value);
      break;
    case "tagged-block":
      yield scalarWord(value.tag);
      yield* valueWords(value.block, plan);
      break;
    case "block":
      yield "open";
      yield* wordsOf(value, plan);
      yield value.closed ? "close" : "end of file";
  }
}

function scalarWord({ quoted, text }: { readonly quoted: boolean; readonly text: string }): string {
  return quoted ? JSON.stringify(text) : plain(text);
}

/** Told apart from the words that stand for structure. */
function plain(text: string): string {
  return `'${text}`;
}
