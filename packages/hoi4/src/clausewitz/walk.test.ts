import { Buffer } from "node:buffer";
import { expect, test } from "vitest";
import { parseScript } from "./parse-script.ts";
import { parseText } from "./testing/outline.ts";
import { blockOf, pairs, textOf, valueOf } from "./walk.ts";

test("pairs are found by keyword in any letter case and in source order", () => {
  const { root } = parseText('Option = 1 other = 2 OPTION = 3 "option" = 4 option');

  expect([...pairs(root, "option")].map(({ value }) => textOf(value))).toEqual(["1", "3", "4"]);
  expect([...pairs(root, "oPtion")]).toHaveLength(3);
});

test("a keyword matches whole words only", () => {
  const { root } = parseText("options = 1 optio = 2 [ption = 3");

  expect([...pairs(root, "option")]).toEqual([]);
  expect([...pairs(root, "{ption")]).toEqual([]);
});

test("the first value wins, and a forgotten one is null", () => {
  const { root } = parseText("a = 1 a = 2 b = ");

  expect(textOf(valueOf(root, "a"))).toBe("1");
  expect(valueOf(root, "b")).toBeNull();
  expect(valueOf(root, "c")).toBeNull();
});

test("a block is found behind a colour header or not", () => {
  const { root } = parseText("a = rgb { 1 } b = { 2 } c = 3");

  expect(blockOf(valueOf(root, "a"))?.entries).toHaveLength(1);
  expect(blockOf(valueOf(root, "b"))?.entries).toHaveLength(1);
  expect(blockOf(valueOf(root, "c"))).toBeNull();
  expect(textOf(valueOf(root, "b"))).toBeNull();
});

test("entries are the same objects each time a block is walked", () => {
  const { root } = parseText("a = { b = c }");

  expect(root.entries[0]).toBe(root.entries[0]);
});

test("keywords of a Windows-1252 file match by their bytes", () => {
  const { root } = parseScript(Buffer.from("NAME = \u00e9", "latin1"));

  expect(textOf(valueOf(root, "name"))).toBe("é");
});
