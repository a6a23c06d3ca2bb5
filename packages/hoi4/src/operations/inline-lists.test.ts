import { describe, expect, test } from "vitest";
import type { Diagnostic } from "../mod/diagnostic.ts";
import { cutForResult, cutList } from "./inline-lists.ts";

function diagnostics(count: number, severity: Diagnostic["severity"]): Diagnostic[] {
  return Array.from({ length: count }, (_, index) => ({
    code: `C${index}`,
    severity,
    category: "syntax",
    message: "m",
    classification: "confirmed_error",
    confidence: "high",
  }));
}

describe("a list in a result", () => {
  test("is cut by number and by size, and no item beyond is made", () => {
    let made = 0;
    function* items() {
      for (const text of ["aaaa", "bbbb", "cccc", "dddd"]) {
        made += 1;
        yield text;
      }
    }
    expect(cutList(items(), { total: 4, count: 2, bytes: 1000 })).toEqual({ shown: ["aaaa", "bbbb"], omitted: 2 });
    expect(made).toBe(3);
    // Four letters take seven bytes: two quotes and a comma.
    expect(cutList(["aaaa", "bbbb"], { total: 2, count: 9, bytes: 14 })).toEqual({ shown: ["aaaa", "bbbb"], omitted: 0 });
    expect(cutList(["aaaa", "bbbb"], { total: 2, count: 9, bytes: 13 })).toEqual({ shown: ["aaaa"], omitted: 1 });
    expect(cutList(["ääää"], { total: 1, count: 9, bytes: 10 })).toEqual({ shown: [], omitted: 1 });
  });

  test("that fits is followed by nothing", () => {
    const cut = cutForResult({ diagnostics: diagnostics(100, "error"), files: Array.from({ length: 64 }, () => "f") });
    expect(cut.diagnostics.map(({ code }) => code)).not.toContain("MCP_INLINE_COLLECTIONS_TRUNCATED");
    expect([cut.diagnostics.length, cut.files.length]).toEqual([100, 64]);
  });

  test("that was cut says how much is missing, as a blocker when errors are among it", () => {
    const cut = cutForResult({ diagnostics: diagnostics(130, "error"), files: [] });
    expect(cut.diagnostics).toHaveLength(101);
    expect(cut.diagnostics.at(-1)).toMatchObject({
      code: "MCP_INLINE_COLLECTIONS_TRUNCATED",
      severity: "blocker",
      details: { diagnostics: { total: 130, shown: 100 }, omittedHardDiagnostics: 30 },
    });
    expect(cutForResult({ diagnostics: diagnostics(130, "info"), files: [] }).diagnostics.at(-1)).toMatchObject({
      severity: "info",
      details: { omittedHardDiagnostics: 0 },
    });
  });

  test("of files has a marker of its own", () => {
    const cut = cutForResult({ diagnostics: [], files: Array.from({ length: 70 }, (_, index) => `f${index}`) });
    expect(cut.files).toHaveLength(64);
    expect(cut.diagnostics).toMatchObject([{ code: "MCP_INLINE_FILES_TRUNCATED", details: { files: { total: 70, shown: 64 } } }]);
  });
});
