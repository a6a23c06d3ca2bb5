import { expect, test } from "vitest";
import { faultOfPlan } from "./plan-paths.ts";

const faultOf = (...paths: readonly string[]) => faultOfPlan(paths.map((path) => ({ path, size: 1 })));

test.each([
  [["a.txt"]],
  [["common/national_focus/é 🦊.txt", "common/national_focus.txt", ".metadata"]],
  [["a/b", "a-b", "ab"]],
  [["a..b", "..."]],
  [[]],
])("%j are names of files", (paths) => {
  expect(faultOf(...paths)).toBeNull();
});

test.each([
  [["/etc/passwd"], "leads out of the workspace"],
  [["../x"], "leads out of the workspace"],
  [["a/../../x"], "leads out of the workspace"],
  [["a/.."], "leads out of the workspace"],
  [[""], "names no file"],
  [["a/"], "names no file"],
  [["./a"], "names no file"],
  [["a//b"], "names no file"],
  [["."], "names no file"],
  [["a\0b"], "no file of a workspace has"],
  [["a\\b"], "no file of a workspace has"],
  [["\ud800"], "no file of a workspace has"],
  [[".git/config"], "hidden folder"],
  [["a/.b/c"], "hidden folder"],
  [["x".repeat(1_025)], "too long"],
  [["a.txt", "A.TXT"], "names a file twice"],
  [["é", "e\u0301"], "names a file twice"],
  [["a", "b", "A/c"], "as the folder of"],
])("%j is refused: %s", (paths, reason) => {
  expect(faultOf(...paths)).toContain(reason);
});

test("a plan has limits", () => {
  expect(faultOfPlan([{ path: "a", size: 64 * 1024 * 1024 }])).toBeNull();
  expect(
    faultOfPlan([
      { path: "a", size: 64 * 1024 * 1024 },
      { path: "b", size: 1 },
    ]),
  ).toContain("bytes, more than");
  expect(faultOf(...Array.from({ length: 2_000 }, (_, index) => `f${index}`))).toBeNull();
  expect(faultOf(...Array.from({ length: 2_001 }, (_, index) => `f${index}`))).toContain("more than 2000");
});
