import { expect, test } from "vitest";
import type { InputRequest, JsonObject } from "@holdfast/core";
import { missingCapabilities, missingForMethods } from "./client-capabilities.ts";

const form: InputRequest = { method: "elicitation/create", params: { message: "?", requestedSchema: { type: "object", properties: {} } } };
const url: InputRequest = { method: "elicitation/create", params: { mode: "url", message: "?", url: "https://id.example" } };
const sampling: InputRequest = { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } };
const tools: InputRequest = { method: "sampling/createMessage", params: { messages: [], maxTokens: 1, tools: [] } };
const roots: InputRequest = { method: "roots/list", params: {} };

test.for<[string, readonly InputRequest[], JsonObject, JsonObject | null]>([
  ["a form, of a client that declares no mode", [form], { elicitation: {} }, null],
  ["a form, of a client that declares forms", [form], { elicitation: { form: {} } }, null],
  ["a form, of a client that declares URLs only", [form], { elicitation: { url: {} } }, { elicitation: { form: {} } }],
  ["a URL, of a client that declares no mode", [url], { elicitation: {} }, { elicitation: { url: {} } }],
  ["a URL, of a client that declares URLs", [url], { elicitation: { url: {} } }, null],
  ["both modes, of a client that declares nothing", [form, url], {}, { elicitation: { form: {}, url: {} } }],
  ["sampling", [sampling], { sampling: {} }, null],
  ["sampling with tools", [tools], { sampling: {} }, { sampling: { tools: {} } }],
  ["roots and sampling, of a client with roots", [roots, sampling], { roots: {} }, { sampling: {} }],
  ["roots, of a client whose declaration is no object", [roots], { roots: true }, { roots: {} }],
  ["nothing", [], {}, null],
])("what is missing for %s", ([, requests, declared, missing]) => {
  const byKey = Object.fromEntries(requests.map((request, index) => [`key-${index}`, request]));
  expect(missingCapabilities(byKey, declared)).toEqual(missing);
});

test("before a question is known, any mode of asking will do", () => {
  expect(missingForMethods(["elicitation/create"], { elicitation: { url: {} } })).toBeNull();
  expect(missingForMethods(["elicitation/create", "roots/list"], {})).toEqual({ elicitation: {}, roots: {} });
});
