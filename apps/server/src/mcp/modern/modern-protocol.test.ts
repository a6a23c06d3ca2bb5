import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { AppError, definePack, taskIdSchema, toolResult } from "@holdfast/core";
import { taskIdOf, toolCall, type Answer } from "../../../../../test/support/mcp-request.ts";
import { createTestNode, type TestNode } from "../../testing/test-node.ts";
import { testPack } from "../../testing/test-pack.ts";

const token = "alice";
/** Offers operations and nothing else. */
const barePack = definePack({ name: "bare", operations: testPack.operations });

/** The task that an ordinary call made, as soon as the call waits for it. */
async function waitingTask(node: TestNode): Promise<ReturnType<TestNode["newestTask"]>> {
  await vi.waitFor(() => expect(node.hub.size).toBe(1));
  await vi.waitFor(() => expect(node.events.map(({ name }) => name)).toContain("task.created"));
  return node.newestTask();
}

test("discovery shows the tasks extension, tools and resources, and no capability of an older revision", async () => {
  const { result } = await createTestNode().call({ method: "server/discover", token });
  expect(result).toMatchObject({
    resultType: "complete",
    supportedVersions: ["2026-07-28"],
    capabilities: { tools: {}, resources: {}, prompts: {}, completions: {}, extensions: { "io.modelcontextprotocol/tasks": {} } },
  });
  expect(result?.["capabilities"]).not.toHaveProperty("tasks");
  const bare = await createTestNode({ packs: [barePack] }).call({ method: "server/discover", token });
  expect(Object.keys(bare.result?.["capabilities"] ?? {}).toSorted()).toEqual(["extensions", "resources", "tools"]);
});

test("tools are listed with what callers may leave out left optional", async () => {
  const { result } = await createTestNode().call({ method: "tools/list", token });
  const tools = result?.["tools"] as { name: string }[];
  const operations = testPack.operations.map(({ name }) => name);
  expect(tools.map(({ name }) => name)).toEqual([...operations, "test.announce", "test.job_inspect", "test.job_cancel"]);
  expect(tools[0]).toMatchObject({
    title: "Echo",
    inputSchema: { type: "object", properties: { workspaceId: { type: "string", default: "current" } }, additionalProperties: false },
    outputSchema: { type: "object", required: ["text"] },
    annotations: { readOnlyHint: true, destructiveHint: false },
  });
  expect(tools[0]).not.toHaveProperty("inputSchema.required");
  expect(tools[4]).toMatchObject({ annotations: { readOnlyHint: false, destructiveHint: true } });
});

test("a call that declares tasks gets a flat handle, and nothing that belongs to a result", async () => {
  const { result } = await createTestNode().call(toolCall("test.echo", {}, { token, tasks: true }));
  const keys = Object.keys(result ?? {}).toSorted();
  expect(keys).toEqual(["_meta", "createdAt", "lastUpdatedAt", "pollIntervalMs", "resultType", "status", "taskId", "ttlMs"]);
  expect(result).toMatchObject({ resultType: "task", status: "working", ttlMs: 86_400_000, pollIntervalMs: 1000 });
  expect(result?.["createdAt"]).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/u);
});

test("a completed task holds exactly the result that an ordinary call of the same gives", async () => {
  const node = createTestNode();
  // In another order than any schema has.
  const given = {
    isError: true,
    structuredContent: { z: 1, a: [1, 2.5, null], nested: { "": "\u0000" } },
    content: [{ text: "é \u2028 \ud800", type: "text" as const }],
  };
  const settlement = { kind: "completed" as const, result: given, artifacts: [] };
  const taskId = taskIdOf(await node.call(toolCall("test.echo", {}, { token, tasks: true })));
  await node.settle(node.newestTask(), settlement);
  const task = await node.call({ method: "tasks/get", params: { taskId }, token, tasks: true });
  const ordinary = node.call(toolCall("test.echo", {}, { token }));
  await node.settle(await waitingTask(node), settlement);
  const { resultType, _meta, ...result } = (await ordinary).result ?? {};
  expect(resultType).toBe("complete");
  expect(task.result).toMatchObject({ resultType: "complete", status: "completed" });
  expect(JSON.stringify(result)).toBe(JSON.stringify(given));
  expect(JSON.stringify(task.result?.["result"])).toBe(JSON.stringify(given));
  expect(task.result).not.toHaveProperty("content");
});

