import { randomUUID } from "node:crypto";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema, ElicitRequestSchema, TaskStatusNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectSdkClient } from "../support/sdk-client.ts";
import { startRoundRobinProxy, type RoundRobinProxy } from "../support/round-robin-proxy.ts";
import { createServerWorld, type ServerWorld, type TestServer } from "../support/server-world.ts";

let cleanup: AsyncDisposableStack;
let world: ServerWorld;
let proxy: RoundRobinProxy;
beforeAll(async () => {
  cleanup = new AsyncDisposableStack();
  world = cleanup.use(await createServerWorld());
  proxy = cleanup.use(await startRoundRobinProxy());
  const nodes = [await world.startNode(), await world.startNode(), await world.startNode()];
  for (const node of nodes) cleanup.use(node);
  proxy.targets = nodes.map(({ url }) => url);
  cleanup.use(await world.startWorker({ HOLDFAST_SLOTS: "4" }));
});
afterAll(async () => {
  await cleanup.disposeAsync();
});

interface V1Client extends AsyncDisposable {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
  /** Statuses that it was told of, by task. */
  readonly told: ReadonlyMap<string, string[]>;
  /** Questions that it was asked, by message. */
  readonly asked: readonly string[];
}

/** The official client of 2025 as an application uses it: it answers what it is asked, all at once, and looks at its tasks' messages. */
async function connectV1(subject = "alice"): Promise<V1Client> {
  const token = await world.token({ subject });
  const client = new Client({ name: "holdfast-tests", version: "1" }, { capabilities: { elicitation: {} } });
  const transport = new StreamableHTTPClientTransport(new URL(`${proxy.origin}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
    reconnectionOptions: { initialReconnectionDelay: 50, maxReconnectionDelay: 500, reconnectionDelayGrowFactor: 1.5, maxRetries: 20 },
  });
  const told = new Map<string, string[]>();
  const asked: string[] = [];
  client.setNotificationHandler(TaskStatusNotificationSchema, ({ params }) => {
    told.set(params.taskId, [...(told.get(params.taskId) ?? []), params.status]);
  });
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    asked.push(params.message);
    return { action: "accept", content: { name: `answer-${asked.length}`, confirm: true } };
  });
  await client.connect(transport);
  await client.listTools();
  return { client, transport, told, asked, [Symbol.asyncDispose]: () => client.close() };
}

test("the client of 2025 calls tools behind a load balancer that knows no sessions", async () => {
  await using v1 = await connectV1();
  expect(v1.client.getServerCapabilities()).toMatchObject({ tasks: { requests: { tools: { call: {} } } } });
  expect(await v1.client.callTool({ name: "test_simple_text", arguments: {} })).toMatchObject({ content: [{ type: "text" }] });
  const reports: number[] = [];
  await v1.client.callTool({ name: "test_tool_with_progress", arguments: {} }, CallToolResultSchema, {
    onprogress: ({ progress }) => void reports.push(progress),
  });
  expect(reports.length).toBeGreaterThan(0);
  await expect(v1.client.callTool({ name: "greet", arguments: {} })).rejects.toMatchObject({ code: -32_602 });
});

test("a call asks the client of 2025 and goes on with its answers", async () => {
  await using v1 = await connectV1();
  const result = await v1.client.callTool({ name: "multi_input", arguments: {} });
  expect(v1.asked).toHaveLength(2);
  expect(JSON.stringify(result.content)).toContain("answer-");
});

test("the client of 2025 follows a task from creation over its questions to the result", async () => {
  await using v1 = await connectV1("bob");
  const messages: string[] = [];
  let taskId = "";
  let text = "";
  const stream = v1.client.experimental.tasks.callToolStream({ name: "multi_input", arguments: {} }, CallToolResultSchema, {
    task: { ttl: 600_000 },
  });
  for await (const message of stream) {
    messages.push(message.type);
    if (message.type === "taskCreated") taskId = message.task.taskId;
    if (message.type === "result") text = JSON.stringify(message.result.content);
    if (message.type === "error") throw message.error;
  }
  expect(messages[0]).toBe("taskCreated");
  expect(messages.at(-1)).toBe("result");
  expect(text).toContain("answer-");
  expect(v1.asked).toHaveLength(2);
  await expect.poll(() => v1.told.get(taskId)?.at(-1), { timeout: 20_000 }).toBe("completed");
  expect(await v1.client.experimental.tasks.getTask(taskId)).toMatchObject({ taskId, status: "completed", ttl: 600_000 });
  const again = await v1.client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);
  expect(JSON.stringify(again.content)).toContain("answer-");
});

test("the client of 2025 lists its tasks page by page and cancels one, once", async () => {
  await using v1 = await connectV1();
  const { tasks } = v1.client.experimental;
  let taskId = "";
  const stream = tasks.callToolStream({ name: "slow_compute", arguments: { seconds: 60, label: randomUUID() } }, CallToolResultSchema, {
    task: { ttl: 600_000 },
  });
  for await (const message of stream) {
    if (message.type !== "taskCreated") continue;
    taskId = message.task.taskId;
    break;
  }
  const seen: string[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await tasks.listTasks(cursor);
    seen.push(...page.tasks.map((task) => task.taskId));
    cursor = page.nextCursor;
    if (cursor === undefined) break;
  }
  expect(seen).toContain(taskId);
  expect(await tasks.cancelTask(taskId)).toMatchObject({ status: "cancelled" });
  await expect(tasks.cancelTask(taskId)).rejects.toMatchObject({ code: -32_602 });
});

test("a call that the client of 2025 gives up is cancelled", async () => {
  await using v1 = await connectV1();
  const controller = new AbortController();
  const call = v1.client.callTool({ name: "slow_compute", arguments: { seconds: 60, label: randomUUID() } }, CallToolResultSchema, {
    signal: controller.signal,
  });
  const newest = async () => (await world.query("select status from holdfast.task order by id desc limit 1"))[0]?.["status"];
  await expect.poll(newest, { timeout: 20_000 }).toBe("working");
  controller.abort();
  await expect(call).rejects.toThrow("abort");
  await expect.poll(newest, { timeout: 20_000 }).toBe("cancelled");
});

test("a session ends where the client of 2025 says so", async () => {
  await using v1 = await connectV1();
  await v1.transport.terminateSession();
  await expect(v1.client.ping()).rejects.toThrow("Mcp-Session-Id");
});

const CLIENTS_OF_EACH_ERA = 10;
const RESTARTS = 6;

test("each node is restarted over and over while twenty clients of both eras finish their work", async () => {
  const fleet: TestServer[] = [];
  // Longer than any call takes on a busy machine: past its drain, a node tells callers to come back, and these do not.
  cleanup.defer(async () => void (await Promise.all(fleet.map((node) => node.stop()))));
  for (let count = 0; count < 3; count += 1) fleet.push(await world.startNode({ HOLDFAST_DRAIN_MS: "60000" }));
  const before = proxy.targets;
  const spread = (): void => {
    proxy.targets = fleet.map(({ url }) => url);
  };
  spread();
  const over = new AbortController();
  const work = async (call: (label: string) => Promise<string>): Promise<number> => {
    let calls = 0;
    while (!over.signal.aborted || calls === 0) {
      const label = randomUUID();
      expect(await call(label)).toContain(label);
      calls += 1;
    }
    return calls;
  };
  const input = (label: string) => ({ name: "slow_compute", arguments: { seconds: 0.5, label } });
  const older = Array.from({ length: CLIENTS_OF_EACH_ERA }, async () => {
    await using v1 = await connectV1();
    return await work(async (label) => JSON.stringify((await v1.client.callTool(input(label))).content));
  });
  const token = await world.token();
  const newer = Array.from({ length: CLIENTS_OF_EACH_ERA }, async () => {
    const client = await connectSdkClient(`${proxy.origin}/mcp`, token);
    const calls = await work(async (label) => JSON.stringify((await client.callTool("slow_compute", input(label).arguments)).content));
    await client.close();
    return calls;
  });
  const working = Promise.all([...older, ...newer]);
  const restarts = (async () => {
    for (let round = 0; round < RESTARTS; round += 1) {
      const leaving = fleet.shift();
      fleet.push(await world.startNode({ HOLDFAST_DRAIN_MS: "60000" }));
      spread();
      await leaving?.stop();
    }
    over.abort();
  })();
  const [counts] = await Promise.all([working, restarts]).finally(() => {
    over.abort();
  });
  expect(Math.min(...counts)).toBeGreaterThan(0);
  proxy.targets = before;
}, 120_000);
