import type { Diagnostic } from "../mod/diagnostic.ts";
import { INLINE_LIMITS } from "./contract.ts";

/** The part of a list that fits into a result, and how many items do not. */
export interface Cut<Item> {
  readonly shown: Item[];
  readonly omitted: number;
}

/** Takes items from the front while both their number and their JSON, in bytes of UTF-8, stay within the limits. */
export function cutList<Item>(items: Iterable<Item>, limits: { readonly count: number; readonly bytes: number }): Cut<Item> {
  const shown: Item[] = [];
  let omitted = 0;
  let bytes = 0;
  for (const item of items) {
    if (omitted === 0) bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
    if (omitted > 0 || shown.length >= limits.count || bytes > limits.bytes) omitted += 1;
    else shown.push(item);
  }
  return { shown, omitted };
}

/** Sorted diagnostics and file paths as a result carries them: each list that was cut is followed by a diagnostic that says so. */
export function cutForResult({ diagnostics, files }: { diagnostics: readonly Diagnostic[]; files: readonly string[] }): {
  diagnostics: Diagnostic[];
  files: string[];
} {
  const cutDiagnostics = cutList(diagnostics, { count: INLINE_LIMITS.diagnostics, bytes: INLINE_LIMITS.diagnosticBytes });
  const cutFiles = cutList(files, { count: INLINE_LIMITS.files, bytes: INLINE_LIMITS.fileBytes });
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

const MARKER = { category: "validation", classification: "unresolved_analysis", confidence: "confirmed" } as const;