test("a failed task shows the fixed text of its fault and a reference, as a task and as an ordinary call", async () => {
  const node = createTestNode();
  const reference = randomUUID();
  const settlement = { kind: "failed" as const, code: "operation_timed_out" as const, reference, detail: "secret detail", retry: false };
  const taskId = taskIdOf(await node.call(toolCall("test.echo", {}, { token, tasks: true })));
  await node.settle(node.newestTask(), settlement);
  const task = await node.call({ method: "tasks/get", params: { taskId }, token, tasks: true });
  const ordinary = node.call(toolCall("test.echo", {}, { token }));
  await node.settle(await waitingTask(node), settlement);
  const error = { code: -32_603, message: "The operation exceeded its time limit.", data: { reference } };
  expect(task.result).toMatchObject({ resultType: "complete", status: "failed", error });
  expect(task.result).not.toHaveProperty("result");
  expect(await ordinary).toMatchObject({ status: 200, error });
});

test("a stored value that is no tool result fails the poll with a fixed error and leaves the task alone", async () => {
  const node = createTestNode();
  const taskId = taskIdOf(await node.call(toolCall("test.echo", {}, { token, tasks: true })));
  await node.settle(node.newestTask(), { kind: "completed", result: toolResult({ text: "fine" }), artifacts: [] });
  const found =
    (await node.faults.find?.({ id: node.newestTask(), principal: { issuer: "", subject: "", groups: [], scopes: [] } })) ?? null;
  expect(found).toBeNull();
  const spoiled: unknown[] = [null, { content: "text" }, { content: [], resultType: "task" }, { content: [{ type: "video" }] }];
  for (const result of spoiled) {
    node.faults.find = async ({ id }) => ({
      id,
      workspaceId: "current",
      operation: "test.echo",
      operationVersion: 1,
      status: "completed",
      statusMessage: null,
      progress: null,
      cancelRequested: false,
      attempt: null,
      inputRequests: {},
      createdAt: new Date(0),
      lastUpdatedAt: new Date(0),
      ttlMs: 60_000,
      pollIntervalMs: 1000,
      outcome: { kind: "result", result },
    });
    const answer = await node.call({ method: "tasks/get", params: { taskId }, token, tasks: true });
    expect(answer.error).toMatchObject({ code: -32_603, message: "Internal error." });
    expect(answer.text).not.toContain("tool result");
  }
  delete node.faults.find;
  expect((await node.call({ method: "tasks/get", params: { taskId }, token, tasks: true })).result).toMatchObject({ status: "completed" });
});

test("an operation that only runs as a task asks for the extension, and creates nothing without it", async () => {
  const node = createTestNode();
  const answer = await node.call(toolCall("test.background", {}, { token }));
  expect(answer).toMatchObject({
    status: 400,
    error: { code: -32_021, data: { requiredCapabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } } },
  });
  expect(node.writes).toEqual([]);
  expect((await node.call(toolCall("test.background", {}, { token, tasks: true }))).result).toMatchObject({ resultType: "task" });
});

test.for(["tasks/get", "tasks/update", "tasks/cancel"])("%s belongs to requests that declare the extension", async (method) => {
  const node = createTestNode();
  const taskId = taskIdOf(await node.call(toolCall("test.echo", {}, { token, tasks: true })));
  const answer = await node.call({ method, params: { taskId, inputResponses: {} }, token });
  expect(answer).toMatchObject({ status: 400, error: { code: -32_021 } });
  expect(node.writes).toEqual(["create test.echo"]);
});

test("an operation that is only for the foreground never becomes a task", async () => {
  const node = createTestNode();
  const answer = node.call(toolCall("test.foreground", {}, { token, tasks: true }));
  await node.settle(await waitingTask(node));
  expect((await answer).result).toMatchObject({ resultType: "complete", content: [{ type: "text", text: "done" }] });
});

test("declaring the extension sends no write into the background", async () => {
  const node = createTestNode();
  const answer = node.call(toolCall("test.change", {}, { token: "alice~test_read+test_write", tasks: true }));
  await node.settle(await waitingTask(node));
  expect((await answer).result).toMatchObject({ resultType: "complete" });
});

test.for<[unknown, string]>([
  [{ limit: "ten" }, "limit"],
  [{ limit: 11 }, "limit"],
  [{ text: null }, "text"],
  [{ txet: "typo" }, "txet"],
  [{ filter: { name: "x", nmae: "y" } }, "filter.nmae"],
  [{ workspaceId: 7 }, "workspaceId"],
  [{ text: "nul \u0000" }, "text"],
  [{ filter: { name: "half \ud800" } }, "filter.name"],
])("arguments %j are refused by the name of the field, and nothing is created", async ([args, field]) => {
  const node = createTestNode();
  const answer = await node.call(toolCall("test.echo", args, { token, tasks: true }));
  expect(answer.error).toMatchObject({ code: -32_602, data: { issues: [{ path: field }] } });
  expect(answer.error?.message).toContain(`${field}: `);
  expect(node.writes).toEqual([]);
});

