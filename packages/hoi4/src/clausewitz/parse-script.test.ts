import { Buffer } from "node:buffer";
import { describe, expect, test } from "vitest";
import { parseScript } from "./parse-script.ts";
import { tokenKind } from "./syntax.ts";
import { located, outline, parseText } from "./testing/outline.ts";

describe("the encoding of a file", () => {
  test("is UTF-8 without a mark in most files", () => {
    const file = parseText("a = é");

    expect(file.encoding).toBe("utf-8");
    expect(outline(file)).toBe("a=é");
  });

  test("is UTF-8 with a mark that belongs to no word", () => {
    const file = parseText("\ufeffa = é");

    expect(file.encoding).toBe("utf-8-bom");
    expect(outline(file)).toBe("a=é");
    expect(file.tokens.kinds[0]).toBe(tokenKind.bom);
    expect(file.findings).toEqual([]);
  });

  test("falls back to Windows-1252 when one byte is not UTF-8, and says which", () => {
    const file = parseScript(Buffer.from([0x61, 0x3d, 0x80, 0xe9]));

    expect(file.encoding).toBe("windows-1252");
    expect(outline(file)).toBe("a=€é");
    expect(file.findings).toMatchObject([{ code: "NOT_UTF8", severity: "info", start: 2, end: 3 }]);
  });

  test("with a mark but without UTF-8 is reported", () => {
    const file = parseScript(Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xc3, 0xa9, 0xff]));

    expect(file.encoding).toBe("windows-1252");
    expect(file.findings).toMatchObject([{ code: "BOM_WITHOUT_UTF8", start: 6, end: 7 }]);
  });

  test("cannot be UTF-16, which is kept unread", () => {
    const bytes = Buffer.from("\ufeffa = b", "utf16le");
    const file = parseScript(bytes);

    expect(file.root.entries).toEqual([]);
    expect(file.findings).toMatchObject([{ code: "UTF16_TEXT", severity: "error", start: 0, end: bytes.length }]);
    expect(file.blocked).toEqual([{ start: 0, end: bytes.length }]);
  });
});

test("an empty file has no tokens and no findings", () => {
  const file = parseText("");

  expect(file.tokens.count).toBe(0);
  expect(file.root).toMatchObject({ start: 0, end: 0, closed: true, entries: [] });
  expect(file.findings).toEqual([]);
});

test("a file above the size limit is one token and one finding", () => {
  const file = parseText("a = b", { maxBytes: 4 });

  expect([...file.tokens.kinds]).toEqual([tokenKind.opaque]);
  expect(located(file)).toEqual(["FILE_TOO_LARGE a = b"]);
});

test("a Uint8Array that is a window into a larger buffer is read by its own offsets", () => {
  const window = new Uint8Array(Buffer.from("xxxx a = é } ")).subarray(4);
  const file = parseScript(window);

  expect(file.bytes).toBe(window);
  expect(outline(file)).toBe("a=é");
  expect(located(file)).toEqual(["EXTRA_CLOSE_BRACE }"]);
});

describe("the findings of a file", () => {
  test("stop at the limit and say how many more there were", () => {
    const file = parseText("} ".repeat(500), { maxFindings: 10 });

    expect(file.findings).toHaveLength(10);
    expect(file.findingsOmitted).toBe(490);
  });

  test("do not decide whether the file was read whole: a gap is known even when it is not listed", () => {
    const file = parseText(`${"} ".repeat(20)} a = { b = { c = d } }`, { maxFindings: 5, maxDepth: 1 });

    expect(file.findings.map(({ code }) => code)).not.toContain("DEPTH_LIMIT");
    expect(file.isWhole).toBe(false);
    expect(parseText("} a = {").isWhole).toBe(true);
  });

  test("keep an error that comes behind many remarks", () => {
    const file = parseText(`${"a ; ".repeat(500)} x = { y = `, { maxFindings: 3 });

    expect(file.findings.map(({ severity }) => severity)).toEqual(["info", "error", "error"]);
    expect(file.findingsOmitted).toBe(499);
  });

  test("quote long words in part, cut between characters", () => {
    const file = parseText(`a${"é".repeat(100)} = `);

    expect(file.findings[0]?.message).toBe(`'a${"é".repeat(29)}…' has no value.`);
  });

  test("come in source order", () => {
    const file = parseText('a = ; b <= "\\x" { } } c');
    const starts = file.findings.map(({ start }) => start);

    expect(starts.length).toBeGreaterThan(3);
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));
  });

  test("block edits everywhere they guess, even where they are not listed", () => {
    const file = parseText("} a = b ".repeat(30), { maxFindings: 1 });

    expect(file.blocked).toHaveLength(30);
  });

  test("in numbers beyond reason block one range up to the last of them", () => {
    const file = parseText("} a = b ".repeat(5_000));
    const last = file.blocked.at(-1);

    expect(file.blocked.length).toBeLessThanOrEqual(1_000);
    expect(last?.end).toBe("} a = b ".length * 4_999 + 1);
  });
});
