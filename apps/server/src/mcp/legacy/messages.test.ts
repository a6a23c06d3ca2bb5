import { expect, test } from "vitest";
import { readMessage } from "./messages.ts";

test.for([0, "", -1, 1.5, "x"])("a request keeps its id %j", (id) => {
  expect(readMessage({ jsonrpc: "2.0", id, method: "ping" })).toEqual({ kind: "request", id, method: "ping", params: {} });
});

test("notifications and both kinds of answers are told apart", () => {
  expect(readMessage({ jsonrpc: "2.0", method: "x", params: { a: [1] } })).toEqual({
    kind: "notification",
    method: "x",
    params: { a: [1] },
  });
  expect(readMessage({ jsonrpc: "2.0", id: 1, result: { a: null } })).toEqual({ kind: "answer", id: 1, answer: { result: { a: null } } });
  expect(readMessage({ jsonrpc: "2.0", id: 1, error: { code: 1 } })).toEqual({ kind: "answer", id: 1, answer: { error: { code: 1 } } });
});

test.for([
  null,
  1,
  "x",
  [],
  {},
  { id: 1, method: "x" },
  { jsonrpc: "1.0", id: 1, method: "x" },
  { jsonrpc: "2.0", id: null, method: "x" },
  { jsonrpc: "2.0", id: {}, method: "x" },
  { jsonrpc: "2.0", id: 1 },
  { jsonrpc: "2.0", id: 1, method: "x", params: [] },
  { jsonrpc: "2.0", id: 1, method: "x", result: {} },
  { jsonrpc: "2.0", id: 1, result: {}, error: {} },
])("%j is no message", (value) => {
  expect(readMessage(value)).toBeNull();
});