test("a member name that Postgres cannot keep is refused too", async () => {
  const node = createTestNode();
  const answer = await node.call(toolCall("test.echo", { filter: { "n\u0000": 1 } }, { token }));
  expect(answer.error).toMatchObject({ code: -32_602, data: { issues: [{ path: "filter" }] } });
  expect(node.writes).toEqual([]);
});

test.for([[], "text", 7, null])("arguments that are %j instead of an object are refused", async (args) => {
  const node = createTestNode();
  expect((await node.call(toolCall("test.echo", args, { token }))).error).toMatchObject({ code: -32_602 });
  expect(node.writes).toEqual([]);
});

test("an unknown tool is named in the refusal", async () => {
  const answer = await createTestNode().call(toolCall("test.nothing", {}, { token }));
  expect(answer).toMatchObject({ status: 200, error: { code: -32_602, message: "Unknown tool.", data: { name: "test.nothing" } } });
});

test("a workspace without a grant answers like one that does not exist", async () => {
  const node = createTestNode();
  const [hidden, absent] = await Promise.all(
    ["hidden", "absent"].map((workspaceId) => node.call(toolCall("test.echo", { workspaceId }, { token, tasks: true }))),
  );
  expect(hidden?.error).toMatchObject({ code: -32_602, data: { workspaceId: "hidden" } });
  expect(hidden?.text.replace("hidden", "absent")).toBe(absent?.text);
});

test("a token without the scopes is told all that the operation needs, over HTTP too", async () => {
  const node = createTestNode();
  const answer = await node.call(toolCall("test.change", {}, { token: "alice~test_read" }));
  expect(answer).toMatchObject({ status: 403, id: 1, error: { code: -32_600, data: { scopes: ["test:read", "test:write"] } } });
  const challenge = answer.headers.get("WWW-Authenticate");
  expect(challenge).toContain('error="insufficient_scope"');
  expect(challenge).toContain('scope="test:read test:write"');
  expect(challenge).toContain('resource_metadata="http://127.0.0.1/.well-known/oauth-protected-resource/mcp"');
  expect(node.writes).toEqual([]);
});

test("ids that are unknown, foreign, altered, revoked or no ids at all answer alike, and only a real one reaches the store", async () => {
  const node = createTestNode();
  const own = taskIdOf(await node.call(toolCall("test.echo", {}, { token, tasks: true })));
  const foreign = taskIdOf(await node.call(toolCall("test.echo", {}, { token: "bob", tasks: true })));
  const elsewhere = taskIdOf(await createTestNode().call(toolCall("test.echo", {}, { token, tasks: true })));
  const read = vi.fn<() => Promise<null>>(async () => null);
  node.faults.find = read;
  const without = (text: string): string => text.slice(0, -1);
  const ids = [foreign, elsewhere, `${own}x`, without(own), own.toUpperCase(), own.replace("current", "hidden"), "nonsense", "", "é", "0"];
  for (const method of ["tasks/get", "tasks/cancel", "tasks/update"]) {
    const answers: Answer[] = [];
    for (const taskId of ids) answers.push(await node.call({ method, params: { taskId, inputResponses: {} }, token, tasks: true }));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 200, error: { code: -32_602, message: "Task not found." } });
    expect(answers[0]?.error).not.toHaveProperty("data");
    expect(read).not.toHaveBeenCalled();
    // Expired, or the grant was revoked: the store says null for its owner.
    const revoked = await node.call({ method, params: { taskId: own, inputResponses: {} }, token, tasks: true });
    expect(revoked.text).toBe(answers[0]?.text);
    expect(read).toHaveBeenCalledOnce();
    read.mockClear();
  }
  expect(node.writes).toEqual(["create test.echo", "create test.echo"]);
});

test("revoking the grant hides a task from its owner", async () => {
  const node = createTestNode();
  const taskId = taskIdOf(await node.call(toolCall("test.echo", {}, { token, tasks: true })));
  node.grants.splice(0);
  for (const method of ["tasks/get", "tasks/cancel", "tasks/update"]) {
    const params = { taskId, inputResponses: {} };
    expect((await node.call({ method, params, token, tasks: true })).error).toMatchObject({ message: "Task not found." });
  }
});

