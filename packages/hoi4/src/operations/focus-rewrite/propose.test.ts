import { describe, expect, test } from "vitest";
import { parseText } from "../../clausewitz/testing/outline.ts";
import { readFocusFile } from "../../focus/read-focus-file.ts";
import { planEdits } from "./plan-edits.ts";
import { findFocuses } from "./find-focuses.ts";
import { checkRewrite, propose } from "./propose.ts";

const TEXT = "focus_tree = { id = t focus = { id = a x = 1 } focus = { id = b x = 2 } }";
const ASKED = { treeId: "t", changes: [{ focusId: "a", x: 5 }] };

function plan() {
  const before = readFocusFile(parseText(TEXT));
  return { before, edits: planEdits(before, findFocuses(before, ASKED).found).edits };
}

test("a proposal passes its own checks", () => {
  const { before, edits } = plan();
  const proposal = propose(before, { ...ASKED, edits });
  expect("checks" in proposal ? proposal.checks.map(({ passed }) => passed) : proposal).toEqual([true, true, true]);
});

describe("a text that is not what was asked for fails the check for it:", () => {
  test.each([
    ["another focus moved as well", TEXT.replace("x = 1", "x = 5").replace("x = 2", "x = 3"), ["structure_kept"]],
    ["the focus moved elsewhere", TEXT.replace("x = 1", "x = 6"), ["structure_kept", "placements_as_asked"]],
    ["the focus is gone", TEXT.replace("id = a x = 1", "id = c x = 5"), ["structure_kept", "placements_as_asked"]],
    ["a slip came in that changes no word", TEXT.replace("x = 1", "x = 5 ,"), ["syntax_not_worse"]],
    ["a brace was lost", TEXT.replace("x = 1 }", "x = 5"), ["structure_kept", "syntax_not_worse"]],
  ])("%s", (_, text, failed) => {
    const { before, edits } = plan();
    const checks = checkRewrite({ before, after: readFocusFile(parseText(text)), edits, ...ASKED });
    expect(checks.filter(({ passed }) => !passed).map(({ id }) => id)).toEqual(failed);
  });
});
