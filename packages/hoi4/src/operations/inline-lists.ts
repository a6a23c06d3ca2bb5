import { clipText } from "../clip-text.ts";
import type { Diagnostic } from "../mod/diagnostic.ts";
import type { SourceLocation } from "../mod/source-location.ts";
import { INLINE_LIMITS } from "./contract.ts";

/** The part of a list that fits into a result, and how many items do not. */
export interface Cut<Item> {
  readonly shown: Item[];
  readonly omitted: number;
}

/** A text of a mod as a result carries it. */
export function inlineText(text: string): string {
  return clipText(text, INLINE_LIMITS.text);
}

export function inlineOrNull(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : inlineText(text);
}

/** Takes items from the front while both their number and their JSON, in bytes of UTF-8, stay within the limits; asks for no item beyond them. */
export function cutList<Item>(
  items: Iterable<Item>,
  { total, count, bytes }: { readonly total: number; readonly count: number; readonly bytes: number },
): Cut<Item> {
  const shown: Item[] = [];
  let left = bytes;
  for (const item of items) {
    left -= Buffer.byteLength(JSON.stringify(item)) + 1;
    if (left < 0 || shown.length >= count) break;
    shown.push(item);
  }
  return { shown, omitted: total - shown.length };
}

/** Sorted diagnostics and file paths as a result carries them: each list that was cut is followed by a diagnostic that says so. */
export function cutForResult({ diagnostics, files }: { diagnostics: readonly Diagnostic[]; files: readonly string[] }): {
  diagnostics: Diagnostic[];
  files: string[];
} {
  const cutDiagnostics = cutList(inlineDiagnostics(diagnostics), {
    total: diagnostics.length,
    count: INLINE_LIMITS.diagnostics,
    bytes: INLINE_LIMITS.diagnosticBytes,
  });
  const cutFiles = cutList(files, { total: files.length, count: INLINE_LIMITS.files, bytes: INLINE_LIMITS.fileBytes });
  const omittedHard = diagnostics
    .slice(cutDiagnostics.shown.length)
    .filter(({ severity }) => severity === "error" || severity === "blocker").length;
  const markers: Diagnostic[] = [];
  if (cutDiagnostics.omitted > 0) {
    markers.push({
      ...MARKER,
      code: "MCP_INLINE_COLLECTIONS_TRUNCATED",
      severity: omittedHard > 0 ? "blocker" : "info",
      message: `${cutDiagnostics.omitted} more diagnostics, ${omittedHard} of them errors, are in the artifact only.`,
      details: { diagnostics: { total: diagnostics.length, shown: cutDiagnostics.shown.length }, omittedHardDiagnostics: omittedHard },
    });
  }
  if (cutFiles.omitted > 0) {
    markers.push({
      ...MARKER,
      code: "MCP_INLINE_FILES_TRUNCATED",
      severity: "info",
      message: `${cutFiles.omitted} more files were scanned; the artifact lists them all.`,
      details: { files: { total: files.length, shown: cutFiles.shown.length } },
    });
  }
  return { diagnostics: [...cutDiagnostics.shown, ...markers], files: cutFiles.shown };
}

function* inlineDiagnostics(diagnostics: readonly Diagnostic[]): Generator<Diagnostic> {
  for (const { message, location, related, ...rest } of diagnostics) {
    yield {
      ...rest,
      message: inlineText(message),
      ...(location === undefined ? {} : { location: inlineLocation(location) }),
      ...(related === undefined ? {} : { related: related.slice(0, INLINE_LIMITS.related).map(inlineLocation) }),
    };
  }
}

function inlineLocation({ symbol, ...location }: SourceLocation): SourceLocation {
  return symbol === undefined ? location : { ...location, symbol: inlineText(symbol) };
}

const MARKER = { category: "validation", classification: "unresolved_analysis", confidence: "confirmed" } as const;
