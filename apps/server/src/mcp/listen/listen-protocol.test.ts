import { expect, test } from "vitest";
import { definePack, toolResult, type TaskId } from "@holdfast/core";
import { listenFor, openStream, showsTask, type StreamedResponse } from "../../../../../test/support/event-stream.ts";
import { readAnswer, modernRequest, taskIdOf, toolCall, type Answer, type ModernRequest } from "../../../../../test/support/mcp-request.ts";
import { createTestNode, principalOf, type TestNode } from "../../testing/test-node.ts";

const url = "http://127.0.0.1/mcp";
const STAMP = "io.modelcontextprotocol/subscriptionId";

async function listen(node: TestNode, notifications: unknown, extra: Partial<ModernRequest> = {}): Promise<StreamedResponse> {
  return await openStream(url, listenFor(notifications, { token: "alice", ...extra }), node.request);
}

async function refusal(node: TestNode, notifications: unknown, extra: Partial<ModernRequest> = {}): Promise<Answer> {
  return await readAnswer(await node.request(modernRequest(url, listenFor(notifications, { token: "alice", ...extra }))));
}

async function begin(node: TestNode, extra: Partial<ModernRequest> = {}, tool = "test.fresh"): Promise<{ handle: string; id: TaskId }> {
  const handle = taskIdOf(await node.call(toolCall(tool, {}, { token: "alice", tasks: true, ...extra })));
  return { handle, id: node.newestTask() };
}

test("the stream begins with what is honoured, tells what changes, and ends with its answer when all is told", async () => {
  const node = createTestNode();
  const { handle, id } = await begin(node);
  const stream = await listen(node, { taskIds: [handle] }, { id: "sub" });
  expect([stream.status, stream.headers.get("Content-Type"), stream.headers.get("X-Accel-Buffering")]).toEqual([
    200,
    "text/event-stream",
    "no",
  ]);
  expect(await stream.next()).toEqual({
    jsonrpc: "2.0",
    method: "notifications/subscriptions/acknowledged",
    params: { notifications: { taskIds: [handle] }, _meta: { [STAMP]: "sub" } },
  });
  await node.settle(id, { kind: "completed", result: toolResult({ text: "done" }), artifacts: [] });
  const [told, answer, ...more] = await stream.rest();
  const polled = await node.call({ method: "tasks/get", params: { taskId: handle }, token: "alice", tasks: true });
  const { resultType: _type, _meta, ...state } = polled.result ?? {};
  expect(told).toEqual({ jsonrpc: "2.0", method: "notifications/tasks", params: { ...state, _meta: { [STAMP]: "sub" } } });
  expect(state).toMatchObject({ taskId: handle, status: "completed", result: { content: [{ type: "text", text: "done" }] } });
  expect(answer).toEqual({
    jsonrpc: "2.0",
    id: "sub",
    result: {
      resultType: "complete",
      _meta: { [STAMP]: "sub", "io.modelcontextprotocol/serverInfo": { name: "holdfast", title: "Holdfast", version: "0.0.0" } },
    },
  });
  expect(more).toEqual([]);
  await expect.poll(() => node.listen.size).toBe(0);
});

test("an id that would weigh down every message of the stream is refused", async () => {
  const node = createTestNode();
  expect(await refusal(node, { toolsListChanged: true }, { id: "x".repeat(1025) })).toMatchObject({
    status: 400,
    error: { code: -32_600 },
  });
  await using stream = await listen(node, { toolsListChanged: true }, { id: "x".repeat(1024) });
  expect(await stream.next()).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
});

test.for([0, "", "0", 7])("the id %j is stamped on every message as it came", async (id) => {
  const node = createTestNode();
  const task = await begin(node);
  const stream = await listen(node, { taskIds: [task.handle] }, { id });
  await node.settle(task.id);
  const [acknowledged, told, answer] = await stream.rest();
  expect([acknowledged?.params?.["_meta"], told?.params?.["_meta"]]).toEqual([{ [STAMP]: id }, { [STAMP]: id }]);
  expect([answer?.id, answer?.result?.["_meta"]]).toEqual([id, expect.objectContaining({ [STAMP]: id })]);
});

