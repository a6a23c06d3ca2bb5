import { Buffer } from "node:buffer";
import { expect, test } from "vitest";
import { positionAt } from "./positions.ts";
import { parseScript } from "./parse-script.ts";
import { parseText } from "./testing/outline.ts";

test("lines and columns count from one", () => {
  const file = parseText("a = b\n\tc = d\n");

  expect(positionAt(file, 0)).toEqual({ line: 1, column: 1, offset: 0 });
  expect(positionAt(file, 7)).toEqual({ line: 2, column: 2, offset: 7 });
  expect(positionAt(file, 13)).toEqual({ line: 3, column: 1, offset: 13 });
});

test("LF, CR LF and a lone CR each end a line", () => {
  const file = parseText("a\nb\r\nc\rd");

  expect([0, 2, 5, 7].map((offset) => positionAt(file, offset).line)).toEqual([1, 2, 3, 4]);
});

test("columns count characters, not bytes", () => {
  const file = parseText("é = 国 𝄞 x");

  expect(positionAt(file, Buffer.from("é = 国 𝄞 ").length).column).toBe(9);
});

test("the byte order mark has no column", () => {
  const file = parseText("\ufeffé = b");

  expect(positionAt(file, 0).column).toBe(1);
  expect(positionAt(file, 3).column).toBe(1);
  expect(positionAt(file, 5).column).toBe(2);
});

test("columns of Windows-1252 count bytes", () => {
  const file = parseScript(Buffer.from("\u00e9\u00bf = x", "latin1"));

  expect(positionAt(file, 5).column).toBe(6);
});

test("columns on a very long line are exact", () => {
  const file = parseText(`x = { ${"é1 ".repeat(5_000)}}`);

  expect(positionAt(file, 6 + 4 * 5_000).column).toBe(7 + 3 * 5_000);
  expect(positionAt(file, 6 + 4 * 1_000).column).toBe(7 + 3 * 1_000);
});

test("offsets outside the file move to its ends", () => {
  const file = parseText("a\nb");

  expect(positionAt(file, -5)).toEqual({ line: 1, column: 1, offset: 0 });
  expect(positionAt(file, 99)).toEqual({ line: 2, column: 2, offset: 3 });
});

test("a file whose length is a whole number of strides has an end", () => {
  const file = parseText("é".repeat(512));

  expect(positionAt(file, 1_024).column).toBe(513);
});
