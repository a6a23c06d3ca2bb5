import { byteClass, byteClasses } from "./characters.ts";
import { startsWithBom } from "./encoding.ts";
import type { FindingCollector } from "./findings.ts";
import { type Scan, endOfAtom, endOfComment, endOfControls, endOfOddSpace, endOfOperator, endOfSeparators, endOfSpace } from "./scan.ts";
import { endOfMath, endOfString } from "./scan-text.ts";
import { type Encoding, type Newline, type Tokens, tokenKind } from "./syntax.ts";

export interface Lexed {
  readonly tokens: Tokens;
  readonly newline: Newline;
  /** Start of the string that runs to the end of the file without a closing quote, or -1. */
  readonly unterminatedAt: number;
  /** Whether the token limit was met, so that the end of the file was not read. */
  readonly truncated: boolean;
}

/** Cuts bytes into tokens that tile them. Every byte is looked at about once and nothing is decoded unless a finding quotes it. */
export function lex({ bytes, encoding, maxTokens, findings }: LexInput): Lexed {
  const classes = byteClasses({ singleByte: encoding === "windows-1252" });
  const scan: Scan = { bytes, encoding, findings, classes, newlines: { lf: 0, crlf: 0, cr: 0 } };
  const buffer = tokenBuffer(Math.min(maxTokens, bytes.length >> 2));
  let unterminatedAt = -1;
  let at = 0;
  if (startsWithBom(bytes)) {
    push(buffer, tokenKind.bom, 0);
    at = 3;
  }
  while (at < bytes.length && buffer.count < maxTokens) {
    const start = at;
    switch (classes[bytes[start]!]) {
      case byteClass.space:
        push(buffer, tokenKind.whitespace, start);
        at = endOfSpace(scan, start);
        break;
      case byteClass.open:
        push(buffer, tokenKind.open, start);
        at = start + 1;
        break;
      case byteClass.close:
        push(buffer, tokenKind.close, start);
        at = start + 1;
        break;
      case byteClass.operator:
        push(buffer, tokenKind.operator, start);
        at = endOfOperator(scan, start + 1);
        break;
      case byteClass.hash:
        push(buffer, tokenKind.comment, start);
        at = endOfComment(scan, start);
        break;
      case byteClass.quote:
        push(buffer, tokenKind.string, start);
        at = endOfString(scan, start);
        if (at < 0) {
          unterminatedAt = start;
          at = bytes.length;
        }
        break;
      case byteClass.comma:
      case byteClass.semicolon:
        push(buffer, tokenKind.separator, start);
        at = endOfSeparators(scan, start);
        break;
      case byteClass.control:
        push(buffer, tokenKind.control, start);
        at = endOfControls(scan, start);
        break;
      case byteClass.maybeOperator:
        at = bytes[start + 1] === 0x3d ? endOfOperator(scan, start + 2) : endOfAtom(scan, start, start + 1);
        push(buffer, bytes[start + 1] === 0x3d ? tokenKind.operator : tokenKind.atom, start);
        break;
      case byteClass.maybeSpace:
        at = endOfOddSpace(scan, start);
        push(buffer, at > start ? tokenKind.whitespace : tokenKind.atom, start);
        if (at === start) at = endOfAtom(scan, start, start + 1);
        break;
      case byteClass.at:
        push(buffer, tokenKind.atom, start);
        at = endOfAtom(scan, start, endOfMath(scan, start));
        break;
      default:
        push(buffer, tokenKind.atom, start);
        at = endOfAtom(scan, start, start + 1);
    }
  }
  const truncated = at < bytes.length;
  if (truncated) {
    findings.report("TOO_MANY_TOKENS", { start: at, end: bytes.length }, String(maxTokens));
    push(buffer, tokenKind.opaque, at);
  }
  return { tokens: finishTokens(buffer, bytes.length), newline: newlineOf(scan.newlines), unterminatedAt, truncated };
}

interface LexInput {
  readonly bytes: Uint8Array;
  readonly encoding: Encoding;
  readonly maxTokens: number;
  readonly findings: FindingCollector;
}

/** A file that is not read as script at all still has one token, so that it round-trips like any other. */
export function opaqueTokens(length: number): Tokens {
  const buffer = tokenBuffer(1);
  if (length > 0) push(buffer, tokenKind.opaque, 0);
  return finishTokens(buffer, length);
}

interface TokenBuffer {
  kinds: Uint8Array;
  starts: Uint32Array;
  count: number;
}

function tokenBuffer(expected: number): TokenBuffer {
  const capacity = expected + 16;
  return { kinds: new Uint8Array(capacity), starts: new Uint32Array(capacity), count: 0 };
}

function push(buffer: TokenBuffer, kind: number, start: number): void {
  if (buffer.count === buffer.kinds.length) grow(buffer);
  buffer.kinds[buffer.count] = kind;
  buffer.starts[buffer.count] = start;
  buffer.count += 1;
}

function grow(buffer: TokenBuffer): void {
  const { kinds, starts } = buffer;
  buffer.kinds = new Uint8Array(kinds.length * 2);
  buffer.kinds.set(kinds);
  buffer.starts = new Uint32Array(starts.length * 2);
  buffer.starts.set(starts);
}

/** A token ends where the next one starts, so both arrays are views of one. */
function finishTokens(buffer: TokenBuffer, length: number): Tokens {
  const { count } = buffer;
  if (count === buffer.kinds.length) grow(buffer);
  buffer.starts[count] = length;
  return {
    count,
    kinds: buffer.kinds.subarray(0, count),
    starts: buffer.starts.subarray(0, count),
    ends: buffer.starts.subarray(1, count + 1),
  };
}

function newlineOf({ lf, crlf, cr }: Scan["newlines"]): Newline {
  const styles: Newline[] = [];
  if (lf > 0) styles.push("lf");
  if (crlf > 0) styles.push("crlf");
  if (cr > 0) styles.push("cr");
  return styles.length > 1 ? "mixed" : (styles[0] ?? "none");
}
