import { randomBytes, randomUUID } from "node:crypto";
import { taskIdFrom } from "@holdfast/core";
import { createPostgresTaskManager } from "@holdfast/db";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import {
  answerTo,
  callRequest,
  openLegacySession,
  type LegacyMessage,
  type LegacyResponse,
  type LegacySession,
} from "../support/legacy-client.ts";
import { taskIdOf, toolCall } from "../support/mcp-request.ts";
import { createServerWorld, taskIdIn, type ServerWorld, type TestServer } from "../support/server-world.ts";
import { untilValue } from "../support/task-world.ts";

let world: ServerWorld;
let nodes: readonly [TestServer, TestServer];
let token: string;
let cleanup: AsyncDisposableStack;
beforeAll(async () => {
  cleanup = new AsyncDisposableStack();
  world = cleanup.use(await createServerWorld());
  nodes = [cleanup.use(await world.startNode()), cleanup.use(await world.startNode())];
  cleanup.use(await world.startWorker({ HOLDFAST_SLOTS: "4" }));
  token = await world.token();
});
afterAll(async () => {
  await cleanup.disposeAsync();
});

const open = (options: { revision?: string; capabilities?: object; token?: string; url?: string } = {}) =>
  openLegacySession({ url: nodes[0].url, token, ...options });
const elsewhere = () => ({ url: nodes[1].url });
const asks = ({ method, id }: LegacyMessage): boolean => method !== undefined && id !== undefined;
const taskSchema = z.object({
  taskId: z.string(),
  status: z.string(),
  ttl: z.number(),
  pollInterval: z.number(),
  statusMessage: z.string().optional(),
});

async function create(session: LegacySession, name: string, args: object = {}, task: object = {}): Promise<z.infer<typeof taskSchema>> {
  const answer = await session.request("tools/call", { name, arguments: args, task });
  return z.object({ task: taskSchema }).parse(answer.result).task;
}

const slow = (session: LegacySession, seconds: number, task: object = {}) =>
  create(session, "slow_compute", { seconds, label: randomUUID() }, task);

async function get(session: LegacySession, taskId: string): Promise<z.infer<typeof taskSchema>> {
  return taskSchema.parse((await session.request("tasks/get", { taskId }, elsewhere())).result);
}

const until = (session: LegacySession, taskId: string, status: string) =>
  untilValue(
    () => get(session, taskId),
    (task) => task.status === status,
    10_000,
  );

function statusesIn(messages: readonly (LegacyMessage | null)[], taskId: string): readonly unknown[] {
  return messages.flatMap((message) =>
    message?.method === "notifications/tasks/status" && message.params?.["taskId"] === taskId ? [message.params["status"]] : [],
  );
}

const shows = (taskId: string, status: string) => (message: LegacyMessage) => statusesIn([message], taskId).includes(status);

test("a task is handed out, found, and its result delivered at another node with the task it belongs to", async () => {
  const session = await open();
  const task = await slow(session, 1);
  expect(task).toMatchObject({ status: "working", ttl: 86_400_000, pollInterval: 1000 });
  expect(await get(session, task.taskId)).toMatchObject({ taskId: task.taskId });
  const answer = await session.request("tasks/result", { taskId: task.taskId }, elsewhere());
  expect(answer.result).toMatchObject({
    content: [{ type: "text" }],
    _meta: { "io.modelcontextprotocol/related-task": { taskId: task.taskId } },
  });
  expect(await get(session, task.taskId)).toMatchObject({ status: "completed" });
});

test("the time to live is what was negotiated, not what was asked for", async () => {
  const session = await open();
  expect((await slow(session, 0, { ttl: 1 })).ttl).toBe(60_000);
  expect((await slow(session, 0, { ttl: 10 ** 15 })).ttl).toBe(604_800_000);
  expect((await slow(session, 0, { ttl: 3_600_000 })).ttl).toBe(3_600_000);
});

test("a result is waited for at a node whose listener is dead", async () => {
  await using deaf = await world.startNode({ DATABASE_LISTEN_URL: "postgres://127.0.0.1:1/nowhere" });
  const session = await open();
  const { taskId } = await slow(session, 1);
  const startedAt = performance.now();
  expect((await session.request("tasks/result", { taskId }, { url: deaf.url })).result).toHaveProperty("content");
  expect(performance.now() - startedAt).toBeLessThan(6_000);
});

