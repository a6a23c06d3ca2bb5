import { afterAll, beforeAll, expect, test } from "vitest";
import { openLegacySession, send } from "../support/legacy-client.ts";
import { createServerWorld, type ServerWorld, type TestServer } from "../support/server-world.ts";

let world: ServerWorld;
let nodes: readonly [TestServer, TestServer];
let token: string;
let cleanup: AsyncDisposableStack;
beforeAll(async () => {
  cleanup = new AsyncDisposableStack();
  world = cleanup.use(await createServerWorld());
  nodes = [cleanup.use(await world.startNode()), cleanup.use(await world.startNode())];
  token = await world.token();
});
afterAll(async () => {
  await cleanup.disposeAsync();
});

const open = (options: { revision?: string; capabilities?: object; token?: string } = {}) =>
  openLegacySession({ url: nodes[0].url, token, ...options });

test.for(["2025-03-26", "2025-06-18", "2025-11-25"])("a session of %s that one node opened is known to another", async (revision) => {
  const session = await open({ revision });
  expect(session.server).toMatchObject({ protocolVersion: revision, serverInfo: { name: "holdfast" } });
  expect(await session.request("ping", {}, { url: nodes[1].url })).toMatchObject({ id: 1, result: {} });
});

test("a client that asks for another revision is offered the newest that has sessions", async () => {
  expect((await open({ revision: "2024-11-05" })).server).toMatchObject({ protocolVersion: "2025-11-25" });
});

test("tasks are offered to the revision that knows them, and to no other", async () => {
  const [newest, older] = [await open(), await open({ revision: "2025-06-18" })];
  expect(newest.server["capabilities"]).toMatchObject({ tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } });
  expect(older.server["capabilities"]).not.toHaveProperty("tasks");
  const tools = (answer: Awaited<ReturnType<typeof newest.request>>) => answer.result?.["tools"];
  expect(tools(await newest.request("tools/list"))).toContainEqual(
    expect.objectContaining({ name: "slow_compute", execution: { taskSupport: "optional" } }),
  );
  expect(JSON.stringify(tools(await older.request("tools/list")))).not.toContain("execution");
  expect(await older.request("tasks/list")).toMatchObject({ error: { code: -32_601 } });
});

test("unknown, foreign and ended sessions are not found alike, by any method", async () => {
  const [ended, foreign] = [await open(), await open({ token: await world.token({ subject: "bob" }) })];
  expect((await ended.end({ url: nodes[1].url })).status).toBe(204);
  const answers = new Set<string>();
  for (const name of [ended.name, foreign.name, "never-given", ""]) {
    for (const method of ["POST", "GET", "DELETE"]) {
      const headers = { Authorization: `Bearer ${token}`, "Mcp-Session-Id": name };
      await using response = await send(
        nodes[0].url,
        method,
        headers,
        method === "POST" ? { jsonrpc: "2.0", id: 1, method: "ping" } : undefined,
      );
      answers.add(JSON.stringify([response.status, (await response.next())?.message]));
    }
  }
  expect([...answers]).toEqual([
    JSON.stringify([404, { jsonrpc: "2.0", id: null, error: { code: -32_001, message: "Session not found" } }]),
  ]);
});

test("a request without a session is told to begin one", async () => {
  await using response = await send(nodes[0].url, "POST", { Authorization: `Bearer ${token}` }, { jsonrpc: "2.0", id: 1, method: "ping" });
  expect(response.status).toBe(400);
});

test("the header names the session's revision or is missing; any other is refused", async () => {
  const session = await open({ revision: "2025-06-18" });
  const statusWith = async (version: string) =>
    (await session.post({ jsonrpc: "2.0", id: 1, method: "ping" }, { headers: { "MCP-Protocol-Version": version } })).status;
  expect(await Promise.all(["2025-06-18", "2025-11-25", "1999-01-01"].map(statusWith))).toEqual([200, 400, 400]);
  const headers = { Authorization: `Bearer ${token}`, "Mcp-Session-Id": session.name };
  expect((await send(nodes[0].url, "POST", headers, { jsonrpc: "2.0", id: 1, method: "ping" })).status).toBe(200);
});

test.for([0, "", 1, "1", -1.5])("the request id %j comes back as it was", async (id) => {
  const session = await open();
  expect((await session.request("ping", {}, { id })).id).toBe(id);
});

