import { expect, test } from "vitest";
import type { AskRound, InputAnswer, InputRequests } from "@holdfast/core";
import { askWhatIsMissing } from "./ask-rounds.ts";

const form = (message: string): InputRequests[string] => ({
  method: "elicitation/create",
  params: { message, requestedSchema: { type: "object", properties: { text: { type: "string" } } } },
});
const said = (key: string, text: string): InputAnswer => ({
  key,
  method: "elicitation/create",
  answer: { action: "accept", content: { text } },
});

/** Asks for a name, and once it has one, for a colour; an empty name is none. */
function ask({ answers }: AskRound): InputRequests | null {
  const name = answers["name"]?.["content"];
  if (name === undefined || JSON.stringify(name) === '{"text":""}') return { name: form("Your name?") };
  return answers["colour"] === undefined ? { colour: form("A colour?") } : null;
}

const capabilities = { elicitation: {} };
const round = (known: readonly InputAnswer[], given: readonly InputAnswer[]) => askWhatIsMissing({ ask, known, given, capabilities });

test("questions follow from earlier answers, round by round", () => {
  expect(round([], [])).toEqual({ answers: [], requests: { name: form("Your name?") } });
  expect(round([], [said("name", "Ada")])).toEqual({ answers: [said("name", "Ada")], requests: { colour: form("A colour?") } });
  const all = [said("name", "Ada"), said("colour", "blue")];
  expect(round([said("name", "Ada")], [said("colour", "blue")])).toEqual({ answers: all, requests: null });
});

test("answers to all rounds at once need no more rounds", () => {
  expect(round([], [said("colour", "blue"), said("name", "Ada")]).requests).toBeNull();
});

test("an answer under another key, of another kind, or one that is not believed is asked for again", () => {
  const again = { answers: [], requests: { name: form("Your name?") } };
  expect(round([], [said("nmae", "Ada")])).toEqual(again);
  expect(round([], [{ key: "name", method: "roots/list", answer: { roots: [] } }])).toEqual(again);
  expect(round([], [said("name", "")])).toEqual(again);
});

test("an answer of another kind never reaches the operation, however much it believes", () => {
  const wrong: InputAnswer = { key: "colour", method: "roots/list", answer: { roots: [] } };
  expect(round([said("name", "Ada")], [wrong])).toEqual({ answers: [said("name", "Ada")], requests: { colour: form("A colour?") } });
});

test("a better answer replaces one that was not believed", () => {
  expect(round([said("name", "")], [said("name", "Ada")]).answers).toEqual([said("name", "Ada")]);
});

test("a key that only every object has is no answer", () => {
  expect(round([], [said("constructor", "x"), said("__proto__", "x")]).answers).toEqual([]);
});

test("a client that cannot be asked is told what it lacks", () => {
  const blind = () => askWhatIsMissing({ ask, known: [], given: [], capabilities: { elicitation: { url: {} } } });
  expect(blind).toThrow(
    expect.objectContaining({ code: "capability_required", data: { requiredCapabilities: { elicitation: { form: {} } } } }),
  );
});

test("a question that is none of MCP's never leaves", () => {
  const broken = { name: { method: "elicitation/create" as const, params: { text: "no message" } } };
  expect(() => askWhatIsMissing({ ask: () => broken, known: [], given: [], capabilities })).toThrow(
    expect.objectContaining({ code: "internal" }),
  );
});
