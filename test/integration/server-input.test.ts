import { randomUUID } from "node:crypto";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { InputRequests, JsonObject } from "@holdfast/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { taskIdOf, toolCall, type Answer, type ModernRequest } from "../support/mcp-request.ts";
import { createServerWorld, DURABLE_PACK, taskIdIn, type ServerWorld, type TestServer } from "../support/server-world.ts";
import { untilValue } from "../support/task-world.ts";

let cleanup: AsyncDisposableStack;
let world: ServerWorld;
let nodeA: TestServer;
let nodeB: TestServer;
let token: string;

beforeAll(async () => {
  cleanup = new AsyncDisposableStack();
  world = cleanup.use(await createServerWorld());
  const packs = { HOLDFAST_PACKS: DURABLE_PACK };
  [nodeA, nodeB] = [cleanup.use(await world.startNode(packs)), cleanup.use(await world.startNode(packs))];
  cleanup.use(await world.startWorker(packs));
  token = await world.token({ subject: "alice" });
});
afterAll(async () => {
  await cleanup.disposeAsync();
});

const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const form: InputRequests[string] = {
  method: "elicitation/create",
  params: { message: "Your name?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } },
};
const url: InputRequests[string] = {
  method: "elicitation/create",
  params: { mode: "url", message: "Sign in", url: "https://id.example/sign-in" },
};
const sampling: InputRequests[string] = {
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text: "A greeting" } }], maxTokens: 50 },
};
const roots: InputRequests[string] = { method: "roots/list", params: {} };

const ANSWERS: Readonly<Record<string, JsonObject>> = {
  name: { action: "accept", content: { name: "Ada" } },
  signIn: { action: "accept" },
  greeting: { role: "assistant", content: { type: "text", text: "Hello 😀" }, model: "m" },
  where: { roots: [{ uri: "file:///mods" }] },
};

function ask(rounds: readonly InputRequests[], extra: Partial<ModernRequest> = {}, more: Record<string, unknown> = {}): ModernRequest {
  const request = toolCall("durable.ask", { rounds }, { token, capabilities, ...extra });
  return { ...request, params: { ...request.params, ...more } };
}

async function get(node: TestServer, taskId: string): Promise<Answer> {
  return await node.call({ method: "tasks/get", params: { taskId }, token, tasks: true, capabilities });
}

async function until(node: TestServer, taskId: string, status: string): Promise<Answer> {
  return await untilValue(
    () => get(node, taskId),
    (answer) => answer.result?.["status"] === status,
    20_000,
  );
}

async function update(node: TestServer, taskId: string, keys: readonly string[]): Promise<void> {
  const inputResponses = Object.fromEntries(keys.map((key) => [key, ANSWERS[key]]));
  const answer = await node.call({ method: "tasks/update", params: { taskId, inputResponses }, token, tasks: true });
  expect(answer.result).toMatchObject({ resultType: "complete" });
}

test("a task asks for everything that MCP lets a server ask, and takes the answers from two nodes at once", async () => {
  const questions = { name: form, signIn: url, greeting: sampling, where: roots };
  const taskId = taskIdOf(await nodeA.call(ask([questions], { tasks: true })));
  expect((await until(nodeB, taskId, "input_required")).result).toMatchObject({ inputRequests: questions });
  await Promise.all([
    update(nodeA, taskId, ["name", "greeting"]),
    update(nodeB, taskId, ["where", "signIn"]),
    update(nodeB, taskId, ["name", "signIn", "greeting"]),
  ]);
  const { result } = await until(nodeA, taskId, "completed");
  for (const answer of Object.values(ANSWERS))
    expect(JSON.stringify(result)).toContain(JSON.stringify(JSON.stringify(answer)).slice(1, -1));
  const attempts = await world.query("select state from holdfast.attempt where task_id = $1 order by fencing_token", [taskIdIn(taskId)]);
  expect(attempts).toEqual([{ state: "suspended" }, { state: "succeeded" }]);
});