test("a batch is answered where the revision has batches, up to a hundred messages", async () => {
  const session = await open({ revision: "2025-03-26" });
  const pings = (count: number) => Array.from({ length: count }, (_, id) => ({ jsonrpc: "2.0", id, method: "ping" }));
  const answered = await session.post([...pings(2), { jsonrpc: "2.0", method: "notifications/initialized" }]);
  expect((await answered.rest()).map(({ message }) => message?.id)).toEqual([0, 1]);
  expect((await (await session.post(pings(100))).rest()).length).toBe(100);
  for (const body of [pings(101), [], [1], [{ jsonrpc: "2.0", id: 1, method: "initialize", params: {} }]]) {
    await using refused = await session.post(body);
    expect([refused.status, (await refused.next())?.message?.error?.code]).toEqual([400, -32_600]);
  }
  expect((await session.post([{ jsonrpc: "2.0", method: "notifications/initialized" }])).status).toBe(202);
});

test.for(["2025-06-18", "2025-11-25"])("a batch of %s is one refusal, and none of it is done", async (revision) => {
  const session = await open({ revision });
  const before = await world.query("select count(*)::int as tasks from holdfast.task");
  await using response = await session.post([
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "greet", arguments: { name: "x" } } },
    { jsonrpc: "2.0", id: 2, method: "ping" },
  ]);
  expect([response.status, (await response.rest()).map(({ message }) => message?.error?.code)]).toEqual([400, [-32_600]]);
  expect(await world.query("select count(*)::int as tasks from holdfast.task")).toEqual(before);
});

test("one principal cannot pile up sessions, and another's are not touched by it", async () => {
  const bob = await open({ token: await world.token({ subject: "bob" }) });
  const first = await open();
  for (let round = 0; round < 10; round += 1) await Promise.all(Array.from({ length: 10 }, () => open()));
  const [row] = await world.query("select count(*)::int as rows from holdfast.session where subject = 'alice'");
  expect(row?.["rows"]).toBeLessThanOrEqual(64);
  expect((await first.post({ jsonrpc: "2.0", id: 1, method: "ping" })).status).toBe(404);
  expect((await bob.post({ jsonrpc: "2.0", id: 1, method: "ping" })).status).toBe(200);
});

test("what a client says of itself is bounded", async () => {
  const capabilities = { experimental: { padding: "x".repeat(20_000) } };
  const params = { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "x", version: "1" } };
  const body = { jsonrpc: "2.0", id: 1, method: "initialize", params };
  await using response = await send(nodes[0].url, "POST", { Authorization: `Bearer ${token}` }, body);
  expect((await response.next())?.message).toMatchObject({ error: { code: -32_602 } });
  expect(response.headers.get("Mcp-Session-Id")).toBeNull();
});

test("resources, templates, prompts and completions are those of the modern protocol", async () => {
  const session = await open();
  const modern = async (method: string, params = {}) => (await nodes[0].call({ method, params, token })).result;
  for (const [method, params] of [
    ["resources/list", {}],
    ["resources/templates/list", {}],
    ["resources/read", { uri: "test://static-text" }],
    ["prompts/list", {}],
    ["prompts/get", { name: "test_simple_prompt" }],
  ] as const) {
    const { result } = await session.request(method, params);
    expect(await modern(method, params)).toMatchObject(result ?? { missing: true });
  }
  const ref = { type: "ref/prompt", name: "test_prompt_with_arguments" };
  expect(await session.request("completion/complete", { ref, argument: { name: "arg1", value: "" } })).toMatchObject({
    result: { completion: { values: expect.any(Array) as unknown } },
  });
  expect(await session.request("resources/subscribe", { uri: "test://static-text" })).toMatchObject({ result: {} });
  expect(await session.request("resources/unsubscribe", { uri: "test://static-text" })).toMatchObject({ result: {} });
  expect(await session.request("resources/subscribe", { uri: "test://nowhere" })).toMatchObject({ error: { code: -32_602 } });
  expect(await session.request("logging/setLevel", { level: "info" })).toMatchObject({ result: {} });
  expect(await session.request("logging/setLevel", { level: "loud" })).toMatchObject({ error: { code: -32_602 } });
  expect(await session.request("server/discover")).toMatchObject({ error: { code: -32_601 } });
});

test("a modern client and a client of 2025 share the endpoint", async () => {
  const session = await open();
  expect((await nodes[0].call({ method: "tools/list", token })).status).toBe(200);
  expect((await session.request("tools/list")).result).toHaveProperty("tools");
});