test("cancelling answers an empty acknowledgement, also twice and after the end", async () => {
  const node = createTestNode();
  const taskId = taskIdOf(await node.call(toolCall("test.echo", {}, { token, tasks: true })));
  for (let times = 0; times < 2; times += 1) {
    const { result } = await node.call({ method: "tasks/cancel", params: { taskId }, token, tasks: true });
    expect(Object.keys(result ?? {}).toSorted()).toEqual(["_meta", "resultType"]);
  }
  expect((await node.call({ method: "tasks/get", params: { taskId }, token, tasks: true })).result).toMatchObject({ status: "cancelled" });
});

test("answers to questions that nobody asked are acknowledged and change nothing", async () => {
  const node = createTestNode();
  const taskId = taskIdOf(await node.call(toolCall("test.echo", {}, { token, tasks: true })));
  const params = { taskId, inputResponses: { invented: { action: "accept", content: {} } } };
  const { result } = await node.call({ method: "tasks/update", params, token, tasks: true });
  expect(Object.keys(result ?? {}).toSorted()).toEqual(["_meta", "resultType"]);
  expect((await node.call({ method: "tasks/get", params: { taskId }, token, tasks: true })).result).toMatchObject({ status: "working" });
});

test("closing the connection of an ordinary call cancels its task", async () => {
  const node = createTestNode();
  const controller = new AbortController();
  const answer = node.call(toolCall("test.echo", {}, { token, signal: controller.signal })).catch(() => null);
  await waitingTask(node);
  controller.abort();
  await answer;
  await node.cancellations.idle();
  expect(node.writes).toEqual(["create test.echo", "abandon"]);
  expect(node.hub.size).toBe(0);
  expect(node.events.filter(({ error }) => error !== undefined)).toEqual([]);
});

test("closing the connection that asked for a task cancels nothing", async () => {
  const node = createTestNode();
  const controller = new AbortController();
  await node.call(toolCall("test.echo", {}, { token, tasks: true, signal: controller.signal }));
  controller.abort();
  await node.cancellations.idle();
  expect(node.writes).toEqual(["create test.echo"]);
});

test("a node that stops tells waiting calls to come back and cancels nothing", async () => {
  const node = createTestNode();
  const answer = node.call(toolCall("test.echo", {}, { token }));
  await waitingTask(node);
  node.stop.abort();
  expect(await answer).toMatchObject({ status: 503, error: { code: -32_603 } });
  expect((await answer).headers.get("Retry-After")).toBe("1");
  expect(node.writes).toEqual(["create test.echo"]);
});

test("a node that already waits for as many tasks as it can says so before it creates one", async () => {
  const node = createTestNode({ maxWatches: 0 });
  expect(await node.call(toolCall("test.echo", {}, { token }))).toMatchObject({ status: 503, error: { code: -32_603 } });
  expect(node.writes).toEqual([]);
});

test("a database out of reach is a 503, and an ordinary call that may have been stored is cancelled when it is back", async () => {
  const node = createTestNode();
  node.faults.create = () => Promise.reject(new AppError("storage_unavailable", "could not create tasks: connect ECONNREFUSED 10.0.0.7"));
  const answer = await node.call(toolCall("test.echo", {}, { token }));
  expect(answer).toMatchObject({
    status: 503,
    error: { code: -32_603, message: "The service cannot reach its database. Try again shortly." },
  });
  expect(answer.text).not.toContain("ECONNREFUSED");
  await node.cancellations.idle();
  expect(node.writes).toEqual(["create test.echo", "abandon"]);
});

test("a fault of ours is answered with a reference that the log has, and with nothing else of it", async () => {
  const node = createTestNode();
  node.faults.create = () => Promise.reject(new Error("column workspace.secret does not exist"));
  const answer = await node.call(toolCall("test.echo", {}, { token, tasks: true }));
  expect(answer).toMatchObject({ status: 200, error: { code: -32_603, message: "Internal error." } });
  expect(Object.keys(answer.error?.data ?? {})).toEqual(["reference"]);
  expect(answer.text).not.toContain("secret");
  const logged = node.events.find(({ name }) => name === "http.served")?.error;
  expect(logged).toMatchObject({ message: expect.stringContaining(String(answer.error?.data?.["reference"])) as string });
  expect(logged).toMatchObject({ cause: { message: "column workspace.secret does not exist" } });
});

