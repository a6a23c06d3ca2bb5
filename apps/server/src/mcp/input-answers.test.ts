import { expect, test } from "vitest";
import { readAnswers } from "./input-answers.ts";

const sampled = { role: "assistant", content: { type: "text", text: "Paris" }, model: "m" };

test.for<[unknown, string]>([
  [{ action: "accept", content: { name: "Ada", age: 3, sure: true, tags: ["a"] } }, "elicitation/create"],
  [{ action: "decline" }, "elicitation/create"],
  [sampled, "sampling/createMessage"],
  [{ roots: [] }, "roots/list"],
  [{ roots: [{ uri: "file:///mods", name: "Mods" }] }, "roots/list"],
])("%j is an answer to %s and kept as it is", ([answer, method]) => {
  expect(readAnswers({ key: answer })).toEqual([{ key: "key", method, answer }]);
});

test.for([
  null,
  "text",
  7,
  [],
  {},
  { action: "agree" },
  { action: "accept", content: { nested: {} } },
  { roots: [{ name: "no uri" }] },
  { content: { type: "text", text: "no role" }, model: "m" },
])("%j is no answer to anything", (answer) => {
  expect(readAnswers({ key: answer, other: { roots: [] } }).map(({ key }) => key)).toEqual(["other"]);
});
