import { byteClass, oddSpaceLength } from "./characters.ts";
import { decodeBytes } from "./encoding.ts";
import type { FindingCollector } from "./findings.ts";
import type { Encoding } from "./syntax.ts";

/** What every scanning function reads and where it reports. */
export interface Scan {
  readonly bytes: Uint8Array;
  readonly encoding: Encoding;
  /** Class of each byte, see `byteClass`. */
  readonly classes: Uint8Array;
  readonly findings: FindingCollector;
  readonly newlines: { lf: number; crlf: number; cr: number };
}

/** End of the word that starts at `start` and is known up to `from`. */
export function endOfAtom(scan: Scan, start: number, from: number): number {
  const { bytes, classes } = scan;
  const length = bytes.length;
  let at = from;
  for (; at < length; at++) {
    const found = classes[bytes[at]!]!;
    if (found <= byteClass.inWord) continue;
    if (found === byteClass.maybeOperator && bytes[at + 1] !== 0x3d) continue;
    if (found === byteClass.maybeSpace && oddSpaceLength(bytes, at) === 0) continue;
    break;
  }
  if (bytes[at - 1] === 0x3b) scan.findings.report("SEMICOLON_IN_WORD", { start, end: at }, excerpt(scan, start, at));
  return at;
}

export function endOfSpace({ bytes, classes, newlines }: Scan, from: number): number {
  const length = bytes.length;
  let at = from;
  for (; at < length; at++) {
    const byte = bytes[at]!;
    if (classes[byte] !== byteClass.space) break;
    if (byte === 0x0a || byte === 0x0d) countNewline(newlines, bytes, at);
  }
  return at;
}

/** Counts the line end at `at`; the pair CR LF counts at its LF. */
export function countNewline(newlines: Scan["newlines"], bytes: Uint8Array, at: number): void {
  if (bytes[at] === 0x0a) {
    if (at > 0 && bytes[at - 1] === 0x0d) newlines.crlf += 1;
    else newlines.lf += 1;
  } else if (bytes[at + 1] !== 0x0a) newlines.cr += 1;
}

export function endOfComment({ bytes }: Scan, from: number): number {
  const length = bytes.length;
  let at = from;
  while (at < length && bytes[at] !== 0x0a && bytes[at] !== 0x0d) at += 1;
  return at;
}

/** A run of operator characters is one operator, so that `=>` is reported once and `a=!b` keeps its `!` in the word. */
export function endOfOperator({ bytes, classes }: Scan, from: number): number {
  let at = from;
  while (at < bytes.length && (classes[bytes[at]!] === byteClass.operator || (bytes[at] === 0x21 && bytes[at + 1] === 0x3d))) at += 1;
  return at;
}

export function endOfSeparators({ bytes, findings }: Scan, start: number): number {
  let at = start;
  while (at < bytes.length && (bytes[at] === 0x2c || bytes[at] === 0x3b)) at += 1;
  findings.report("STRAY_SEPARATOR", { start, end: at });
  return at;
}

export function endOfControls({ bytes, classes, findings }: Scan, start: number): number {
  let at = start;
  while (at < bytes.length && classes[bytes[at]!] === byteClass.control) at += 1;
  findings.report("CONTROL_CHARACTER", { start, end: at });
  return at;
}

/** `start` itself when the byte there belongs to a word. */
export function endOfOddSpace({ bytes, classes, findings }: Scan, start: number): number {
  let at = start;
  let hasMark = false;
  while (at < bytes.length && classes[bytes[at]!] === byteClass.maybeSpace) {
    const length = oddSpaceLength(bytes, at);
    if (length === 0) break;
    if (bytes[at] === 0xef) hasMark = true;
    at += length;
  }
  if (at > start) findings.report(hasMark ? "MISPLACED_BOM" : "ODD_WHITESPACE", { start, end: at });
  return at;
}

const maxExcerpt = 60;

/** The beginning of a range as text for a message, cut between characters. */
export function excerpt(file: Pick<Scan, "bytes" | "encoding">, start: number, end: number): string {
  if (end - start <= maxExcerpt) return decodeBytes(file, start, end);
  let cut = start + maxExcerpt;
  if (file.encoding !== "windows-1252") while ((file.bytes[cut]! & 0xc0) === 0x80) cut -= 1;
  return `${decodeBytes(file, start, cut)}…`;
}
