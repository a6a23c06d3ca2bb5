import { asBuffer } from "./encoding.ts";
import type { FindingCollector } from "./findings.ts";
import type { Block, Pair } from "./syntax.ts";
import { blockOf } from "./walk.ts";

/**
 * Where a file ends inside blocks, looks for the line at which its author had already left them: a block that is indented like the unclosed one
 * and has the same key (an event inside an event), or that starts in the first column with a key otherwise seen at the root. Only reports; the tree stays as the game reads it.
 */
export function reportProbableBraces({ root, bytes, findings }: { root: Block; bytes: Uint8Array; findings: FindingCollector }): void {
  const rootKeys = new Set<string>();
  const unclosed: Pair[] = [];
  for (let block = unclosedAtEnd(root); block !== null; block = unclosedAtEnd(block.inner)) {
    if (rootKeys.size === 0) for (const entry of root.entries) if (entry.kind === "pair") rootKeys.add(entry.key.text.toLowerCase());
    if (block.owner !== null) unclosed.push(block.owner);
    const suspect = firstOutsider({ block: block.inner, unclosed, rootKeys, bytes });
    if (suspect !== null) findings.report("PROBABLE_MISSING_BRACE", suspect.key, suspect.key.text);
  }
}

/** An unclosed block is always the last entry of the block around it. */
function unclosedAtEnd({ entries }: Block): { inner: Block; owner: Pair | null } | null {
  const last = entries.at(-1);
  const inner = last === undefined ? null : blockOf(last.value);
  if (last === undefined || inner === null || inner.closed) return null;
  return { inner, owner: last.kind === "pair" ? last : null };
}

interface Inside {
  readonly block: Block;
  /** The unclosed pairs around the block's entries, outermost first. */
  readonly unclosed: readonly Pair[];
  readonly rootKeys: ReadonlySet<string>;
  readonly bytes: Uint8Array;
}

function firstOutsider({ block, unclosed, rootKeys, bytes }: Inside): Pair | null {
  const own = unclosed.at(-1);
  const ownIndentation = own === undefined ? null : indentationOf(bytes, own);
  for (const entry of block.entries) {
    if (entry.kind !== "pair") continue;
    const indentation = indentationOf(bytes, entry);
    if (indentation === null) continue;
    if (blockOf(entry.value) !== null) {
      const key = entry.key.text.toLowerCase();
      if (indentation === "" && rootKeys.has(key)) return entry;
      if (unclosed.some((outer) => outer.key.text.toLowerCase() === key && indentationOf(bytes, outer) === indentation)) return entry;
    }
    // In a file that does not indent its blocks, the column of a key says nothing.
    if (ownIndentation !== null && indentation.length <= ownIndentation.length) return null;
  }
  return null;
}

/** The white space before an entry, or null when other things stand before it on its line. */
function indentationOf(bytes: Uint8Array, { start }: Pair): string | null {
  let at = start;
  while (at > 0 && (bytes[at - 1] === 0x20 || bytes[at - 1] === 0x09)) at -= 1;
  const before = bytes[at - 1];
  const isLineStart = at === 0 || before === 0x0a || before === 0x0d || (at === 3 && bytes[0] === 0xef && before === 0xbf);
  return isLineStart ? asBuffer(bytes).toString("latin1", at, start) : null;
}
