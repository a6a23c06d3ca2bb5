import { describe, expect, test } from "vitest";
import type { FieldEdit } from "./field-edit.ts";
import { differsOnlyBy } from "./same-structure.ts";
import type { ScriptFile } from "./syntax.ts";
import { parseText } from "./testing/outline.ts";
import { pairs } from "./walk.ts";

const BEFORE = 'a = { x = "1" y = 2 } # end\n';

describe("two readings of a script", () => {
  test.each(['a={x="1"\ty=2}', 'a = { # c\n x = "1" y = 2 }'])("are the same whatever stands between the words: %j", (after) => {
    expect(differsOnlyBy(parseText(BEFORE), parseText(after), [])).toBe(true);
  });

  test.each([
    ["another value", 'a = { x = "1" y = 3 }'],
    ["another key", 'a = { x = "1" z = 2 }'],
    ["another operator", 'a = { x = "1" y > 2 }'],
    ["a quote less", "a = { x = 1 y = 2 }"],
    ["an entry more", 'a = { x = "1" y = 2 } b'],
    ["an entry less", 'a = { x = "1" }'],
    ["another order", 'a = { y = 2 x = "1" }'],
    ["another nesting", 'a = { x = "1" } y = 2'],
    ["a brace less", 'a = { x = "1" y = 2'],
    ["a word that looks like a brace", 'a = { x = "1" y = open }'],
    ["a header before the block", 'a = rgb { x = "1" y = 2 }'],
  ])("differ by %s", (_, after) => {
    expect(differsOnlyBy(parseText(BEFORE), parseText(after), [])).toBe(false);
  });

  test.each([
    ["the mark at the start", "\ufeffa = { }", "a = { }"],
    ["a header", "a = rgb { 1 }", "a = hsv { 1 }"],
    ["an operator that is left out", "a = { }", "a { }"],
    ["a forgotten value", "a = ", "a = b"],
  ])("differ by %s", (_, before, after) => {
    expect(differsOnlyBy(parseText(before), parseText(after), [])).toBe(false);
  });

  test.each<[string, string, (file: ScriptFile) => FieldEdit[]]>([
    ["a new value without the quotes of the old one", "a = { x = 7 y = 2 }", (file) => [replacement(file, "x", "7")]],
    ["a new field with another operator", 'a = { x = "1" z > 3 y = 2 }', (file) => [insertion(file)]],
    ["a new field with quotes", 'a = { x = "1" z = "3" y = 2 }', (file) => [insertion(file)]],
    ["a new field behind another one", 'a = { x = "1" y = 2 z = 3 }', (file) => [insertion(file)]],
  ])("differ by %s", (_, after, editsFor) => {
    const file = parseText(BEFORE);
    expect(differsOnlyBy(file, parseText(after), editsFor(file))).toBe(false);
  });

  test.each<[string, (file: ScriptFile) => FieldEdit[]]>([
    ['a = { x = "7" y = 2 }', (file) => [replacement(file, "x", "7")]],
    ['a = { x = "1" }', (file) => [{ kind: "remove", pair: field(file, "y") }]],
    ['a = { x = "1" z = 3 y = 2 }', (file) => [insertion(file)]],
  ])("are the same but for the edit: %j", (after, editsFor) => {
    const file = parseText(BEFORE);
    expect(differsOnlyBy(file, parseText(after), editsFor(file))).toBe(true);
    expect(differsOnlyBy(file, file, editsFor(file))).toBe(false);
    expect(differsOnlyBy(file, parseText(`${after} b`), editsFor(file))).toBe(false);
  });
});

function field({ root }: ScriptFile, key: string) {
  const [first] = root.entries;
  const value = first?.kind === "pair" ? first.value : null;
  const [found] = value?.kind === "block" ? pairs(value, key) : [];
  if (found === undefined) throw new Error(`there is no field ${key}`);
  return found;
}

function insertion(file: ScriptFile): FieldEdit {
  return { kind: "insert", after: field(file, "x"), key: "z", text: "3" };
}

function replacement(file: ScriptFile, key: string, text: string): FieldEdit {
  const pair = field(file, key);
  if (pair.value?.kind !== "scalar") throw new Error("the field has no plain value");
  return { kind: "replace", pair, value: pair.value, text };
}
