import { expect, test } from "vitest";
import type { InputRequest, JsonObject } from "@holdfast/core";
import { askedCapabilities, missingCapabilities, missingForMethods } from "./client-capabilities.ts";

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
  expect(missingCapabilities(byKey, askedCapabilities(declared))).toEqual(missing);
});

test("of what was declared only that is kept which any question is about", () => {
  const big = "x".repeat(1000);
  const declared = {
    elicitation: { form: { big }, url: true, big },
    sampling: { tools: { big } },
    roots: { big },
    experimental: { big: {} },
  };
  expect(askedCapabilities(declared)).toEqual({ elicitation: { form: {}, url: null }, sampling: { tools: {} }, roots: {} });
});

test("before a question is known, any mode of asking will do", () => {
  expect(missingForMethods(["elicitation/create"], { elicitation: { url: {} } })).toBeNull();
  expect(missingForMethods(["elicitation/create", "roots/list"], {})).toEqual({ elicitation: {}, roots: {} });
});