test("ids that are foreign, unknown, altered, out of scope or no ids at all are left out without a word", async () => {
  const node = createTestNode();
  const own = await begin(node);
  const foreign = await begin(node, { token: "bob" });
  const guarded = await begin(node, { token: "alice~test_read" }, "test.guarded");
  const others = [foreign.handle, guarded.handle, `${own.handle}x`, own.handle.slice(0, -1), "", "\u0000", "x".repeat(5000)];
  await using stream = await listen(node, { taskIds: [...others, own.handle, own.handle] });
  expect((await stream.next())?.params?.["notifications"]).toEqual({ taskIds: [own.handle] });
  await node.settle(foreign.id);
  await node.settle(guarded.id);
  await node.settle(own.id);
  const told = await stream.rest();
  expect(told.map(({ params }) => params?.["taskId"])).toEqual([own.handle, undefined]);
});

test("a stream that honours nothing says so and ends", async () => {
  const node = createTestNode();
  const foreign = await begin(node, { token: "bob" });
  for (const notifications of [{}, { toolsListChanged: false, taskIds: [foreign.handle] }, { resourceSubscriptions: ["holdfast://x"] }]) {
    const [acknowledged, answer, ...more] = await (await listen(node, notifications)).rest();
    expect([acknowledged?.params?.["notifications"], answer?.result?.["resultType"], more]).toEqual([{}, "complete", []]);
  }
});

test("a task that is over is told at once, and so is an open question", async () => {
  const node = createTestNode();
  const over = await begin(node);
  await node.settle(over.id);
  const asking = await begin(node, { capabilities: { elicitation: {}, roots: {} } }, "test.ask_midway");
  const requests = {
    name: { method: "elicitation/create" as const, params: { message: "Who?", requestedSchema: { type: "object", properties: {} } } },
  };
  await node.settle(asking.id, { kind: "suspended", requests });
  await using stream = await listen(node, { taskIds: [over.handle, asking.handle] }, { capabilities: { elicitation: {} } });
  await stream.next();
  const told = [await stream.next(), await stream.next()];
  expect(told.map((message) => message?.params)).toEqual([
    expect.objectContaining({ taskId: over.handle, status: "completed" }),
    expect.objectContaining({ taskId: asking.handle, status: "input_required", inputRequests: requests }),
  ]);
});

test("a question is kept from a client that did not say it can answer it, and the outcome is not (C9.3)", async () => {
  const node = createTestNode();
  const asking = await begin(node, { capabilities: { elicitation: {}, roots: {} } }, "test.ask_midway");
  const requests = { where: { method: "roots/list" as const, params: {} } };
  await node.settle(asking.id, { kind: "suspended", requests });
  await using stream = await listen(node, { taskIds: [asking.handle] }, { capabilities: { elicitation: {} } });
  expect((await stream.next())?.params?.["notifications"]).toEqual({ taskIds: [asking.handle] });
  await node.call({ method: "tasks/cancel", params: { taskId: asking.handle }, token: "alice", tasks: true });
  expect((await stream.rest()).map(({ params }) => params?.["status"])).toEqual(["cancelled", undefined]);
  expect(node.listenFaults).toEqual([]);
});

test("what was stored and cannot be delivered is not told, and an operator learns of it (C1.6)", async () => {
  const node = createTestNode();
  const { handle, id } = await begin(node);
  await using stream = await listen(node, { taskIds: [handle] });
  await stream.next();
  node.faults.find = async (ref) => {
    const task = await node.store.find(ref);
    return task === null ? null : { ...task, outcome: { kind: "result", result: { content: "no list" } } };
  };
  await node.settle(id);
  expect((await stream.rest()).map(({ method }) => method)).toEqual([undefined]);
  expect(node.listenFaults).toMatchObject([{ code: "internal" }]);
});

