import { expect, test } from "vitest";
import { taskIdOf, toolCall, type ModernRequest } from "../../../../../test/support/mcp-request.ts";
import { createTestNode, type TestNode } from "../../testing/test-node.ts";
import { sayText } from "../../testing/test-pack.ts";

const token = "alice~test_read+test_write";
const meta = (key: string, value: unknown): Partial<ModernRequest> => ({ meta: { [key]: value } });
const call = (params: Record<string, unknown>, extra: Partial<ModernRequest> = {}): ModernRequest => ({
  method: "tools/call",
  params: { name: "test.echo", arguments: {}, ...params },
  headers: { "Mcp-Name": "test.echo" },
  ...extra,
});
const of = (method: string, params: Record<string, unknown>, extra: Partial<ModernRequest> = {}): ModernRequest => ({
  method,
  params,
  ...extra,
});

/** What is wrong, the request, and where an answer must say that it is; null where the protocol has no place for that. */
type Row = readonly [string, ModernRequest, string | null];

const INVALID_PARAMS: readonly Row[] = [
  ["a call without a name", { method: "tools/call", params: { arguments: {} }, headers: { "Mcp-Name": "" } }, "name"],
  ["a name that is no text", call({ name: 7 }), "name"],
  ["arguments that are a list", call({ arguments: [] }), "arguments"],
  ["arguments that are null", call({ arguments: null }), "arguments"],
  ["an argument of another type", call({ arguments: { limit: "x" } }), "limit"],
  ["an argument that nobody knows", call({ arguments: { txet: "x" } }), "txet"],
  ["an argument with NUL", call({ arguments: { text: "\u0000" } }), "text"],
  ["half of a surrogate pair deep inside", call({ arguments: { filter: { name: "\udfff" } } }), "filter.name"],
  ["a workspace that cannot be one", call({ arguments: { workspaceId: ["current"] } }), "workspaceId"],
  ["a tool of no pack", call({ name: "nothing" }, { headers: {} }), null],
  ["a requestState that is a number", call({ requestState: 1 }), null],
  ["a requestState that is made up", call({ requestState: "eyJ9.k1.AAAA" }), null],
  ["a requestState of nothing", call({ requestState: "" }), null],
  ["a retention that is a text", call({}, meta("holdfast/ttlMs", "1h")), "_meta.holdfast/ttlMs"],
  ["an answer with NUL", call({ inputResponses: { a: { action: "accept", content: { b: "\u0000" } } } }), "a.content.b"],
  ["answers that are a list", call({ inputResponses: [sayText("Ada")] }), "inputResponses"],
  ["answers that are null", call({ inputResponses: null }), "inputResponses"],
  ["an update whose answers are a text", of("tasks/update", { taskId: "x", inputResponses: "Ada" }), "inputResponses"],
  ["an update whose answers are null", of("tasks/update", { taskId: "x", inputResponses: null }), "inputResponses"],
  ["a prompt whose answers are a number", of("prompts/get", { name: "asking", inputResponses: 1 }), "inputResponses"],
  ["a key with NUL", toolCall("test.change", { requestKey: "\u0000" }), "requestKey"],
  ["a key that is a number", toolCall("test.change", { requestKey: 1 }), "requestKey"],
  ["a cursor of the tools", of("tools/list", { cursor: "x" }), "cursor"],
  ["a cursor that is a number", of("tools/list", { cursor: 1 }), "cursor"],
  ["a cursor of the prompts", of("prompts/list", { cursor: "" }), "cursor"],
  ["a cursor of the resources", of("resources/list", { cursor: "x" }), "cursor"],
  ["a cursor of the templates", of("resources/templates/list", { cursor: "x" }), "cursor"],
  ["a uri that is no text", of("resources/read", { uri: 7 }), "uri"],
  ["no uri", of("resources/read", {}), "uri"],
  ["a handle that is no text", of("tasks/get", { taskId: 7 }), "taskId"],
  ["no handle", of("tasks/cancel", {}), "taskId"],
  ["a handle that is empty", of("tasks/get", { taskId: "" }), null],
  ["a handle with NUL", of("tasks/get", { taskId: "m.k1\u0000" }), null],
  ["a prompt without a name", of("prompts/get", {}), "name"],
  ["a prompt with arguments that are a text", of("prompts/get", { name: "greeting", arguments: "Ada" }), "arguments"],
  ["a completion of nothing", of("completion/complete", { argument: { name: "whom", value: "" } }), "ref"],
];

async function sent(node: TestNode, request: ModernRequest): Promise<Awaited<ReturnType<TestNode["call"]>>> {
  return await node.call({ token, tasks: true, id: "the-id", ...request });
}

test.for(INVALID_PARAMS)(
  "%s is answered with -32602 on the request, by the name of the member, and nothing is written",
  async ([, request, path]) => {
    const node = createTestNode();
    const answer = await sent(node, request);
    expect(answer).toMatchObject({ id: "the-id", error: { code: -32_602 } });
    // Refused by a header that the request could not have, or answered as what it is: never a fault of ours.
    expect(answer.status).toBe(200);
    expect(answer.error).toMatchObject(path === null ? {} : { data: { issues: [{ path }] } });
    expect(answer.error?.message).toContain(path ?? "");
    expect(node.writes).toEqual([]);
    expect(node.events.filter(({ error }) => error !== undefined && error !== null)).toEqual([]);
  },
);

const BAD_REQUEST: readonly (readonly [string, ModernRequest, number])[] = [
  ["another name in the header", call({}, { headers: { "Mcp-Name": "test.fresh" } }), -32_020],
  ["a name in the header that is no Base64", call({}, { headers: { "Mcp-Name": "=?base64?!?=" } }), -32_020],
  ["no name in the header", call({}, { headers: { "Mcp-Name": "" } }), -32_020],
  ["another method in the header", call({}, { headers: { "Mcp-Method": "tools/list" } }), -32_020],
  ["another prompt in the header", of("prompts/get", { name: "asking" }, { headers: { "Mcp-Name": "greeting" } }), -32_020],
  ["a handle other than in the header", of("tasks/get", { taskId: "a" }, { headers: { "Mcp-Name": "b" } }), -32_020],
  ["another revision in the header", call({}, { headers: { "MCP-Protocol-Version": "2025-11-25" } }), -32_020],
  ["a mirrored argument without its header", toolCall("test.mirrored", { region: "eu" }), -32_020],
  ["capabilities that are no object", call({}, meta("io.modelcontextprotocol/clientCapabilities", "all")), -32_602],
  ["no capabilities", call({}, meta("io.modelcontextprotocol/clientCapabilities", undefined)), -32_602],
  ["a revision that nobody serves", call({}, { headers: { "MCP-Protocol-Version": "2099-01-01" } }), -32_020],
  ["a progress token that is a list", call({}, meta("progressToken", [1])), -32_600],
  ["the extension not declared", of("tasks/get", { taskId: "a" }, { tasks: false }), -32_021],
  ["a capability not declared", toolCall("test.ask_midway"), -32_021],
];

test.for(BAD_REQUEST)("%s is a bad request over HTTP too, and nothing is written", async ([, request, code]) => {
  const node = createTestNode();
  expect(await sent(node, request)).toMatchObject({ status: 400, id: "the-id", error: { code } });
  expect(node.writes).toEqual([]);
});

test("a bad request leaves a good one right after it alone", async () => {
  const node = createTestNode();
  for (const [, request] of INVALID_PARAMS) await sent(node, request);
  taskIdOf(await sent(node, toolCall("test.echo")));
});