test("failed and cancelled tasks say so where their result is asked for", async () => {
  const session = await open();
  const failed = await create(session, "protocol_error_job");
  expect((await session.request("tasks/result", { taskId: failed.taskId })).error?.code).toBe(-32_603);
  const reported = await create(session, "failing_job");
  expect((await session.request("tasks/result", { taskId: reported.taskId })).result).toMatchObject({ isError: true });
  const { taskId } = await slow(session, 30);
  await session.request("tasks/cancel", { taskId });
  expect((await session.request("tasks/result", { taskId }, elsewhere())).error?.code).toBe(-32_603);
});

test("a cancelled task is cancelled when the answer comes, and a second cancellation is refused", async () => {
  const session = await open();
  const { taskId } = await slow(session, 30);
  await until(session, taskId, "working");
  expect((await session.request("tasks/cancel", { taskId }, elsewhere())).result).toMatchObject({ taskId, status: "cancelled" });
  expect((await session.request("tasks/cancel", { taskId })).error?.code).toBe(-32_602);
});

test("handles of one era are unknown to the other, and those of another principal to everybody else", async () => {
  const [session, foreign] = [await open(), await open({ token: await world.token({ subject: "bob" }) })];
  const legacy = (await slow(session, 0)).taskId;
  const modern = taskIdOf(await nodes[0].call(toolCall("slow_compute", { label: randomUUID() }, { token, tasks: true })));
  expect((await nodes[0].call({ method: "tasks/get", params: { taskId: legacy }, token, tasks: true })).error?.code).toBe(-32_602);
  const texts = new Set<string>();
  for (const method of ["tasks/get", "tasks/result", "tasks/cancel"])
    for (const [client, taskId] of [
      [session, modern],
      [foreign, legacy],
      [session, `l${modern.slice(1)}`],
      [session, "x"],
      [session, ""],
    ] as const)
      texts.add(JSON.stringify((await client.request(method, { taskId })).error));
  expect([...texts]).toEqual([JSON.stringify({ code: -32_602, message: "Task not found." })]);
  // The record is one: whoever owns it sees it in both eras.
  expect(taskIdIn(legacy)).not.toBe(taskIdIn(modern));
  expect(JSON.stringify((await session.request("tasks/list")).result)).toContain(taskIdIn(modern));
});

test("questions of a task come on the stream of its result, are answered at any node, and belong to it", async () => {
  const session = await open();
  const { taskId } = await create(session, "multi_input");
  await using result = await session.post({ jsonrpc: "2.0", id: "r", method: "tasks/result", params: { taskId } });
  const questions = [(await result.until(asks)).at(-1)?.message, (await result.until(asks)).at(-1)?.message];
  for (const question of questions)
    expect(question).toMatchObject({
      method: "elicitation/create",
      params: { _meta: { "io.modelcontextprotocol/related-task": { taskId } } },
    });
  expect(await get(session, taskId)).toMatchObject({ status: "input_required" });
  // One refused by the client stays open; the other may come twice.
  await session.post({ jsonrpc: "2.0", id: questions[0]?.id, error: { code: -1, message: "later" } });
  await Promise.all(
    questions.map((question, index) =>
      session.post(answerTo(question, { action: "accept", content: { name: `name-${index}` } }), elsewhere()),
    ),
  );
  await session.post(answerTo(questions[0], { action: "accept", content: { name: "late" } }));
  const answer = (await result.rest()).at(-1)?.message;
  expect(answer?.id).toBe("r");
  expect(JSON.stringify(answer?.result)).toMatch(/name-0/u);
  expect(JSON.stringify(answer?.result)).toMatch(/name-1/u);
});

test("nobody else can answer a task's question", async () => {
  const [session, foreign] = [await open(), await open({ token: await world.token({ subject: "bob" }) })];
  const { taskId } = await create(session, "confirm_delete", { filename: randomUUID() });
  await using result = await session.post({ jsonrpc: "2.0", id: 1, method: "tasks/result", params: { taskId } });
  const question = (await result.until(asks)).at(-1)?.message;
  expect((await foreign.post(answerTo(question, { action: "accept", content: { confirm: true } }))).status).toBe(202);
  expect(await get(session, taskId)).toMatchObject({ status: "input_required" });
  await session.request("tasks/cancel", { taskId });
});

