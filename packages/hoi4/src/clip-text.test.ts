import { expect, test } from "vitest";
import { clipText } from "./clip-text.ts";

test.each([
  ["abcd", 4, "abcd"],
  ["abcde", 4, "abc…"],
  ["ab😀d", 4, "ab…"],
  ["ab😀de", 5, "ab😀…"],
])("%s in %i units is %s", (text, limit, clipped) => {
  expect(clipText(text, limit)).toBe(clipped);
  expect(clipText(text, limit).isWellFormed()).toBe(true);
});