test("equal request ids in flight each get their own answer", async () => {
  const node = createTestNode();
  const calls = ["alice", "bob", "alice", "bob"].map((subject) =>
    node.call(toolCall("test.fresh", {}, { token: subject, id: 0, tasks: true })),
  );
  const ids = (await Promise.all(calls)).map(taskIdOf);
  expect(new Set(ids).size).toBe(4);
  const owners = await Promise.all(ids.map((taskId) => node.call({ method: "tasks/get", params: { taskId }, token, tasks: true, id: 0 })));
  expect(owners.map(({ error }) => error === undefined)).toEqual([true, false, true, false]);
});

test.for([0, "", "0", -1, "é"])("a request id of %j comes back with its type", async (id) => {
  const { id: answered } = await createTestNode().call({ method: "tools/list", token, id });
  expect(answered).toBe(id);
});

test("every task and every cancellation leaves a line with request and task id", async () => {
  const node = createTestNode();
  const headers = { "X-Request-Id": "r-1" };
  const taskId = taskIdOf(await node.call(toolCall("test.echo", {}, { token, tasks: true, headers })));
  await node.call({ method: "tasks/cancel", params: { taskId }, token, tasks: true, headers: { "X-Request-Id": "r-2" } });
  const id = taskIdSchema.parse(node.newestTask());
  expect(node.events.map(({ name, event }) => [name, event["requestId"], event["taskId"]])).toEqual([
    ["task.created", "r-1", id],
    ["http.served", "r-1", undefined],
    ["task.cancelRequested", "r-2", id],
    ["http.served", "r-2", undefined],
  ]);
});

test("the artifact template is listed, and no artifact is", async () => {
  const node = createTestNode({ packs: [barePack] });
  expect((await node.call({ method: "resources/templates/list", token })).result).toMatchObject({
    resourceTemplates: [{ uriTemplate: "holdfast://workspace/{workspace}/artifact/{sha256}/{name}{?offset,length}" }],
  });
  expect((await node.call({ method: "resources/list", token })).result).toMatchObject({ resources: [] });
});

test("a cursor that was never given out is refused", async () => {
  expect((await createTestNode().call({ method: "tools/list", params: { cursor: "x" }, token })).error).toMatchObject({ code: -32_602 });
});

const uri = `holdfast://workspace/current/artifact/${"ab".repeat(32)}/graph.json`;

test("a range of an artifact comes with its place in the whole and the address of the next", async () => {
  const node = createTestNode({
    readArtifact: async ({ offset, length }) => ({
      bytes: Buffer.from("0123456789").subarray(offset, offset + length),
      totalBytes: 10,
      mediaType: "application/json",
    }),
  });
  const first = await node.call({ method: "resources/read", params: { uri: `${uri}?offset=2&length=6` }, token });
  expect(first.result).toMatchObject({
    contents: [{ uri: `${uri}?offset=2&length=6`, mimeType: "application/json", text: "234567" }],
    _meta: {
      "holdfast/range": { offset: 2, length: 6 },
      "holdfast/totalBytes": 10,
      "holdfast/continuationUri": `${uri}?offset=8&length=6`,
    },
  });
  const last = await node.call({ method: "resources/read", params: { uri: `${uri}?offset=8&length=6` }, token });
  expect(last.result).toMatchObject({ contents: [{ text: "89" }], _meta: { "holdfast/continuationUri": null } });
});

test("bytes that are no text come as base64", async () => {
  const node = createTestNode({
    readArtifact: async () => ({ bytes: Uint8Array.of(0xff, 0x00), totalBytes: 2, mediaType: "application/json" }),
  });
  const { result } = await node.call({ method: "resources/read", params: { uri }, token });
  expect(result).toMatchObject({ contents: [{ blob: "/wA=" }] });
});

test.for(["test://nonexistent-resource", `${uri}?offset=-1`, uri])("%s is not found, and named", async (address) => {
  const answer = await createTestNode().call({ method: "resources/read", params: { uri: address }, token });
  expect(answer).toMatchObject({ status: 200, error: { code: -32_602, message: "Resource not found.", data: { uri: address } } });
});

test.for(["tasks/list", "tasks/result", "prompts/list", "ping", "initialize", "completion/complete", "logging/setLevel", "nonsense"])(
  "%s is no method of this revision here",
  async (method) => {
    expect(await createTestNode({ packs: [barePack] }).call({ method, params: {}, token, tasks: true })).toMatchObject({
      status: 404,
      error: { code: -32_601 },
    });
  },
);
