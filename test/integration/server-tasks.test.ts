import { randomUUID } from "node:crypto";
import { storeArtifact } from "@holdfast/db";
import { toolResult } from "@holdfast/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { taskIdOf, toolCall, type Answer, type ModernRequest } from "../support/mcp-request.ts";
import { connectSdkClient } from "../support/sdk-client.ts";
import { createServerWorld, taskIdIn, type ServerWorld, type TestServer } from "../support/server-world.ts";
import { untilValue } from "../support/task-world.ts";

let world: ServerWorld;
let nodeA: TestServer;
let nodeB: TestServer;
let alice: string;

beforeAll(async () => {
  world = await createServerWorld();
  [nodeA, nodeB] = await Promise.all([world.startNode(), world.startNode()]);
  alice = await world.token({ subject: "alice" });
});
afterAll(async () => {
  await nodeA[Symbol.asyncDispose]();
  await nodeB[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

function slow(label: string, extra: Partial<ModernRequest> = {}): ModernRequest {
  return toolCall("slow_compute", { label }, { token: alice, tasks: true, ...extra });
}

function get(taskId: string, token = alice): ModernRequest {
  return { method: "tasks/get", params: { taskId }, token, tasks: true };
}

async function countTasks(): Promise<number> {
  const [row] = await world.query("select count(*)::int as count from holdfast.task");
  return Number(row?.["count"]);
}

/** The handle of the task that an ordinary call is waiting for: its id by label, its signature from a twin of the node. */
async function internalIdOf(label: string): Promise<string> {
  const rows = await untilValue(
    () => world.query("select id from holdfast.task where input->>'label' = $1", [label]),
    ({ length }) => length === 1,
    5000,
  );
  return `m.k1.current.${String(rows[0]?.["id"])}.x`;
}

test("a handle is readable on another node the instant it arrives", async () => {
  for (let times = 0; times < 25; times += 1) {
    const taskId = taskIdOf(await nodeA.call(slow(`instant-${times}`)));
    expect((await nodeB.call(get(taskId))).result).toMatchObject({ resultType: "complete", taskId, status: "working" });
  }
});

test("the result of a task is the same on every node, byte for byte what an ordinary call returns", async () => {
  const result = {
    content: [{ type: "text" as const, text: 'nul \u0000, half \ud800, emoji 😀, quote "' }],
    structuredContent: { z: 1e21, a: [0.1, -0, null, { "": "\u0000" }], "10": 1, "9": 2 },
    isError: true,
  };
  const settlement = { kind: "completed" as const, result, artifacts: [] };
  const taskId = taskIdOf(await nodeA.call(slow("as a task")));
  await world.settle(taskId, settlement);
  const [fromA, fromB] = await Promise.all([nodeA.call(get(taskId)), nodeB.call(get(taskId))]);
  const ordinary = nodeA.call(slow("as a call", { tasks: false }));
  await world.settle(await internalIdOf("as a call"), settlement);
  const delivered = [fromA.result?.["result"], fromB.result?.["result"]].map((value) => JSON.stringify(value));
  const { resultType, _meta, ...called } = (await ordinary).result ?? {};
  expect(resultType).toBe("complete");
  // What JSON itself cannot keep, such as the sign of -0, is lost before the task is stored.
  expect(new Set([...delivered, JSON.stringify(called)])).toEqual(new Set([JSON.stringify(result)]));
});

test("an ordinary call on one node is answered when the task ends through another process", async () => {
  const ordinary = nodeA.call(slow("elsewhere", { tasks: false }));
  await world.settle(await internalIdOf("elsewhere"));
  expect((await ordinary).result).toMatchObject({ resultType: "complete", content: [{ type: "text", text: "done" }] });
});

test("hints bring answers long before a node would look by itself", async () => {
  await untilValue(
    async () => (await fetch(new URL("/readyz", nodeA.url))).json() as Promise<{ listener: string }>,
    ({ listener }) => listener === "up",
    5000,
  );
  const startedAt = performance.now();
  for (let times = 0; times < 8; times += 1) {
    const ordinary = nodeA.call(slow(`hinted-${times}`, { tasks: false }));
    await world.settle(await internalIdOf(`hinted-${times}`));
    await ordinary;
  }
  // Without hints each of them takes at least the half second after which a node looks for the first time.
  expect(performance.now() - startedAt).toBeLessThan((8 * 500) / 2);
});

test("an ordinary call is answered although every hint is lost", async () => {
  const ordinary = nodeA.call(slow("silent", { tasks: false }));
  await world.settle(await internalIdOf("silent"), undefined, { silently: true });
  const settledAt = performance.now();
  expect((await ordinary).result).toMatchObject({ resultType: "complete" });
  // Two seconds between reads, and room for a slow machine.
  expect(performance.now() - settledAt).toBeLessThan(4000);
});

test("an ordinary call is answered by a node whose listener cannot connect, and the node says that it is degraded", async () => {
  await using deaf = await world.startNode({ DATABASE_LISTEN_URL: "postgres://nobody@127.0.0.1:1/none" });
  const readiness = await fetch(new URL("/readyz", deaf.url));
  expect({ status: readiness.status, body: await readiness.json() }).toMatchObject({
    status: 200,
    body: { status: "degraded", listener: "isolated" },
  });
  const ordinary = deaf.call(slow("deaf", { tasks: false }));
  await world.settle(await internalIdOf("deaf"));
  expect((await ordinary).result).toMatchObject({ resultType: "complete" });
});

test("cancelling a queued task through another node ends the ordinary view of it at once", async () => {
  const taskId = taskIdOf(await nodeA.call(slow("cancelled")));
  expect((await nodeB.call({ method: "tasks/cancel", params: { taskId }, token: alice, tasks: true })).result).toMatchObject({
    resultType: "complete",
  });
  expect((await nodeA.call(get(taskId))).result).toMatchObject({ status: "cancelled" });
});

test("a running task shows that its cancellation is wanted until its worker has settled it", async () => {
  const taskId = taskIdOf(await nodeA.call(slow("running")));
  await world.claim(taskId);
  await nodeB.call({ method: "tasks/cancel", params: { taskId }, token: alice, tasks: true });
  expect((await nodeA.call(get(taskId))).result).toMatchObject({ status: "working", statusMessage: "cancellation requested" });
});

test("with no worker left, a node settles the cancelled task of a dead one (C8.6)", async () => {
  const taskId = taskIdOf(await nodeA.call(slow("orphaned")));
  await world.claim(taskId);
  await nodeB.call({ method: "tasks/cancel", params: { taskId }, token: alice, tasks: true });
  await world.query("update holdfast.live_task set lease_expires_at = now() where task_id = $1", [taskIdIn(taskId)]);
  // Two seconds after the lease is what the contract allows.
  const { status } = await untilValue(
    async () => (await nodeA.call(get(taskId))).result ?? {},
    (task) => task["status"] !== "working",
    2000,
  );
  expect(status).toBe("cancelled");
});

test("a client that hangs up cancels the task of its ordinary call, whichever worker holds it", async () => {
  const controller = new AbortController();
  const call = nodeA.call(slow("hung up", { tasks: false, signal: controller.signal })).catch(() => "gone");
  const handle = await internalIdOf("hung up");
  controller.abort();
  expect(await call).toBe("gone");
  await untilValue(
    () => world.query("select status from holdfast.task where id = $1", [taskIdIn(handle)]),
    ([row]) => row?.["status"] === "cancelled",
    5000,
  );
});

test("ids that are foreign, unknown, altered or no ids at all answer alike on every method", async () => {
  const bob = await world.token({ subject: "bob" });
  const foreign = taskIdOf(await nodeA.call(slow("bob's", { token: bob })));
  const own = taskIdOf(await nodeA.call(slow("alice's")));
  await using stranger = await world.startNode({ HOLDFAST_KEYS: `k1:${Buffer.alloc(32, 1).toString("base64url")}` });
  const unsigned = taskIdOf(await stranger.call(slow("signed with another key")));
  const expired = taskIdOf(await nodeA.call(slow("expired")));
  await world.settle(expired);
  await world.query("update holdfast.task set created_at = now() - interval '61 seconds', ttl_ms = 60000 where id = $1", [
    taskIdIn(expired),
  ]);
  const ids = [
    foreign,
    unsigned,
    expired,
    `${own}A`,
    own.slice(0, -1),
    own.replace("current", "hidden"),
    randomUUID(),
    "",
    "\u0000",
    "x".repeat(5000),
  ];
  const requests: ((id: string) => ModernRequest)[] = [
    ...["tasks/get", "tasks/cancel", "tasks/update"].map((method) => (taskId: string) => ({
      method,
      params: { taskId, inputResponses: {} },
    })),
    ...["conformance.job_inspect", "conformance.job_cancel"].map((name) => (jobId: string) => toolCall(name, { jobId })),
  ];
  for (const request of requests) {
    const answers: Answer[] = [];
    for (const id of ids) answers.push(await nodeB.call({ ...request(id), token: alice, tasks: true }));
    expect(answers.map(({ text }) => text)).toEqual(ids.map(() => answers[0]?.text));
    expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 200));
    expect(answers[0]?.error).toEqual({ code: -32_602, message: "Task not found." });
  }
  expect((await nodeA.call(get(foreign, bob))).result).toMatchObject({ status: "working" });
});

test("revoking a grant hides tasks and artifacts at once, on every node", async () => {
  await world.grant("carol");
  const carol = await world.token({ subject: "carol" });
  const taskId = taskIdOf(await nodeA.call(slow("carol's", { token: carol })));
  expect((await nodeB.call(get(taskId, carol))).result).toMatchObject({ status: "working" });
  await world.revoke("carol");
  for (const node of [nodeA, nodeB])
    expect((await node.call(get(taskId, carol))).error).toEqual({ code: -32_602, message: "Task not found." });
});

test("without a grant a workspace answers like one that does not exist, and nothing is written", async () => {
  const before = await countTasks();
  const call = async (workspaceId: string): Promise<Answer> =>
    await nodeA.call(toolCall("slow_compute", { workspaceId }, { token: alice, tasks: true }));
  const [hidden, absent] = [await call("hidden"), await call("absent")];
  expect(hidden.error).toMatchObject({ code: -32_602, message: "No such workspace, or no grant for it. You may work in: current." });
  expect(hidden.text.replaceAll("hidden", "absent")).toBe(absent.text);
  expect(await countTasks()).toBe(before);
});

test("a grant of a group works through the groups in the token", async () => {
  await world.grant("modders", ["read", "run"], { memberKind: "group" });
  const [member, stranger] = await Promise.all([world.token({ subject: "dave", groups: ["modders"] }), world.token({ subject: "dave" })]);
  expect((await nodeA.call(slow("by group", { token: member }))).result).toMatchObject({ resultType: "task" });
  expect((await nodeA.call(slow("no group", { token: stranger }))).error).toMatchObject({ code: -32_602 });
});

test("a grant that only reads creates no task", async () => {
  await world.grant("erin", ["read"]);
  const before = await countTasks();
  expect((await nodeA.call(slow("reader", { token: await world.token({ subject: "erin" }) }))).error).toMatchObject({ code: -32_602 });
  expect(await countTasks()).toBe(before);
});

test.for([{ label: "nul \u0000" }, { label: "half \ud800" }, { "k\u0000": 1 }])(
  "arguments %j are refused and nothing is written",
  async (args) => {
    const before = await countTasks();
    const answer = await nodeA.call(toolCall("slow_compute", args, { token: alice, tasks: true }));
    expect(answer).toMatchObject({ status: 200, error: { code: -32_602 } });
    expect(await countTasks()).toBe(before);
  },
);

test("many clients with the same request id in flight each get their own answer", async () => {
  const bob = await world.token({ subject: "bob" });
  const labels = Array.from({ length: 40 }, (_, index) => `crossed-${index}`);
  const calls = labels.map(async (label, index) => {
    const node = index % 2 === 0 ? nodeA : nodeB;
    return await node.call(slow(label, { token: index % 3 === 0 ? bob : alice, id: index % 4 === 0 ? "" : 0, tasks: false }));
  });
  await Promise.all(
    labels.map(async (label) => {
      await world.settle(await internalIdOf(label), { kind: "completed", result: toolResult({ text: label }), artifacts: [] });
    }),
  );
  const answers = await Promise.all(calls);
  expect(answers.map(({ result }) => result?.["content"])).toEqual(labels.map((text) => [{ type: "text", text }]));
  expect(answers.map(({ id }) => id)).toEqual(labels.map((_, index) => (index % 4 === 0 ? "" : 0)));
});

const rangeSchema = z.object({
  contents: z.tuple([z.object({ text: z.string() })]),
  _meta: z.object({ "holdfast/continuationUri": z.string().nullable() }),
});

test("an artifact is read in ranges by everybody with a grant in its workspace, and by nobody else", async () => {
  const handle = taskIdOf(await nodeA.call(slow("artifact")));
  const attempt = await world.claim(handle);
  const bytes = new TextEncoder().encode("é".repeat(600_000));
  const stored = await storeArtifact(world.database, attempt, { bytes, name: "big.txt", mimeType: "text/plain" });
  if (stored.kind !== "stored") throw new Error("the artifact was refused");
  const uri = `holdfast://workspace/current/artifact/${stored.address.sha256}/big.txt`;
  const read = async (address: string, token: string): Promise<Answer> =>
    await nodeB.call({ method: "resources/read", params: { uri: address }, token });

  const bob = await world.token({ subject: "bob" });
  const parts: string[] = [];
  for (let at: unknown = uri; typeof at === "string";) {
    const { contents, _meta } = rangeSchema.parse((await read(at, bob)).result);
    parts.push(contents[0].text);
    at = _meta["holdfast/continuationUri"];
  }
  expect(parts.map(({ length }) => length)).toEqual([524_288, 75_712]);
  expect(parts.join("")).toBe("é".repeat(600_000));

  const cut = await read(`${uri}?offset=1&length=3`, bob);
  expect(cut.result).toMatchObject({
    contents: [{ blob: Buffer.from(bytes.subarray(1, 4)).toString("base64") }],
    _meta: { "holdfast/range": { offset: 1, length: 3 }, "holdfast/totalBytes": 1_200_000 },
  });

  const outsider = await world.token({ subject: "mallory" });
  const absent = uri.replace(stored.address.sha256, "0".repeat(64));
  const [refused, missing] = [await read(uri, outsider), await read(absent, bob)];
  expect(refused.error).toMatchObject({ code: -32_602, message: "Resource not found.", data: { uri } });
  expect(refused.text.replaceAll(uri, absent)).toBe(missing.text);
});

test("the official client finds the tools and gets an ordinary result", async () => {
  const client = await connectSdkClient(nodeB.url, alice);
  try {
    expect(await client.listTools()).toContain("slow_compute");
    const call = client.callTool("slow_compute", { label: "by the official client" });
    await world.settle(await internalIdOf("by the official client"));
    expect(await call).toMatchObject({ content: [{ type: "text", text: "done" }] });
  } finally {
    await client.close();
  }
});
