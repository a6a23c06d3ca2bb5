import { byteClass } from "./characters.ts";
import { type Scan, countNewline, excerpt } from "./scan.ts";

/** Offset after the quote that closes the string at `start`, or -1 when the file ends first. */
export function endOfString(scan: Scan, start: number): number {
  const { bytes, findings, newlines } = scan;
  const length = bytes.length;
  let firstNewline = -1;
  let oddEscape = -1;
  let at = start + 1;
  for (; at < length; at++) {
    const byte = bytes[at]!;
    if (byte === 0x22) break;
    if (byte === 0x5c) {
      const escaped = bytes[at + 1];
      if (escaped === 0x22 || escaped === 0x5c) at += 1;
      else if (oddEscape < 0) oddEscape = at;
    } else if (byte === 0x0a || byte === 0x0d) {
      if (firstNewline < 0) firstNewline = at;
      countNewline(newlines, bytes, at);
    }
  }
  if (oddEscape >= 0) findings.report("UNKNOWN_ESCAPE", { start: oddEscape, end: oddEscape + 1 });
  if (firstNewline >= 0) reportProbableQuote(scan, { start, firstNewline, end: at });
  if (at < length) return at + 1;
  findings.report("UNTERMINATED_STRING", { start, end: firstNewline < 0 ? length : firstNewline });
  findings.block({ start, end: length });
  return -1;
}

/** Text that begins on the line below its quote is a quoted script, as in `meta_effect`, and no slip. */
function reportProbableQuote(scan: Scan, { start, firstNewline, end }: { start: number; firstNewline: number; end: number }): void {
  const { bytes, classes, findings } = scan;
  if (skipSpace(scan, start + 1) >= firstNewline) return;
  const word = skipSpace(scan, firstNewline);
  let wordEnd = word;
  while (wordEnd < end && classes[bytes[wordEnd]!]! <= byteClass.inWord) wordEnd += 1;
  const operator = skipSpace(scan, wordEnd);
  if (wordEnd === word || operator >= end || classes[bytes[operator]!] !== byteClass.operator) return;
  findings.report("PROBABLE_MISSING_QUOTE", { start, end: firstNewline }, excerpt(scan, word, operator + 1));
}

function skipSpace({ bytes, classes }: Scan, from: number): number {
  let at = from;
  while (at < bytes.length && classes[bytes[at]!] === byteClass.space) at += 1;
  return at;
}

/** Without a bound, a line of a million `@[` would be searched to its end a million times. */
const maxMathLength = 200;

/** Offset after `@[ … ]`, or after the `@` when no such expression is closed nearby on its line. */
export function endOfMath({ bytes, classes, findings }: Scan, start: number): number {
  if (bytes[start + 1] !== 0x5b) return start + 1;
  const limit = Math.min(bytes.length, start + maxMathLength);
  for (let at = start + 2; at < limit; at++) {
    const byte = bytes[at]!;
    if (byte === 0x5d) {
      findings.report("MATH_NOT_EVALUATED", { start, end: at + 1 });
      return at + 1;
    }
    const found = classes[byte]!;
    if (byte === 0x0a || byte === 0x0d || (found >= byteClass.hash && found <= byteClass.quote)) break;
  }
  return start + 1;
}
