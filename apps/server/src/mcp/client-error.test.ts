import { expect, test } from "vitest";
import { clientError } from "./client-error.ts";

test.for([
  [{ elicitation: { form: {}, url: {} } }, "elicitation (form, url)"],
  [{ roots: {}, sampling: { tools: {} } }, "roots, sampling (tools)"],
  [{ extensions: { "io.modelcontextprotocol/tasks": {} } }, "io.modelcontextprotocol/tasks"],
] as const)("a person who sees the message alone learns that %j has to be declared", ([requiredCapabilities, names]) => {
  const { message } = clientError({ code: "capability_required", data: { requiredCapabilities } });
  expect(message).toMatch(/Nothing was done\. Needed: /u);
  expect(message.endsWith(` ${names}.`)).toBe(true);
});

test("a person who sees the message alone learns all scopes that the token has to carry", () => {
  const { message } = clientError({ code: "insufficient_scope", data: { scopes: ["hoi4:read", "hoi4:write"] } });
  expect(message).toMatch(/ Needed: hoi4:read, hoi4:write\.$/u);
});

test("advice that cannot be given leaves the fixed sentence alone", () => {
  for (const data of [undefined, {}, { scopes: [] }]) {
    expect(clientError({ code: "insufficient_scope", data }).message).toBe("The access token lacks a scope that this operation needs.");
  }
});
