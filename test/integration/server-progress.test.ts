import { createPostgresAttemptLedger, createPublisher, type Publisher } from "@holdfast/db";
import { toolResult, workerIdSchema, type AttemptRef, type TaskId } from "@holdfast/core";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openStream, type StreamedMessage, type StreamedResponse } from "../support/event-stream.ts";
import { taskIdOf, toolCall, type ModernRequest } from "../support/mcp-request.ts";
import { createServerWorld, taskIdIn, type ServerWorld, type TestServer } from "../support/server-world.ts";
import { untilValue } from "../support/task-world.ts";

let world: ServerWorld;
let node: TestServer;
let alice: string;
let publisher: Publisher;

beforeAll(async () => {
  world = await createServerWorld();
  node = await world.startNode();
  alice = await world.token({ subject: "alice" });
  publisher = createPublisher(world.database);
});
afterAll(async () => {
  await publisher.stop();
  await node[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

function call(label: string, meta: Readonly<Record<string, unknown>>, extra: Partial<ModernRequest> = {}): ModernRequest {
  return toolCall("slow_compute", { label }, { token: alice, meta, ...extra });
}

/** The handle of the task behind an ordinary call, in a form that `world` understands. */
async function handleOf(label: string): Promise<string> {
  const rows = await untilValue(
    () => world.query("select id from holdfast.task where input->>'label' = $1", [label]),
    ({ length }) => length === 1,
    5000,
  );
  return `m.k1.current.${String(rows[0]?.["id"])}.x`;
}

async function report(attempt: AttemptRef, value: number, total: number | null = null): Promise<void> {
  await createPostgresAttemptLedger(world.database).renew([{ attempt, progress: { value, total, message: `at ${value}` } }], 60_000);
  publisher.publish(attempt.taskId);
}

async function finish(attempt: AttemptRef): Promise<void> {
  const done = { kind: "completed" as const, result: toolResult({ text: "done" }), artifacts: [] };
  await createPostgresAttemptLedger(world.database).settle(attempt, done);
  publisher.publish(attempt.taskId);
}

async function statusOf(taskId: TaskId): Promise<unknown> {
  return (await world.query("select status from holdfast.task where id = $1", [taskId]))[0]?.["status"];
}

const progressOf = (messages: readonly StreamedMessage[]): readonly unknown[] =>
  messages.filter(({ method }) => method === "notifications/progress").map(({ params }) => params);

test.for<string | number>(["token", "", 0, 7])(
  "a call with the token %j becomes a stream of its progress, with its answer at the end",
  async (token) => {
    const label = `progress ${JSON.stringify(token)}`;
    const opening = openStream(node.url, call(label, { progressToken: token }, { id: "" }));
    const attempt = await world.claim(await handleOf(label));
    await report(attempt, 1, 3);
    await using stream = await opening;
    expect(stream.headers.get("Content-Type")).toBe("text/event-stream");
    const first = await stream.next();
    await report(attempt, 2, 3);
    const second = await stream.next();
    await finish(attempt);
    const rest = await stream.rest();
    expect(progressOf([first, second].flatMap((message) => message ?? []))).toEqual([
      { progressToken: token, progress: 1, total: 3, message: "at 1" },
      { progressToken: token, progress: 2, total: 3, message: "at 2" },
    ]);
    expect(rest).toMatchObject([{ id: "", result: { resultType: "complete", content: [{ type: "text", text: "done" }] } }]);
  },
);

test("a call without a token gets no progress, whatever its operation reports", async () => {
  const answering = node.call(call("tokenless", {}));
  const attempt = await world.claim(await handleOf("tokenless"));
  await report(attempt, 1);
  await finish(attempt);
  const answer = await answering;
  expect([answer.headers.get("Content-Type"), answer.result?.["resultType"]]).toEqual(["application/json", "complete"]);
});

test.for([null, 1.5, true, {}])("%j is no token: the call is refused and nothing is created", async (progressToken) => {
  const label = `bad token ${JSON.stringify(progressToken)}`;
  expect(await node.call(call(label, { progressToken }))).toMatchObject({ status: 400, error: { code: -32_600 } });
  expect(await world.query("select from holdfast.task where input->>'label' = $1", [label])).toEqual([]);
});

test("a call that says nothing of itself stays JSON", async () => {
  const answering = node.call(call("silent", { progressToken: "t" }));
  await finish(await world.claim(await handleOf("silent")));
  const answer = await answering;
  expect([answer.headers.get("Content-Type"), answer.result?.["resultType"]]).toEqual(["application/json", "complete"]);
});

test("a call that is handed over as a task reports nothing", async () => {
  const answer = await node.call(call("handed over", { progressToken: "t" }, { tasks: true }));
  expect([answer.headers.get("Content-Type"), answer.result?.["status"]]).toEqual(["application/json", "working"]);
  const attempt = await world.claim(taskIdOf(answer));
  await report(attempt, 1);
  await finish(attempt);
});

/** A call whose response has become a stream. */
async function streaming(label: string): Promise<{ stream: StreamedResponse; attempt: AttemptRef }> {
  const opening = openStream(node.url, call(label, { progressToken: label }));
  const attempt = await world.claim(await handleOf(label));
  await report(attempt, 1);
  const stream = await opening;
  await stream.next();
  return { stream, attempt };
}

test("a client that hangs up in the middle of its progress cancels its task, whichever process holds it", async () => {
  const { stream, attempt } = await streaming("hung up");
  await stream.close();
  const cancelled = () => world.query("select cancel_requested_at from holdfast.live_task where task_id = $1", [attempt.taskId]);
  await untilValue(cancelled, ([row]) => row?.["cancel_requested_at"] !== null, 5000);
  expect(await createPostgresAttemptLedger(world.database).settle(attempt, { kind: "cancelled" })).toBe("cancelled");
});

test("a client that hangs up before there is any progress cancels its task", async () => {
  const controller = new AbortController();
  const gone = node.call(call("left early", { progressToken: 1 }, { signal: controller.signal })).catch(() => "gone");
  const handle = await handleOf("left early");
  controller.abort();
  expect(await gone).toBe("gone");
  await untilValue(
    () => statusOf(taskIdIn(handle)),
    (status) => status === "cancelled",
    5000,
  );
});

test("a client that hangs up after it was handed a task cancels nothing", async () => {
  const controller = new AbortController();
  const request = call("kept", {}, { tasks: true, signal: controller.signal });
  const handle = taskIdOf(await node.call(request));
  controller.abort();
  await world.settle(handle);
  expect(await statusOf(taskIdIn(handle))).toBe("completed");
});

test("a call follows the worker that takes its task over, and its progress never goes back (C1.7)", async () => {
  const { stream, attempt } = await streaming("taken over");
  await report(attempt, 5);
  await stream.next();
  // The worker is never heard of again. The node itself ends its attempt, and the task is free for another.
  await world.query("update holdfast.live_task set lease_expires_at = now() where task_id = $1", [attempt.taskId]);
  const states = () => world.query("select state from holdfast.attempt where task_id = $1 order by fencing_token", [attempt.taskId]);
  await untilValue(states, ([first]) => first?.["state"] === "lost", 5000);
  const ledger = createPostgresAttemptLedger(world.database);
  const reach = { pools: ["default"], roots: ["mods"], operations: ["slow_compute"] };
  const replacement = await untilValue(
    () => ledger.claim({ taskId: attempt.taskId, workerId: workerIdSchema.parse(randomUUID()), leaseMs: 60_000, reach }),
    (claimed) => claimed !== null,
    5000,
  );
  if (replacement === null) throw new Error("nobody could take the task over");
  await report(replacement, 2);
  await report(replacement, 6);
  const next = await stream.next();
  expect(next?.params).toMatchObject({ progress: 6 });
  // What the lost worker says counts no more.
  expect(await ledger.settle(attempt, { kind: "completed", result: toolResult({ text: "stale" }), artifacts: [] })).toBe("refused");
  await finish(replacement);
  expect(await stream.rest()).toMatchObject([{ result: { content: [{ type: "text", text: "done" }] } }]);
});

test("a failure after the response became a stream is its last message", async () => {
  const { stream, attempt } = await streaming("failed");
  const reference = randomUUID();
  const failure = { kind: "failed" as const, code: "operation_failed" as const, reference, detail: "secret", retry: false };
  await createPostgresAttemptLedger(world.database).settle(attempt, failure);
  publisher.publish(attempt.taskId);
  expect(await stream.rest()).toMatchObject([
    { error: { code: -32_603, message: "The operation failed unexpectedly.", data: { reference } } },
  ]);
});
