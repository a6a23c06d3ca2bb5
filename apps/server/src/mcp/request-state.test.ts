import { randomBytes } from "node:crypto";
import { createSeals } from "@holdfast/process";
import { expect, test } from "vitest";
import { createRequestStates, type RequestState, type RequestSubject } from "./request-state.ts";

const first = { id: "k1", secret: randomBytes(32) };
const second = { id: "k2", secret: randomBytes(32) };

const subject: RequestSubject = {
  principal: { issuer: "https://id.example", subject: "alice" },
  method: "tools/call",
  name: "test.ask",
  arguments: { a: 1, b: [2] },
};
const state: RequestState = { kind: "asking", answers: [{ key: "name", method: "elicitation/create", answer: { action: "accept" } }] };
const hence = (ms: number) => new Date(1000 + ms);
const states = (keys = [first], now = 1000) => createRequestStates({ seals: createSeals(keys), now: () => now });

test("a state opens for the request that it was given for, however its arguments are ordered", () => {
  const text = states().close(subject, state, hence(1));
  expect(states().open({ ...subject, arguments: { b: [2], a: 1 } }, text)).toEqual(state);
});

test.for<[string, Partial<RequestSubject>]>([
  ["another subject", { principal: { issuer: "https://id.example", subject: "bob" } }],
  ["another issuer", { principal: { issuer: "https://other.example", subject: "alice" } }],
  ["another method", { method: "prompts/get" }],
  ["another tool", { name: "test.other" }],
  ["other arguments", { arguments: { a: 1, b: [3] } }],
])("a state is refused for %s", ([, other]) => {
  const text = states().close(subject, state, hence(1));
  expect(() => states().open({ ...subject, ...other }, text)).toThrow("without our seal");
});

test("a state is refused once it has expired", () => {
  const text = states().close(subject, state, hence(1));
  expect(() => states([first], 1001).open(subject, text)).toThrow("expired");
});

test("a state that was altered in any place, cut or made up is refused", () => {
  const text = states().close(subject, state, hence(1));
  const forged = Array.from(text, (character, index) => text.slice(0, index) + (character === "A" ? "B" : "A") + text.slice(index + 1));
  for (const other of [...forged, text.slice(0, -1), `${text}A`, "", ".", "..", "state", text.replaceAll(".", ""), "\u0000", "é"])
    expect(() => states().open(subject, other)).toThrow("without our seal");
});

test("rotating the keys keeps states alive as long as the old key verifies", () => {
  const text = states().close(subject, state, hence(1));
  expect(states([second, first]).open(subject, text)).toEqual(state);
  expect(() => states([second]).open(subject, text)).toThrow("without our seal");
});

test("answers that no request could bring back are refused at once", () => {
  const long = { ...state, answers: [{ key: "name", method: "roots/list" as const, answer: { roots: ["x".repeat(400 * 1024)] } }] };
  expect(() => states().close(subject, long, hence(1))).toThrow(expect.objectContaining({ code: "invalid_arguments" }));
});