test("the stream of a result goes on at another node when its own drains, and asks nothing twice", async () => {
  const leaving = await world.startNode({ HOLDFAST_DRAIN_MS: "10000" });
  const session = await open();
  const { taskId } = await create(session, "multi_input");
  await using result = await session.post({ jsonrpc: "2.0", id: 9, method: "tasks/result", params: { taskId } }, { url: leaving.url });
  const first = (await result.until(asks)).at(-1);
  const second = (await result.until(asks)).at(-1);
  await leaving.stop();
  expect(await result.rest()).toEqual([]);
  await using afterFirst = await session.get(first?.id ?? "", elsewhere());
  expect((await afterFirst.until(asks)).at(-1)?.message?.id).toBe(second?.message?.id);
  await using resumed = await session.get(second?.id ?? "", elsewhere());
  for (const event of [first, second]) await session.post(answerTo(event?.message, { action: "accept", content: { name: "N" } }));
  const rest = await resumed.rest();
  expect(rest.flatMap(({ message }) => message ?? [])).toMatchObject([{ id: 9, result: {} }]);
});

test("a thousand tasks of one second are listed once each while more arrive", async () => {
  const subject = "lister";
  await world.grant(subject);
  const session = await open({ token: await world.token({ subject }) });
  const manager = createPostgresTaskManager(world.database);
  const principal = { issuer: world.issuer.issuer, subject, groups: [], scopes: [] };
  const ids = Array.from({ length: 1_000 }, () => taskIdFrom({ unixMs: Date.now(), random: randomBytes(10) }));
  await Promise.all(
    ids.map((id) =>
      manager.create({
        id,
        principal,
        workspaceId: "current",
        // In a pool that no worker serves, so that they stay as they are.
        operation: { name: "slow_compute", version: 1, effect: "read", pool: "nobody" },
        input: { workspaceId: "current" },
        ttlMs: 3_600_000,
        pollIntervalMs: 1_000,
        waiter: "client",
        contentAddress: null,
        receipt: null,
        answers: [],
      }),
    ),
  );
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const { result } = await session.request(
      "tasks/list",
      cursor === undefined ? {} : { cursor },
      seen.length % 200 === 0 ? {} : elsewhere(),
    );
    const page = z.object({ tasks: z.array(taskSchema), nextCursor: z.string().optional() }).parse(result);
    seen.push(...page.tasks.map(({ taskId }) => taskIdIn(taskId)));
    cursor = page.nextCursor;
    await slow(session, 0);
  } while (cursor !== undefined);
  expect(seen.length).toBe(new Set(seen).size);
  expect(new Set(seen)).toEqual(new Set(ids));
});

test("a cursor is good for its principal, as it was given", async () => {
  const [session, foreign] = [await open(), await open({ token: await world.token({ subject: "lister" }) })];
  const cursor = z.object({ nextCursor: z.string() }).parse((await foreign.request("tasks/list")).result).nextCursor;
  expect((await foreign.request("tasks/list", { cursor })).result).toHaveProperty("tasks");
  for (const [client, given] of [
    [session, cursor],
    [foreign, `${cursor.slice(0, 8)}A${cursor.slice(9)}`],
    [foreign, ""],
    [foreign, Buffer.from(randomUUID()).toString("base64url")],
  ] as const)
    expect((await client.request("tasks/list", { cursor: given })).error?.code).toBe(-32_602);
});

test("controls of jobs take the handles of their own era", async () => {
  const session = await open();
  const { taskId } = await slow(session, 0);
  await until(session, taskId, "completed");
  const inspect = (jobId: string) => session.request("tools/call", { name: "conformance.job_inspect", arguments: { jobId } });
  expect((await inspect(taskId)).result).toHaveProperty("content");
  const modern = taskIdOf(await nodes[0].call(toolCall("slow_compute", { label: randomUUID() }, { token, tasks: true })));
  expect((await inspect(modern)).error?.code).toBe(-32_602);
});

async function startOf(stream: LegacyResponse): Promise<string> {
  const first = await stream.next();
  if (first?.id === null || first?.id === undefined) throw new Error("the stream began without an id");
  return first.id;
}

test("a session's stream tells how its tasks stand, wherever they were created and ended", async () => {
  const session = await open();
  const early = await slow(session, 30);
  await using stream = await session.get(undefined, elsewhere());
  expect(stream.status).toBe(200);
  await startOf(stream);
  const late = await create(session, "confirm_delete", { filename: randomUUID() });
  await stream.until(shows(late.taskId, "input_required"));
  await session.request("tasks/cancel", { taskId: late.taskId });
  await stream.until(shows(late.taskId, "cancelled"));
  await session.request("tasks/cancel", { taskId: early.taskId });
  const events = await stream.until(shows(early.taskId, "cancelled"));
  const message = events.at(-1)?.message;
  expect(taskSchema.parse(message?.params)).toMatchObject({ taskId: early.taskId, ttl: 86_400_000 });
});

