import { Buffer } from "node:buffer";
import { describe, expect, test } from "vitest";
import { applyEdits } from "./edits.ts";
import { bytesOfEdit, hasCommentInside, type FieldEdit } from "./field-edit.ts";
import { parseScript } from "./parse-script.ts";
import type { Pair, ScriptFile } from "./syntax.ts";
import { parseText } from "./testing/outline.ts";
import { pairs } from "./walk.ts";

describe("a new value", () => {
  test.each([
    ["x=1#c", "x=22#c"],
    ['x = "1" y = 2', 'x = "22" y = 2'],
    ["x = # why\r\n\t1\r\n", "x = # why\r\n\t22\r\n"],
  ])("takes the place of the old one: %j", (text, expected) => {
    expect(edited(text, (file) => replace(field(file, "x"), "22"))).toBe(expected);
  });
});

describe("a new field", () => {
  test.each([
    ["its own line with the indentation and the line end of the file", "\tx = 1\r\n\tz = 3\r\n", "\tx = 1\r\n\ty = 2\r\n\tz = 3\r\n"],
    ["the line below the comment of its neighbour", "  x = 1 # one\n  z = 3", "  x = 1 # one\n  y = 2\n  z = 3"],
    ["the same line where the neighbour shares its own", "id = a x = 1\n", "id = a x = 1 y = 2\n"],
    ["the same line in a block of one line", "{ x = 1 }", "{ x = 1 y = 2 }"],
    ["no room at all where there is none", "a={x=1}", "a={x=1 y=2}"],
    ["a blank behind it before a word", 'x="1"z=3', 'x="1" y=2 z=3'],
    ["the spacing of its neighbour", "x\t= 1\nz = 3\n", "x\t= 1\ny\t= 2\nz = 3\n"],
    ["plain spacing where the neighbour's would bring a comment along", "x = # c\n1\n", "x = # c\n1\ny = 2\n"],
    ["the last line of a file that does not end in one", "x = 1", "x = 1\ny = 2"],
  ])("gets %s", (_, text, expected) => {
    expect(edited(text, (file) => [{ kind: "insert", after: field(file, "x"), key: "y", text: "2" }])).toBe(expected);
  });

  test("keeps its order among others behind the same field", () => {
    const inserted = edited("x = 1\n", (file) => {
      const after = field(file, "x");
      return [
        { kind: "insert", after, key: "y", text: "2" },
        { kind: "insert", after, key: "z", text: "3" },
      ];
    });
    expect(inserted).toBe("x = 1\ny = 2\nz = 3\n");
  });
});

describe("a field that is taken away", () => {
  test.each([
    ["takes its line along", "\tx = 1\n\ty = 2\n\tz = 3\n", "\tx = 1\n\tz = 3\n"],
    ["takes its line along with both bytes of its end", "x = 1\r\ny = 2\t\r\nz = 3\r\n", "x = 1\r\nz = 3\r\n"],
    ["leaves a comment on its line", "\ty = 2 # two\nz = 3", "\t# two\nz = 3"],
    ["leaves what stands behind it at its indentation", "\ty = 2 z = 3\n", "\tz = 3\n"],
    ["leaves one blank between its neighbours", "x = 1 y = 2 z = 3", "x = 1 z = 3"],
    ["leaves a block closed", "a = { y = 2 }", "a = { }"],
    ["leaves a brace on the next line", "a = { x = 1 y = 2\n}", "a = { x = 1\n}"],
    ["leaves the last line without an end", "x = 1\ny = 2", "x = 1\n"],
  ])("%s", (_, text, expected) => {
    expect(edited(text, (file) => [{ kind: "remove", pair: field(file, "y") }])).toBe(expected);
  });
});

test("a text that Windows-1252 has no place for cannot be written into such a file", () => {
  const file = parseScript(Buffer.from([0x78, 0x3d, 0xe9]));
  const [edit] = replace(field(file, "x"), "港");
  expect(edit === undefined ? undefined : bytesOfEdit(file, edit)).toBeNull();
});

test("a comment between key and value is noticed, one behind the value is none", () => {
  const file = parseText("x = # inside\n1\ny = 2 # behind");
  expect(hasCommentInside(file, field(file, "x"))).toBe(true);
  expect(hasCommentInside(file, field(file, "y"))).toBe(false);
});

function edited(text: string, editsFor: (file: ScriptFile) => readonly FieldEdit[]): string {
  const file = parseText(text);
  const edits = editsFor(file).flatMap((edit) => bytesOfEdit(file, edit) ?? []);
  return Buffer.from(applyEdits(file, edits)).toString();
}

function replace(pair: Pair, text: string): FieldEdit[] {
  if (pair.value?.kind !== "scalar") throw new Error("the field has no plain value");
  return [{ kind: "replace", pair, value: pair.value, text }];
}

/** The field at the root or in the first block. */
function field({ root }: ScriptFile, key: string): Pair {
  const [first] = root.entries;
  const value = first?.kind === "pair" || first?.kind === "value" ? first.value : null;
  const [found] = [...pairs(root, key), ...(value?.kind === "block" ? pairs(value, key) : [])];
  if (found === undefined) throw new Error(`there is no field ${key}`);
  return found;
}