test("an ordinary call is asked by one node and goes on at another, and leaves one task behind", async () => {
  const rounds = [{ name: form }, { where: roots }];
  const count = async (): Promise<number> => (await world.query("select 1 from holdfast.task")).length;
  const before = await count();
  const first = await nodeA.call(ask(rounds));
  expect(first.result).toMatchObject({ resultType: "input_required", inputRequests: { name: form } });
  const state = { requestState: first.result?.["requestState"] };
  const second = await nodeB.call(ask(rounds, {}, { ...state, inputResponses: { name: ANSWERS["name"] } }));
  expect(second.result).toMatchObject({ resultType: "input_required", inputRequests: { where: roots } });
  const next = { requestState: second.result?.["requestState"] };
  const third = await nodeA.call(ask(rounds, {}, { ...next, inputResponses: { where: ANSWERS["where"] } }));
  expect(third.result).toMatchObject({ resultType: "complete" });
  expect(third.text).toContain("Ada");
  expect(await count()).toBe(before + 1);
});

test("the official client answers the questions of an ordinary call by itself, round by round", async () => {
  const client = new Client(
    { name: "holdfast-tests", version: "1" },
    { versionNegotiation: { mode: "auto" }, capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} } },
  );
  client.setRequestHandler("elicitation/create", async () => ({ action: "accept", content: { name: "Ada" } }));
  client.setRequestHandler("roots/list", async () => ({ roots: [{ uri: "file:///mods" }] }));
  client.setRequestHandler("sampling/createMessage", async () => ({
    role: "assistant",
    content: { type: "text", text: "Hello" },
    model: "m",
  }));
  const transport = new StreamableHTTPClientTransport(new URL(nodeB.url), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  });
  await client.connect(transport);
  try {
    const rounds = [{ who: form, greeting: sampling }, { place: roots }];
    const { content } = await client.callTool({ name: "durable.ask", arguments: { rounds } });
    for (const said of ["Ada", "Hello", "file:///mods"]) expect(JSON.stringify(content)).toContain(said);
  } finally {
    await client.close();
  }
});

test("a client that never comes back with its answers leaves nothing parked", async () => {
  const rounds = [{ abandoned: form }];
  const asked = await nodeA.call(ask(rounds));
  expect(asked.result).toMatchObject({ resultType: "input_required" });
  const [row] = await world.query("select id from holdfast.task where status = 'input_required' order by created_at desc limit 1");
  await world.query(
    "update holdfast.task set last_updated_at = now() - interval '25 hours', created_at = now() - interval '25 hours' where id = $1",
    [row?.["id"]],
  );
  // A node that starts looks at once.
  await using _young = await world.startNode({ HOLDFAST_PACKS: DURABLE_PACK });
  await untilValue(
    () => world.query("select status from holdfast.task where id = $1", [row?.["id"]]),
    ([task]) => task?.["status"] !== "input_required",
    10_000,
  );
  await world.query("update holdfast.task set created_at = created_at - interval '1 minute' where id = $1", [row?.["id"]]);
  const late = await nodeB.call(
    ask(rounds, {}, { requestState: asked.result?.["requestState"], inputResponses: { abandoned: ANSWERS["name"] } }),
  );
  expect(late.error).toMatchObject({ code: -32_602 });
});

test("a task whose progress and failure hold text that no database keeps is shown all the same", async () => {
  const text = "half \ud800, nul \u0000, emoji 😀";
  await using bare = await createServerWorld();
  await using node = await bare.startNode();
  const alice = await bare.token({ subject: "alice" });
  const slow = (label: string, tasks: boolean): ModernRequest => toolCall("slow_compute", { label }, { token: alice, tasks });
  const taskId = taskIdOf(await node.call(slow("task", true)));
  const attempt = await bare.claim(taskId);
  await bare.renew(attempt, { value: 1, total: 2, message: text });
  const shown = await node.call({ method: "tasks/get", params: { taskId }, token: alice, tasks: true });
  expect(shown.result).toMatchObject({ statusMessage: `${text} (1 of 2)` });
  const reference = randomUUID();
  await bare.end(attempt, { kind: "failed", code: "operation_failed", reference, detail: text, retry: false });
  const failed = await node.call({ method: "tasks/get", params: { taskId }, token: alice, tasks: true });
  expect(failed.result).toMatchObject({ status: "failed", error: { message: "The operation failed unexpectedly.", data: { reference } } });
  expect(failed.text).not.toContain("nul ");
});