test("a revoked grant ends the telling without a word", async () => {
  const node = createTestNode();
  const { handle, id } = await begin(node);
  await using stream = await listen(node, { toolsListChanged: true, taskIds: [handle] });
  await stream.next();
  let looks = 0;
  node.faults.find = (ref) => node.store.find(ref).finally(() => (looks += 1));
  const kept = node.grants.splice(0);
  node.hub.hint([id]);
  await expect.poll(() => looks).toBe(1);
  node.grants.push(...kept);
  await node.settle(id);
  node.lists.announce("tools");
  expect((await stream.next())?.method).toBe("notifications/tools/list_changed");
});

test("naming tasks without the extension is refused with what is missing", async () => {
  const node = createTestNode();
  const { handle } = await begin(node);
  for (const taskIds of [[handle], []]) {
    const answer = await refusal(node, { taskIds }, { tasks: false, id: 0 });
    expect(answer).toMatchObject({
      status: 400,
      id: 0,
      error: { code: -32_021, data: { requiredCapabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } } },
    });
  }
});

test.for([undefined, null, [], "all", { taskIds: "x" }, { taskIds: [1] }, { toolsListChanged: "yes" }, { resourceSubscriptions: {} }])(
  "%j is no filter",
  async (notifications) => {
    expect(await refusal(createTestNode(), notifications)).toMatchObject({ status: 200, error: { code: -32_602 } });
  },
);

test("more ids than one stream may follow are refused, not cut", async () => {
  const node = createTestNode();
  const ids = Array.from({ length: 257 }, (_, index) => `id-${index}`);
  expect((await refusal(node, { taskIds: ids })).error).toMatchObject({ code: -32_602 });
  expect((await (await listen(node, { taskIds: ids.slice(1) })).rest()).length).toBe(2);
});

test.for<[string, Record<string, string>, number, number]>([
  ["another method in its header", { "Mcp-Method": "tools/list" }, 400, -32_020],
  ["another revision in its header", { "MCP-Protocol-Version": "2025-11-25" }, 400, -32_020],
  ["another media type", { "Content-Type": "text/plain" }, 415, -32_000],
])("a listen request with %s is refused as any other", async ([, headers, status, code]) => {
  expect(await refusal(createTestNode(), { toolsListChanged: true }, { headers })).toMatchObject({ status, error: { code } });
});

test.for(["Mcp-Method", "MCP-Protocol-Version"])("a listen request without the header %s is refused as any other", async (header) => {
  const request = modernRequest(url, listenFor({ toolsListChanged: true }, { token: "alice" }));
  request.headers.delete(header);
  expect(await readAnswer(await createTestNode().request(request))).toMatchObject({ status: 400, error: { code: -32_020 } });
});

test("a listen request of an unknown revision is told which are served", async () => {
  const version = { "io.modelcontextprotocol/protocolVersion": "2099-01-01" };
  const answer = await refusal(
    createTestNode(),
    { toolsListChanged: true },
    { meta: version, headers: { "MCP-Protocol-Version": "2099-01-01" } },
  );
  expect(answer).toMatchObject({ status: 400, error: { code: -32_022 } });
});

test.for([{ "io.modelcontextprotocol/clientCapabilities": "all" }, { "io.modelcontextprotocol/clientInfo": 7 }])(
  "a listen request with the envelope %j is refused as any other",
  async (meta) => {
    expect(await refusal(createTestNode(), { toolsListChanged: true }, { meta })).toMatchObject({ status: 400, error: { code: -32_602 } });
  },
);

