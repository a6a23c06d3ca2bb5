import { Buffer } from "node:buffer";
import { describe, expect, test } from "vitest";
import { EditRefusedError, applyEdits, renderTokens } from "./edits.ts";
import { encodeText } from "./encoding.ts";
import { parseScript } from "./parse-script.ts";
import type { Edit, ScriptFile } from "./syntax.ts";
import { parseText } from "./testing/outline.ts";

describe("edits", () => {
  test("replace, insert and delete in any order and leave every other byte alone", () => {
    const file = parseText("\ufeffa = b # keep\r\n\tc = d\n");

    const edited = applyEdits(file, [replace(file, "d", "e"), insert(file.bytes.length, "f = g\n"), replace(file, "b", "")]);

    expect(text(edited)).toBe("\ufeffa =  # keep\r\n\tc = e\nf = g\n");
  });

  test("at one offset keep the order they are given in", () => {
    const file = parseText("a = b");

    expect(text(applyEdits(file, [insert(5, " c"), insert(5, " d")]))).toBe("a = b c d");
  });

  test("may meet without overlapping", () => {
    const file = parseText("abcd");

    expect(text(applyEdits(file, [range(0, 2, "x"), range(2, 4, "y"), insert(2, "-")]))).toBe("x-y");
  });

  test("that overlap are refused", () => {
    expect(refusal(parseText("abcd"), [range(0, 3, "x"), range(2, 4, "y")])).toMatchObject({
      refusal: "overlap",
      range: { start: 2, end: 4 },
    });
  });

  test.each([[range(-1, 2, "")], [range(3, 2, "")], [range(0, 99, "")], [range(0.5, 2, "")], [range(Number.NaN, 2, "")]])(
    "outside the file are refused: %o",
    (edit) => {
      expect(refusal(parseText("abcd"), [edit])).toMatchObject({ refusal: "outside" });
    },
  );

  test.each([
    ["a = { b = 1 }\n}\nc = 2\n", "}\nc", "the stray brace itself"],
    ["a = { b = 1 }\n}\nc = 2\n", "c", "the word behind it"],
    ["a = { b = 1 }\n}\n# x\nc = 2\n", "c", "the word behind it with a comment between"],
    ["a = { b = 1 }\n}\nc = 2\n", "}", "the word before it"],
    ['a = 1 b = "x\ny', '"x', "an unterminated string"],
    ["a = { b = 1", "1", "the end of a file with an unclosed block"],
    ["a = { b = 1 c = 2", "{", "an unclosed brace"],
  ])("next to a guess are refused: %j at %j, %s", (script, part) => {
    const file = parseText(script);

    expect(refusal(file, [replace(file, part, "z")])).toMatchObject({ refusal: "guess" });
  });

  test("appended to a file with an unclosed block are refused, since they would land inside it", () => {
    const file = parseText("a = { b = 1 \n\n");

    expect(refusal(file, [insert(file.bytes.length, "c = d\n")])).toMatchObject({ refusal: "guess" });
  });

  test("away from a guess are applied although the file has one", () => {
    const file = parseText("a = { b = 1 }\n}\nc = 2\n");

    expect(text(applyEdits(file, [replace(file, "2", "3")]))).toBe("a = { b = 1 }\n}\nc = 3\n");
    expect(text(applyEdits(file, [replace(file, "1", "5")]))).toBe("a = { b = 5 }\n}\nc = 2\n");
  });

  test("may give a key the value it lacks", () => {
    const file = parseText("picture = \nallowed = { }");

    expect(text(applyEdits(file, [insert(10, "GFX_x")]))).toBe("picture = GFX_x\nallowed = { }");
  });

  test("of an empty file insert", () => {
    expect(text(applyEdits(parseText(""), [insert(0, "a = b")]))).toBe("a = b");
  });
});

test("tokens put together again are the file", () => {
  const file = parseText('\ufeffa={ b = "c\r\n" } } ;\0 # end');

  expect(text(renderTokens(file))).toBe('\ufeffa={ b = "c\r\n" } } ;\0 # end');
});

describe("new text", () => {
  test("takes the line end of the file", () => {
    expect(text(encodeText(parseText("a = b\r\nc = d\n"), "x\ny\n"))).toBe("x\r\ny\r\n");
    expect(text(encodeText(parseText("a = b\rc"), "x\ny"))).toBe("x\ry");
    expect(text(encodeText(parseText("a = b"), "x\ny"))).toBe("x\ny");
  });

  test("takes the encoding of the file", () => {
    const file = parseScript(Buffer.from([0x61, 0xe9]));

    expect([...(encodeText(file, "é€Š") ?? [])]).toEqual([0xe9, 0x80, 0x8a]);
  });

  test("that the encoding cannot hold is refused", () => {
    expect(encodeText(parseScript(Buffer.from([0x61, 0xe9])), "国")).toBeNull();
    expect(encodeText(parseText("a"), "\ud800")).toBeNull();
  });
});

function refusal(file: ScriptFile, edits: readonly Edit[]): EditRefusedError {
  try {
    applyEdits(file, edits);
  } catch (error) {
    if (error instanceof EditRefusedError) return error;
    throw error;
  }
  throw new Error("The edits were not refused.");
}

function replace(file: ScriptFile, part: string, by: string): Edit {
  const start = Buffer.from(file.bytes).indexOf(part);
  return range(start, start + Buffer.byteLength(part), by);
}

function insert(at: number, by: string): Edit {
  return range(at, at, by);
}

function range(start: number, end: number, by: string): Edit {
  return { start, end, bytes: Buffer.from(by) };
}

function text(bytes: Uint8Array | null): string {
  return Buffer.from(bytes ?? []).toString("utf8");
}
