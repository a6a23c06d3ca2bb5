import { Buffer } from "node:buffer";
import { expect, test } from "vitest";
import { parseNested } from "./nested.ts";
import { parseScript } from "./parse-script.ts";
import type { Scalar, ScriptFile } from "./syntax.ts";
import { located, outline, parseText } from "./testing/outline.ts";

const division = String.raw`create_unit = { division = "name = \"1. Königs\" division_template = \"Inf\" }" }`;

test("a string is read as script with its escapes resolved", () => {
  const { script } = parseNested(...quotedIn(parseText(division)));

  expect(outline(script)).toBe('name="1. Königs" division_template="Inf"');
  expect(located(script)).toEqual(["EXTRA_CLOSE_BRACE }"]);
});

test("offsets in the nested script lead back to the outer file", () => {
  const file = parseText(division);
  const { script, outerOffset } = parseNested(...quotedIn(file));
  const outer = (start: number, end: number) => Buffer.from(file.bytes.subarray(outerOffset(start), outerOffset(end))).toString("utf8");
  const [name, template] = script.root.entries;

  expect(name?.value).not.toBeNull();
  expect(outer(name!.value!.start, name!.value!.end)).toBe(String.raw`\"1. Königs\"`);
  expect(template).toMatchObject({ kind: "pair" });
  expect(outer(template!.value!.start, template!.value!.end)).toBe(String.raw`\"Inf\"`);
  expect(outer(script.findings[0]!.start, script.findings[0]!.end)).toBe("}");
});

test("a string without a closing quote is read to its end", () => {
  const { script, outerOffset } = parseNested(...quotedIn(parseText('d = "a = b')));

  expect(outline(script)).toBe("a=b");
  expect(outerOffset(5)).toBe(10);
});

test("a string of a Windows-1252 file is read as Windows-1252 although its own bytes may pass for UTF-8", () => {
  const file = parseScript(Buffer.from('x = \u00e9 d = "a = \u00c3\u00a9"', "latin1"));
  const { script } = parseNested(...quotedIn(file));

  expect(outline(script)).toBe("a=Ã©");
  expect(script.findings).toEqual([]);
});

test("a word without quotes is read from its first byte", () => {
  const file = parseText("x = abc");
  const value = file.root.entries[0]!.value;
  if (value?.kind !== "scalar") throw new Error("The value is no scalar.");
  const { script, outerOffset } = parseNested(file, value);

  expect(outline(script)).toBe("abc");
  expect(outerOffset(0)).toBe(4);
});

function quotedIn(file: ScriptFile): [ScriptFile, Scalar] {
  const queue = [...file.root.entries];
  for (const { value } of queue) {
    if (value?.kind === "scalar" && value.quoted) return [file, value];
    if (value?.kind === "block") queue.push(...value.entries);
  }
  throw new Error("There is no string in the script.");
}
