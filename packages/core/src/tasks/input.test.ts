import { expect, it } from "vitest";
import { inputKeySchema } from "./input.ts";

it.each(["q", "which file?".replaceAll(" ", "-"), "x".repeat(128), "constructor", "__proto__2"])("lets a question be called %s", (key) => {
  expect(inputKeySchema.safeParse(key).success).toBe(true);
});

it.each([
  ["nothing", ""],
  ["more than 128 characters", "x".repeat(129)],
  ["white space", "a b"],
  ["what is not ASCII", "\u00e9"],
  ["the one name that copies of an object lose", "__proto__"],
])("lets no question be called %s", (_, key) => {
  expect(inputKeySchema.safeParse(key).success).toBe(false);
});
