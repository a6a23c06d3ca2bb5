import { createHash } from "node:crypto";
import { clipText } from "../clip-text.ts";
import type { Block, Entry, Scalar, Value } from "../clausewitz/index.ts";

/** Longer expressions are cut and end in an ellipsis. Characters. */
export const EXPRESSION_LIMIT = 16 * 1024;

/**
 * The entries of a block in one line, single spaces between words, comments gone: the same script gives the same text
 * however it is laid out and wherever it stands.
 */
export function renderExpression(block: Block): string {
  return renderExpressions([block]);
}

/** Blocks that mean as much as one with all their entries. */
export function renderExpressions(blocks: readonly Block[]): string {
  const writer = { parts: [] as string[], left: EXPRESSION_LIMIT + 1 };
  for (const block of blocks) writeEntries(writer, block);
  return clipText(writer.parts.join(" "), EXPRESSION_LIMIT);
}

export function renderValue(value: Value): string {
  if (value.kind === "scalar") return renderScalar(value);
  return value.kind === "block" ? `{ ${renderExpression(value)} }` : `${renderScalar(value.tag)} { ${renderExpression(value.block)} }`;
}

/** Twelve hexadecimal digits that depend on what a block says, not on where and how it is written. */
export function hashContent(block: Block): string {
  const writer = { parts: [] as string[], left: Number.POSITIVE_INFINITY };
  writeEntries(writer, block);
  return createHash("sha256").update(writer.parts.join(" ")).digest("hex").slice(0, 12);
}

interface Writer {
  readonly parts: string[];
  left: number;
}

function writeEntries(writer: Writer, block: Block): void {
  for (const entry of block.entries) {
    if (writer.left < 0) return;
    writeEntry(writer, entry);
  }
}

function writeEntry(writer: Writer, entry: Entry): void {
  if (entry.kind === "pair") {
    write(writer, renderScalar(entry.key));
    write(writer, entry.operator === "unknown" ? "=" : entry.operator);
  }
  if (entry.value !== null) writeValue(writer, entry.value);
}

function writeValue(writer: Writer, value: Value): void {
  if (value.kind === "scalar") {
    write(writer, renderScalar(value));
    return;
  }
  if (value.kind === "tagged-block") write(writer, renderScalar(value.tag));
  write(writer, "{");
  writeEntries(writer, value.kind === "block" ? value : value.block);
  write(writer, "}");
}

function write(writer: Writer, part: string): void {
  writer.parts.push(part);
  writer.left -= part.length + 1;
}

function renderScalar({ quoted, text }: Scalar): string {
  return quoted ? `"${text.replaceAll(/["\\]/gu, String.raw`\$&`)}"` : text;
}
