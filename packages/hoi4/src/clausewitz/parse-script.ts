import { asBuffer, detectEncoding, firstInvalidUtf8, startsWithBom, startsWithUtf16Mark } from "./encoding.ts";
import { type FindingCode, collectFindings } from "./findings.ts";
import { lex, opaqueTokens } from "./lexer.ts";
import { buildTree } from "./build-tree.ts";
import { rootBlock } from "./nodes.ts";
import { reportProbableBraces } from "./probable-brace.ts";
import type { Encoding, ParseLimits, ScriptFile } from "./syntax.ts";

/** Reads any bytes as Clausewitz script. Never throws and never drops a byte: what cannot be understood becomes a finding with a location. */
export function parseScript(bytes: Uint8Array, limits: ParseLimits = {}): ScriptFile {
  const applied = { ...defaultLimits, ...limits };
  const encoding = detectEncoding(bytes);
  if (bytes.length > applied.maxBytes) return leaveUnread({ bytes, encoding, limits: applied, reason: "FILE_TOO_LARGE" });
  if (startsWithUtf16Mark(bytes)) return leaveUnread({ bytes, encoding, limits: applied, reason: "UTF16_TEXT" });
  return parseAs({ bytes, encoding, limits: applied });
}

/** Reads bytes whose encoding is already known, as that of a string inside a file is. */
export function parseAs({ bytes, encoding, limits }: { bytes: Uint8Array; encoding: Encoding; limits: ParseLimits }): ScriptFile {
  const { maxTokens, maxDepth, maxFindings } = { ...defaultLimits, ...limits };
  const findings = collectFindings({ maxFindings });
  const invalid = encoding === "windows-1252" ? firstInvalidUtf8(bytes) : bytes.length;
  if (invalid < bytes.length) {
    findings.report(startsWithBom(bytes) ? "BOM_WITHOUT_UTF8" : "NOT_UTF8", { start: invalid, end: invalid + 1 });
  }
  const buffer = asBuffer(bytes);
  const { tokens, newline, unterminatedAt, truncated } = lex({ bytes: buffer, encoding, maxTokens, findings });
  const { rows, unclosed } = buildTree({ bytes: buffer, encoding, tokens, truncated, maxDepth, findings });
  const root = rootBlock({ bytes: buffer, encoding, tokens, rows, unterminatedAt }, { closed: !truncated });
  if (unclosed > 0 && !truncated && rows.count <= maxRowsToSearch) reportProbableBraces({ root, unclosed, bytes: buffer, findings });
  return { bytes, encoding, newline, tokens, root, ...findings.finish() };
}

/** Above the largest script and map table of the mods we know, and far below what a worker can hold. */
const defaultLimits = { maxBytes: 16 * 1024 * 1024, maxTokens: 8_000_000, maxDepth: 256, maxFindings: 200 };

/** The search makes all nodes of the broken part, which in a hostile file would cost far more memory than a hint is worth. */
const maxRowsToSearch = 500_000;

interface Unread {
  readonly bytes: Uint8Array;
  readonly encoding: Encoding;
  readonly limits: typeof defaultLimits;
  readonly reason: FindingCode;
}

function leaveUnread({ bytes, encoding, limits, reason }: Unread): ScriptFile {
  const end = bytes.length;
  const findings = collectFindings(limits);
  findings.report(reason, { start: 0, end }, String(limits.maxBytes));
  const root = { kind: "block", entries: [], start: 0, end, closed: false } as const;
  return { bytes, encoding, newline: "none", tokens: opaqueTokens(end), root, ...findings.finish() };
}
