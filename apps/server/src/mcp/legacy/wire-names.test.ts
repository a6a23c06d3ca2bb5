import { randomUUID } from "node:crypto";
import { taskIdSchema } from "@holdfast/core";
import { expect, test } from "vitest";
import { callName, LAST_POSITION, readTaskQuestionName, readWireName, resultName, sessionName, taskQuestionName } from "./wire-names.ts";

const callId = taskIdSchema.parse(randomUUID());

test.for([0, 7, LAST_POSITION])("a place in a call is read as it was written, at %i", (position) => {
  expect(readWireName(callName(callId, position))).toEqual({ kind: "call", callId, position });
});

test("a place in a session's stream is read as it was written", () => {
  expect(readWireName(sessionName(new Date(1_764_500_000_123)))).toEqual({ kind: "session", at: new Date(1_764_500_000_123) });
});

test.for([0, "", "a.b", 1.5])("a wait for a result is read with its request id %j and what was asked", (requestId) => {
  const name = resultName("l.k.current.x.y", requestId, ["first.key", "second"]);
  expect(readWireName(name)).toEqual({ kind: "result", handle: "l.k.current.x.y", requestId, asked: ["first.key", "second"] });
});

test("a question of a task is read with whatever its key holds", () => {
  const name = taskQuestionName("l.k.current.x.y", "a.b~c:d");
  expect(readTaskQuestionName(name)).toEqual({ handle: "l.k.current.x.y", key: "a.b~c:d" });
  expect(readTaskQuestionName("no-space")).toBeNull();
});

test.for([
  "",
  ".",
  "c",
  `c.${callId}`,
  `c.${callId}.`,
  `c.${callId}.-1`,
  `c.${callId}.1.2`,
  `c.${callId}.${LAST_POSITION + 1}`,
  "c.not-a-uuid.1",
  "s.",
  "s.-1",
  "s.1e9",
  `s.${"9".repeat(16)}`,
  "r.",
  "r.!!!",
  `r.${Buffer.from('["h",null,[]]').toString("base64url")}`,
  `r.${Buffer.from("[1,2,3]").toString("base64url")}`,
  "x.1",
])("%j names nothing", (text) => {
  expect(readWireName(text)).toBeNull();
});
