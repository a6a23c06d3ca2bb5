import { expect, test } from "vitest";
import { parseText } from "../clausewitz/testing/outline.ts";
import { syntaxDoubts } from "./syntax-doubts.ts";

test.each([
  ["a = { x = }", ["MISSING_VALUE"]],
  ["a = { b { } }", []],
  ["a = { b c { } }", []],
  ["a = { b = c { } }", ["UNATTACHED_BLOCK"]],
  ["a = { b = 1", ["MISSING_CLOSE_BRACE"]],
  ["a = { b = 1 } }", []],
])("the structure of the first block of %j is doubted for %j", (text, codes) => {
  const file = parseText(text);
  const [first] = file.root.entries;
  const range = first?.kind === "pair" ? first : { start: 0, end: 0 };
  expect(syntaxDoubts(file, range).map(({ code }) => code)).toEqual(codes);
});

test("a doubt inside of a range that is left out is none, one around it is", () => {
  const file = parseText("a = { b = { x = } c = }");
  const inner = { start: 6, end: 17 };
  expect(syntaxDoubts(file, { start: 0, end: 24 }, [inner]).map(({ start }) => start)).toEqual([18]);
});
