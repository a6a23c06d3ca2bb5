import { createPostgresAttemptLedger } from "@holdfast/db";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { taskIdOf, toolCall } from "../support/mcp-request.ts";
import { createServerWorld, taskIdIn, type ServerWorld, type TestServer } from "../support/server-world.ts";

let world: ServerWorld;
let nodes: readonly [TestServer, TestServer];

beforeAll(async () => {
  world = await createServerWorld();
  nodes = await Promise.all([world.startNode(), world.startNode()]);
});
afterEach(() => {
  vi.useRealTimers();
});
afterAll(async () => {
  for (const node of nodes) await node[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

async function create(label: string): Promise<string> {
  return taskIdOf(await nodes[0].call(toolCall("slow_compute", { label }, { token: await world.token(), tasks: true })));
}

/** What clients see of the task's times, from each node. */
async function timesOf(taskId: string): Promise<{ createdAt: string; lastUpdatedAt: string }> {
  const token = await world.token();
  const seen = await Promise.all(nodes.map((node) => node.call({ method: "tasks/get", params: { taskId }, token, tasks: true })));
  const [first, second] = seen.map(({ result }) => ({
    createdAt: String(result?.["createdAt"]),
    lastUpdatedAt: String(result?.["lastUpdatedAt"]),
  }));
  expect(first).toEqual(second);
  if (first === undefined) throw new Error("no node answered");
  return first;
}

/** All that the database holds of the task. */
async function recordOf(taskId: string): Promise<string> {
  const rows = await world.query(
    `select jsonb_build_array(to_jsonb(task), to_jsonb(live_task), (select count(*) from holdfast.task_event e where e.task_id = task.id))::text as record
     from holdfast.task left join holdfast.live_task on task_id = id where id = $1`,
    [taskIdIn(taskId)],
  );
  return String(rows[0]?.["record"]);
}

async function sayProgress(taskId: string, value: number): Promise<void> {
  const ledger = createPostgresAttemptLedger(world.database);
  const attempt = await world.claim(taskId);
  await ledger.renew([{ attempt, progress: { value, total: null, message: null } }], 60_000);
}

test("a look at a task changes nothing, whoever looks and however often", async () => {
  const taskId = await create("looked at");
  const before = await recordOf(taskId);
  const times = await timesOf(taskId);
  for (let looks = 0; looks < 5; looks += 1) expect(await timesOf(taskId)).toEqual(times);
  const stranger = await world.token({ subject: "bob" });
  await nodes[1].call({ method: "tasks/get", params: { taskId }, token: stranger, tasks: true });
  await nodes[1].call({ method: "tasks/cancel", params: { taskId }, token: stranger, tasks: true });
  expect(await recordOf(taskId)).toBe(before);
});

test("the time of the last change moves with each change and with nothing else, and the creation's never", async () => {
  const taskId = await create("changing");
  const seen = [await timesOf(taskId)];
  await sayProgress(taskId, 1);
  seen.push(await timesOf(taskId));
  await nodes[1].call({ method: "tasks/cancel", params: { taskId }, token: await world.token(), tasks: true });
  seen.push(await timesOf(taskId));
  expect(new Set(seen.map(({ createdAt }) => createdAt))).toEqual(new Set([seen[0]?.createdAt]));
  const changes = seen.map(({ lastUpdatedAt }) => Date.parse(lastUpdatedAt));
  expect(changes).toEqual([...new Set(changes)].toSorted((a, b) => a - b));

  const ended = await create("ended");
  await world.settle(ended);
  const times = await timesOf(ended);
  await nodes[0].call({ method: "tasks/cancel", params: { taskId: ended }, token: await world.token(), tasks: true });
  expect(await timesOf(ended)).toEqual(times);
});

test("a node with a wrong clock writes the database's times", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 30 * 24 * 60 * 60 * 1000 });
  const taskId = await create("in the past");
  const { createdAt, lastUpdatedAt } = await timesOf(taskId);
  vi.useRealTimers();
  const [row] = await world.query("select now() - $1::timestamptz < interval '1 minute' as is_recent", [createdAt]);
  expect(row).toEqual({ is_recent: true });
  expect(Date.parse(lastUpdatedAt)).toBeGreaterThanOrEqual(Date.parse(createdAt));
});