test("lists are told to those who asked for them", async () => {
  const node = createTestNode();
  await using some = await listen(node, { toolsListChanged: true, promptsListChanged: false }, { id: 5 });
  await using all = await listen(node, { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true });
  expect((await some.next())?.params?.["notifications"]).toEqual({ toolsListChanged: true });
  expect((await all.next())?.params?.["notifications"]).toEqual({
    toolsListChanged: true,
    promptsListChanged: true,
    resourcesListChanged: true,
  });
  for (const list of ["resources", "prompts", "tools"] as const) {
    node.lists.announce(list);
    expect(await all.next()).toMatchObject({ method: `notifications/${list}/list_changed` });
  }
  expect(await some.next()).toEqual({ jsonrpc: "2.0", method: "notifications/tools/list_changed", params: { _meta: { [STAMP]: 5 } } });
});

test("a list that the node does not have is not honoured", async () => {
  const node = createTestNode({ packs: [definePack({ name: "bare", operations: [] })] });
  await using stream = await listen(node, { toolsListChanged: true, promptsListChanged: true });
  expect((await stream.next())?.params?.["notifications"]).toEqual({ toolsListChanged: true });
});

test("a node that drains ends its streams with their answers and sends new ones elsewhere", async () => {
  const node = createTestNode();
  const { handle } = await begin(node);
  const streams = [await listen(node, { taskIds: [handle] }), await listen(node, { toolsListChanged: true }, { id: 2 })];
  node.listen.drain();
  for (const stream of streams) expect((await stream.rest()).at(-1)?.result).toMatchObject({ resultType: "complete" });
  expect(node.listen.size).toBe(0);
  const answer = await refusal(node, { taskIds: [handle] });
  expect([answer.status, answer.headers.get("Retry-After")]).toEqual([503, "1"]);
});

test("one more stream than there may be is told to come back, until another has gone", async () => {
  const node = createTestNode({ listen: { limits: { streams: 1 } } });
  const first = await listen(node, { toolsListChanged: true });
  const answer = await refusal(node, { toolsListChanged: true });
  expect([answer.status, answer.headers.get("Retry-After"), answer.error?.code]).toEqual([503, "1", -32_603]);
  await first.close();
  await expect.poll(async () => node.listen.size).toBe(0);
  await using next = await listen(node, { toolsListChanged: true });
  expect(next.status).toBe(200);
});

test("ids that are nobody's take no place of a task", async () => {
  const node = createTestNode({ listen: { limits: { tasks: 1 } } });
  const { handle } = await begin(node);
  await using junk = await listen(node, { toolsListChanged: true, taskIds: ["a", "b", `${handle}x`] });
  expect(junk.status).toBe(200);
  await using own = await listen(node, { taskIds: [handle, handle] });
  expect((await own.next())?.params?.["notifications"]).toEqual({ taskIds: [handle] });
  expect((await refusal(node, { taskIds: [handle] })).status).toBe(503);
});

test("a fault before the stream is open tells nothing of itself and leaves no place taken", async () => {
  const node = createTestNode({ listen: { limits: { streams: 1 } } });
  const { handle, id } = await begin(node);
  node.faults.find = () => Promise.reject(new Error("select secret from table"));
  const answer = await refusal(node, { taskIds: [handle] });
  expect(answer.error).toMatchObject({ code: -32_603, message: "Internal error." });
  expect(answer.text).not.toContain("secret");
  delete node.faults.find;
  const stream = await listen(node, { taskIds: [handle] });
  await node.settle(id);
  expect((await stream.until(showsTask("completed"))).length).toBe(2);
});

test("a stream ends with the token that opened it", async () => {
  const expiresAt = new Date(Date.now() + 300);
  const node = createTestNode({ verify: async () => ({ kind: "valid", principal: principalOf("alice"), expiresAt }) });
  const { handle } = await begin(node);
  const messages = await (await listen(node, { taskIds: [handle] })).rest();
  expect(messages.map(({ method, result }) => method ?? result?.["resultType"])).toEqual([
    "notifications/subscriptions/acknowledged",
    "complete",
  ]);
  expect(Date.now()).toBeGreaterThanOrEqual(expiresAt.getTime());
});
