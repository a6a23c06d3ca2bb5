import { decodeBytes, detectEncoding, firstInvalidUtf8, startsWithBom, startsWithUtf16Mark } from "./encoding.ts";
import { type FindingCollector, collectFindings } from "./findings.ts";
import type { Encoding, Finding, Range } from "./syntax.ts";

export interface LocalisationFile {
  readonly bytes: Uint8Array;
  readonly encoding: Encoding;
  /** In source order; a key may recur. */
  readonly entries: readonly LocalisationEntry[];
  readonly findings: readonly Finding[];
  readonly findingsOmitted: number;
  /** False when a limit or an unreadable encoding kept a part of the file from being read. */
  readonly isWhole: boolean;
}

export interface LocalisationEntry {
  readonly key: string;
  readonly keyRange: Range;
  /** From the header above, such as `english`; null when there is none. */
  readonly language: string | null;
  /** The number behind the colon, if any; the game ignores it. */
  readonly version: number | null;
  /** As written between the first and the last quote of the line: escapes, colours and `$keys$` are left alone. */
  readonly text: string;
  readonly textRange: Range;
  /** False behind a missing quote, where the game has stopped reading. */
  readonly isLoaded: boolean;
}

export interface LocalisationLimits {
  /** What stands behind them is not read; the default is far more than one file of a mod has. */
  readonly maxEntries?: number;
  /** Findings listed per file; default 200. */
  readonly maxFindings?: number;
}

/** Reads a localisation `.yml`, which is a line format of its own and not YAML. Never throws. */
export function readLocalisation(
  bytes: Uint8Array,
  { maxEntries = 500_000, maxFindings = 200 }: LocalisationLimits = {},
): LocalisationFile {
  const findings = collectFindings({ maxFindings });
  const encoding = detectEncoding(bytes);
  const reader: Reader = { bytes, encoding, findings, entries: [], maxEntries, seen: new Set(), language: null, isLoaded: true };
  if (startsWithUtf16Mark(bytes)) {
    findings.report("UTF16_TEXT", { start: 0, end: bytes.length });
  } else {
    const hasBom = startsWithBom(bytes);
    if (!hasBom) findings.report("MISSING_BOM", { start: 0, end: 0 });
    if (encoding === "windows-1252") {
      const start = firstInvalidUtf8(bytes);
      findings.report(hasBom ? "BOM_WITHOUT_UTF8" : "NOT_UTF8", { start, end: start + 1 });
    }
    readLines(reader);
  }
  const { findings: listed, findingsOmitted, isWhole } = findings.finish();
  return { bytes, encoding, entries: reader.entries, findings: listed, findingsOmitted, isWhole };
}

interface Reader {
  readonly bytes: Uint8Array;
  readonly encoding: Encoding;
  readonly findings: FindingCollector;
  readonly entries: LocalisationEntry[];
  readonly maxEntries: number;
  /** Language and key of the entries so far. */
  readonly seen: Set<string>;
  language: string | null;
  isLoaded: boolean;
}

function readLines(reader: Reader): void {
  const { bytes, entries, maxEntries, findings } = reader;
  let start = startsWithBom(bytes) ? 3 : 0;
  for (let at = start; at <= bytes.length; at++) {
    if (at < bytes.length && bytes[at] !== 0x0a && bytes[at] !== 0x0d) continue;
    const line = trimmed(bytes, { start, end: at });
    if (entries.length >= maxEntries && line.start < line.end && bytes[line.start] !== 0x23) {
      findings.report("TOO_MANY_ENTRIES", { start, end: bytes.length }, String(maxEntries));
      return;
    }
    readLine(reader, line);
    start = at + 1;
  }
}

function readLine(reader: Reader, line: Range): void {
  const { bytes, findings } = reader;
  if (line.start === line.end || bytes[line.start] === 0x23) return;
  const firstQuote = indexOfByte(bytes, 0x22, line);
  const headEnd = firstQuote < 0 ? line.end : firstQuote;
  const colon = indexOfByte(bytes, 0x3a, { start: line.start, end: headEnd });
  const header = /^l_([a-z_]+):\s*(?:#|$)/i.exec(decode(reader, { start: line.start, end: headEnd }));
  if (header !== null) reader.language = header[1]!.toLowerCase();
  else if (colon < 0) findings.report("MALFORMED_LINE", line);
  else readEntry(reader, { line, colon, firstQuote, lastQuote: lastIndexOfByte(bytes, 0x22, line) });
}

interface EntryLine {
  readonly line: Range;
  readonly colon: number;
  /** -1 when the line has no quote; equal to `lastQuote` when it has one. */
  readonly firstQuote: number;
  readonly lastQuote: number;
}

function readEntry(reader: Reader, { line, colon, firstQuote, lastQuote }: EntryLine): void {
  const { findings } = reader;
  const isComplete = firstQuote < lastQuote;
  const between = decode(reader, { start: colon + 1, end: firstQuote < 0 ? line.end : firstQuote });
  const version = /^(\d*)\s*$/.exec(between)?.[1];
  if (isComplete && version === undefined) {
    findings.report("MALFORMED_LINE", line);
    return;
  }
  if (!isComplete) {
    findings.report("MISSING_QUOTE", line);
    reader.isLoaded = false;
  }
  const keyRange = trimmed(reader.bytes, { start: line.start, end: colon });
  const key = decode(reader, keyRange);
  reportKey(reader, key, keyRange);
  const textRange = { start: (firstQuote < 0 ? colon : firstQuote) + 1, end: isComplete ? lastQuote : line.end };
  const text = decode(reader, textRange);
  if (isComplete) reportBehindText(reader, { text, textRange, line });
  const { language, isLoaded } = reader;
  reader.entries.push({ key, keyRange, language, version: version ? Number(version) : null, text, textRange, isLoaded });
}

function reportKey({ findings, seen, language }: Reader, key: string, keyRange: Range): void {
  if (!/^[\w.'-]+$/.test(key)) findings.report("INVALID_KEY", keyRange, key);
  if (language === null) findings.report("MISSING_LANGUAGE", keyRange);
  const identity = `${language ?? ""}:${key}`;
  if (seen.has(identity)) findings.report("DUPLICATE_KEY", keyRange, key);
  seen.add(identity);
}

function reportBehindText(reader: Reader, { text, textRange, line }: { text: string; textRange: Range; line: Range }): void {
  const rest = trimmed(reader.bytes, { start: textRange.end + 1, end: line.end });
  if (rest.start < rest.end && reader.bytes[rest.start] !== 0x23) reader.findings.report("TEXT_AFTER_QUOTE", rest);
  if (/"\s+#/.test(text)) reader.findings.report("QUOTE_IN_COMMENT", textRange);
}

function trimmed(bytes: Uint8Array, { start, end }: Range): Range {
  let from = start;
  let to = end;
  while (from < to && isBlank(bytes[from]!)) from += 1;
  while (to > from && isBlank(bytes[to - 1]!)) to -= 1;
  return { start: from, end: to };
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09;
}

/** Within the range, or -1. */
function indexOfByte(bytes: Uint8Array, byte: number, { start, end }: Range): number {
  for (let at = start; at < end; at++) if (bytes[at] === byte) return at;
  return -1;
}

function lastIndexOfByte(bytes: Uint8Array, byte: number, { start, end }: Range): number {
  for (let at = end - 1; at >= start; at--) if (bytes[at] === byte) return at;
  return -1;
}

function decode(reader: Reader, { start, end }: Range): string {
  return decodeBytes(reader, start, end);
}