test("what happened while no stream was open is told when one goes on, at another node, and no other session's", async () => {
  const [session, own] = [await open(), await open()];
  const stream = await session.get();
  const start = await startOf(stream);
  await stream.close();
  const [mine, other] = [await slow(session, 0), await slow(own, 0)];
  await until(session, mine.taskId, "completed");
  await until(own, other.taskId, "completed");
  await using resumed = await session.get(start, elsewhere());
  const events = await resumed.until(shows(mine.taskId, "completed"));
  expect(
    statusesIn(
      events.map(({ message }) => message),
      other.taskId,
    ),
  ).toEqual([]);
  expect(events.flatMap(({ message }) => message?.method ?? [])).toContain("notifications/tools/list_changed");
  await using future = await session.get(`s.${"9".repeat(14)}`);
  const next = await slow(session, 0);
  const later = await future.until(shows(next.taskId, "completed"));
  expect(
    statusesIn(
      later.map(({ message }) => message),
      mine.taskId,
    ),
  ).toEqual([]);
});

test("the newest stream of a session carries its messages, and the one before it ends", async () => {
  const session = await open();
  await using first = await session.get();
  await startOf(first);
  await using second = await session.get(undefined, elsewhere());
  await startOf(second);
  expect(await first.rest()).toEqual([]);
  const { taskId } = await slow(session, 0);
  await second.until(shows(taskId, "completed"));
});

test("a session's stream tells of lists that changed, ends with the session, and with its node", async () => {
  const leaving = await world.startNode();
  const [session, drained] = [await open(), await open()];
  await using stream = await session.get(undefined, elsewhere());
  await startOf(stream);
  await session.request("tools/call", { name: "test_trigger_tool_change", arguments: {} });
  await stream.until(({ method }) => method === "notifications/tools/list_changed");
  await session.end();
  expect((await stream.rest()).length).toBe(0);
  await using other = await drained.get(undefined, { url: leaving.url });
  await startOf(other);
  await leaving.stop();
  expect(await other.rest()).toEqual([]);
});

test("a principal has so many open streams at a node, and another's are not touched by it", async () => {
  await using narrow = await world.startNode({}, { listen: { limits: { streamsOfPrincipal: 2 } } });
  const sessions = [await open(), await open()];
  const late = await open();
  const streams: LegacyResponse[] = [];
  for (const session of [...sessions, late]) streams.push(await session.get(undefined, { url: narrow.url }));
  const bob = await open({ token: await world.token({ subject: "bob" }) });
  streams.push(await bob.get(undefined, { url: narrow.url }));
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 503, 200]);
  expect(streams[2]?.headers.get("Retry-After")).toBe("1");
  await streams[0]?.close();
  const again = () => late.get(undefined, { url: narrow.url });
  const freed = await untilValue(again, ({ status }) => status === 200, 5_000);
  for (const stream of [...streams, freed]) await stream.close();
});

test("a stream is for who accepts events", async () => {
  const session = await open();
  expect((await session.get(undefined, { headers: { Accept: "application/json" } })).status).toBe(406);
  expect((await session.post({ jsonrpc: "2.0", id: 1, method: "ping" }, { headers: { Accept: "application/json" } })).status).toBe(406);
});

test("a write is no task without a key, and one task however often it is sent with one", async () => {
  await using writer = await world.startNode({ HOLDFAST_PACKS: "@holdfast/hoi4" });
  const scoped = await world.token({ scopes: ["hoi4:read", "hoi4:write"] });
  const session = await openLegacySession({ url: writer.url, token: scoped });
  const args = {
    relativePath: "common/national_focus/x.txt",
    treeId: "x",
    expectedSourceHash: "0".repeat(64),
    changes: [{ focusId: "a", x: 1 }],
  };
  const call = (requestKey?: string) =>
    session.request("tools/call", {
      name: "hoi4.focus_rewrite",
      arguments: { ...args, ...(requestKey === undefined ? {} : { requestKey }) },
      task: {},
    });
  expect((await call()).error?.code).toBe(-32_602);
  const handles = new Set(
    (await Promise.all([call("k"), call("k"), call("k")])).map(({ result }) => z.object({ task: taskSchema }).parse(result).task.taskId),
  );
  expect(handles.size).toBe(1);
  const reader = await openLegacySession({ url: writer.url, token: await world.token({ scopes: ["hoi4:read"] }) });
  await using refused = await reader.post(callRequest(1, "hoi4.focus_rewrite", { ...args, requestKey: "k" }, { task: {} }));
  expect(refused.status).toBe(403);
  expect(refused.headers.get("WWW-Authenticate")).toContain("insufficient_scope");
});
