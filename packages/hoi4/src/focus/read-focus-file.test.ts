import { describe, expect, test } from "vitest";
import { parseText } from "../clausewitz/testing/outline.ts";
import { placementOf } from "./placement.ts";
import { readFocusFile } from "./read-focus-file.ts";

function read(text: string) {
  return readFocusFile(parseText(text));
}

describe("a focus file", () => {
  test("has trees with their focuses, and shared and joint focuses beside them", () => {
    const { trees, shared } = read(`
      focus_tree = { id = "one" focus = { id = a } Focus = { id = b } shared_focus = s }
      shared_focus = { id = s }
      focus_tree = { focus = { id = c } }
      joint_focus = { id = j } shared_focus = { id = t }`);
    expect(trees.map(({ id, focuses }) => [id, focuses.map((focus) => focus.id)])).toEqual([
      ["one", ["a", "b"]],
      [null, ["c"]],
    ]);
    expect(shared.map(({ id }) => id)).toEqual(["s", "j", "t"]);
  });

  test("leaves out what is no definition: a focus without an id, one inside of another, one at the root", () => {
    const { trees, shared } = read("focus_tree = { id = one focus = { x = 1 } focus = { id = a focus = { id = b } } } focus = { id = c }");
    expect(trees.map(({ focuses }) => focuses.map(({ id }) => id))).toEqual([["a"]]);
    expect(shared).toEqual([]);
  });

  test("has constants wherever they are set, and the last one counts", () => {
    const { constants } = read("@a = 1 focus_tree = { @b = 2 id = one } @a = 3");
    expect([...constants]).toEqual([
      ["@a", "3"],
      ["@b", "2"],
    ]);
  });
});

describe("a placement", () => {
  test.each([
    ["x = 3 y = -1 relative_position_id = b", { x: 3, y: -1, relativePositionId: "b", isUnclear: false }],
    ["", { x: 0, y: 0, relativePositionId: null, isUnclear: false }],
    ['X = "3" y = +.5', { x: 3, y: 0.5, relativePositionId: null, isUnclear: false }],
    ["x = @column", { x: 7, y: 0, relativePositionId: null, isUnclear: false }],
    ["x = @row", { x: null, y: 0, relativePositionId: null, isUnclear: true }],
    ["x = 1 x = 2", { x: null, y: 0, relativePositionId: null, isUnclear: true }],
    ["y > 1", { x: 0, y: null, relativePositionId: null, isUnclear: true }],
    ["y = { 1 }", { x: 0, y: null, relativePositionId: null, isUnclear: true }],
    ["relative_position_id = b relative_position_id = c", { x: 0, y: 0, relativePositionId: "b", isUnclear: true }],
    ["relative_position_id = { }", { x: 0, y: 0, relativePositionId: null, isUnclear: true }],
  ])("is read from its fields: %j", (fields, expected) => {
    const { trees, constants } = read(`@column = 7 focus_tree = { focus = { id = a ${fields} } }`);
    const focus = trees[0]?.focuses[0];
    expect(focus === undefined ? undefined : placementOf(focus, constants)).toEqual(expected);
  });
});
