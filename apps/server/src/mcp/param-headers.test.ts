import { expect, test } from "vitest";
import { toolCall } from "../../../../test/support/mcp-request.ts";
import { createTestNode } from "../testing/test-node.ts";
import { createParamHeaderCheck } from "./param-headers.ts";
import type { ToolDescription } from "./tool-catalog.ts";

const token = "alice";
const base64 = (text: string): string => `=?base64?${Buffer.from(text).toString("base64")}?=`;

test.for<[string, Record<string, unknown>, Record<string, string>]>([
  ["the header says the same", { region: "eu" }, { "Mcp-Param-Region": "eu" }],
  ["its name is written otherwise", { region: "eu" }, { "MCP-PARAM-REGION": "eu" }],
  ["it says the same in Base64", { region: "日本 " }, { "Mcp-Param-Region": base64("日本 ") }],
  ["it only looks like Base64", { region: "ZXU=" }, { "Mcp-Param-Region": "ZXU=" }],
  ["there is nothing to mirror", {}, {}],
  ["the value is null", { region: null }, {}],
  ["the header has nothing to mirror", {}, { "Mcp-Param-Region": "eu" }],
  ["the text is empty", { region: "" }, { "Mcp-Param-Region": "" }],
  ["an integer deep inside agrees", { place: { floor: 42 } }, { "Mcp-Param-Floor": "42" }],
  ["an integer is written as a decimal", { place: { floor: 42 } }, { "Mcp-Param-Floor": "42.0" }],
  ["a header of no argument comes along", {}, { "Mcp-Param-Other": "x" }],
])("a call is taken when %s", async ([, args, headers]) => {
  const node = createTestNode();
  const { status, result } = await node.call(toolCall("test.mirrored", args, { token, tasks: true, headers }));
  expect({ status, kind: result?.["resultType"] }).toEqual({ status: 200, kind: "task" });
});

test.for<[string, Record<string, unknown>, Record<string, string>]>([
  ["the header says something else", { region: "eu" }, { "Mcp-Param-Region": "us" }],
  ["the header differs in case", { region: "eu" }, { "Mcp-Param-Region": "EU" }],
  ["the header is missing", { region: "eu" }, {}],
  ["the Base64 has a wrong padding", { region: "Hello" }, { "Mcp-Param-Region": "=?base64?SGVsbG8?=" }],
  ["the Base64 has foreign characters", { region: "Hello" }, { "Mcp-Param-Region": "=?base64?SGVs!!!bG8=?=" }],
  ["the Base64 is no UTF-8", { region: "\ufffd" }, { "Mcp-Param-Region": `=?base64?${Buffer.of(0xff).toString("base64")}?=` }],
  ["the wrapping is written otherwise", { region: "Hello" }, { "Mcp-Param-Region": "=?BASE64?SGVsbG8=?=" }],
  ["an integer deep inside differs", { place: { floor: 42 } }, { "Mcp-Param-Floor": "43" }],
  ["an integer is written so that only programs read it", { place: { floor: 42 } }, { "Mcp-Param-Floor": "0x2a" }],
])("a call is refused before anything is written when %s", async ([, args, headers]) => {
  const node = createTestNode();
  const answer = await node.call(toolCall("test.mirrored", args, { token, tasks: true, headers, id: "r-7" }));
  expect(answer).toMatchObject({ status: 400, id: "r-7", error: { code: -32_020 } });
  expect(node.writes).toEqual([]);
});

function toolWith(inputSchema: Record<string, unknown>): ToolDescription {
  const annotations = { title: "", readOnlyHint: true, destructiveHint: false, openWorldHint: false };
  return { name: "demo", title: "", description: "", inputSchema: { type: "object", ...inputSchema }, annotations };
}

test.for<[Record<string, unknown>, string]>([
  [{ properties: { a: { type: "string", "x-mcp-header": "A b" } } }, "is no header name"],
  [{ properties: { a: { type: "string", "x-mcp-header": "" } } }, "is no header name"],
  [{ properties: { a: { type: "number", "x-mcp-header": "A" } } }, "is for texts"],
  [{ properties: { a: { type: "object", "x-mcp-header": "A" } } }, "is for texts"],
  [{ properties: { a: { type: "string", "x-mcp-header": "A" }, b: { type: "string", "x-mcp-header": "a" } } }, "is used twice"],
  [{ properties: { a: { type: "array", items: { type: "string", "x-mcp-header": "A" } } } }, "where no client looks"],
  [{ anyOf: [{ properties: { a: { type: "string", "x-mcp-header": "A" } } }] }, "where no client looks"],
  [{ $defs: { a: { type: "string", "x-mcp-header": "A" } } }, "where no client looks"],
  [{ "x-mcp-header": "A" }, "where no client looks"],
])("a tool with the schema %j does not start", ([schema, why]) => {
  expect(() => createParamHeaderCheck([toolWith(schema)])).toThrow(why);
});

test("a member of that name and values that look like it are no annotations", () => {
  const schema = {
    properties: {
      "x-mcp-header": { type: "string" },
      a: { type: "object", default: { "x-mcp-header": "A" }, examples: [{ "x-mcp-header": "A" }] },
    },
  };
  expect(() => createParamHeaderCheck([toolWith(schema)])("demo", { "x-mcp-header": "x" }, new Headers())).not.toThrow();
});
