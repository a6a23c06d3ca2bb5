import { asBuffer } from "./encoding.ts";
import type { FindingCollector } from "./findings.ts";
import type { Block, Entry, Pair } from "./syntax.ts";
import { blockOf } from "./walk.ts";

/**
 * Where a file ends inside blocks, looks for the lines at which its author had already left one: a block with the key and the indentation
 * of a block around it (an event inside an event), or in the first column with a key that occurs at the root. Reports no more
 * places than braces are missing. The tree stays as the game reads it.
 */
export function reportProbableBraces({ root, unclosed, bytes, findings }: BrokenTree): void {
  // An unclosed block is always the last entry of the block around it.
  const outermost = root.entries.at(-1);
  if (outermost === undefined) return;
  const rootKeys = new Set(root.entries.filter(isPair).map(keyOf));
  const search: Search = { bytes, rootKeys, outsiders: [] };
  searchEntry(search, outermost, []);
  for (const { key } of search.outsiders.slice(0, unclosed)) findings.report("PROBABLE_MISSING_BRACE", key, key.text);
}

interface BrokenTree {
  readonly root: Block;
  /** How many blocks the end of the file closes. */
  readonly unclosed: number;
  readonly bytes: Uint8Array;
  readonly findings: FindingCollector;
}

interface Search {
  readonly bytes: Uint8Array;
  readonly rootKeys: ReadonlySet<string>;
  /** Pairs that probably stand behind a missing brace, in source order. */
  readonly outsiders: Pair[];
}

interface Owner {
  readonly key: string;
  /** White space before the key; null when it does not begin its line. */
  readonly indentation: string | null;
  /** Its content is not indented, so the column of a key inside says nothing. */
  readonly isFlat: boolean;
  /** A place where the author left this block is known. */
  isLeft: boolean;
}

/** Hand-written blocks are never this deep, and the search recurses. */
const maxSearchDepth = 64;

function searchEntry(search: Search, entry: Entry, around: readonly Owner[]): void {
  const block = blockOf(entry.value);
  if (block === null || around.length >= maxSearchDepth) return;
  const owner = ownerOf(search, entry, block);
  const left = around.find((outer) => leaves(search, owner, outer));
  if (left !== undefined && entry.kind === "pair") {
    left.isLeft = true;
    search.outsiders.push(entry);
  }
  const inside = [...around, owner];
  for (const inner of block.entries) searchEntry(search, inner, inside);
}

function leaves({ rootKeys }: Search, inner: Owner, outer: Owner): boolean {
  if (inner.indentation === null || inner.indentation !== outer.indentation || outer.isFlat || outer.isLeft) return false;
  return inner.key === outer.key || (inner.indentation === "" && rootKeys.has(inner.key));
}

function ownerOf({ bytes }: Search, entry: Entry, block: Block): Owner {
  if (entry.kind === "value") return { key: "", indentation: null, isFlat: true, isLeft: false };
  const indentation = indentationAt(bytes, entry.start);
  const [first] = block.entries;
  const inside = first === undefined ? null : indentationAt(bytes, first.kind === "pair" ? first.start : first.value.start);
  const isFlat = indentation !== null && inside !== null && inside.length <= indentation.length;
  return { key: keyOf(entry), indentation, isFlat, isLeft: false };
}

function isPair(entry: Entry): entry is Pair {
  return entry.kind === "pair";
}

function keyOf({ key }: Pair): string {
  return key.text.toLowerCase();
}

function indentationAt(bytes: Uint8Array, start: number): string | null {
  let at = start;
  while (at > 0 && (bytes[at - 1] === 0x20 || bytes[at - 1] === 0x09)) at -= 1;
  const before = bytes[at - 1];
  const isLineStart = at === 0 || before === 0x0a || before === 0x0d || (at === 3 && bytes[0] === 0xef && before === 0xbf);
  return isLineStart ? asBuffer(bytes).toString("latin1", at, start) : null;
}
