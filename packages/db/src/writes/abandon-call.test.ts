import { randomBytes } from "node:crypto";
import type { CreateTask, TaskId } from "@holdfast/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { alice, atOnce, keyed, memberOf, openBench, parkedTask, question, standing, taskRequest, type Bench } from "../testing/bench.ts";
import { createPostgresTaskManager } from "../task-manager.ts";
import { abandonCall } from "./abandon-call.ts";
import { addGrant, removeGrant } from "./change-grants.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

const newAddress = (): string => randomBytes(32).toString("hex");
const call = (changes: Partial<CreateTask> = {}) => taskRequest({ waiter: "call", ...changes });
const abandon = (id: TaskId) => bench.manager.abandon({ id, principal: alice });

test("when the only call goes, a queued task is cancelled and a running one learns of the wish", async () => {
  const [queued, running] = [await bench.createTask({ waiter: "call" }), await bench.createTask({ waiter: "call" })];
  const attempt = await bench.claim(running.id);
  expect(await abandon(queued.id)).toMatchObject({ id: queued.id, status: "cancelled" });
  expect(await abandon(running.id)).toMatchObject({ id: running.id, status: "working", cancelRequested: true });
  expect(await bench.ledger.renew([{ attempt, progress: null }], 60_000)).toEqual([{ kind: "renewed", cancelRequested: true }]);
});

test("when the only call goes, a task that waits for answers is cancelled with its questions", async () => {
  const parked = await parkedTask(bench, { name: question("Which one?") }, { waiter: "call" });
  expect(standing(await abandon(parked.id))).toEqual({ status: "cancelled", questions: [] });
  expect(await bench.sql("select from holdfast.task_input where task_id = $1", [parked.id])).toEqual([]);
});

test("while another call waits the task goes on, untouched", async () => {
  const contentAddress = newAddress();
  const first = call({ contentAddress });
  const created = await bench.manager.create(first);
  await bench.manager.create(call({ contentAddress }));
  expect(await abandon(first.id)).toEqual("task" in created ? created.task : null);
  expect(await abandon(first.id)).toMatchObject({ status: "cancelled" });
});

test("a call that repeats a keyed request counts as one that waits", async () => {
  const first = call(keyed("repeated by a call"));
  await bench.manager.create(first);
  await bench.manager.create(call({ ...keyed("repeated by a call") }));
  expect(await abandon(first.id)).toMatchObject({ status: "working", cancelRequested: false });
  expect(await abandon(first.id)).toMatchObject({ status: "cancelled" });
});

test("a task that a client has a handle of goes on, however many calls go", async () => {
  const contentAddress = newAddress();
  const first = call({ contentAddress });
  await bench.manager.create(first);
  await bench.manager.create(taskRequest({ contentAddress }));
  for (let round = 0; round < 3; round += 1) expect(await abandon(first.id)).toMatchObject({ status: "working", cancelRequested: false });
});

test("of calls that go at once on several nodes exactly the last one cancels", async () => {
  const contentAddress = newAddress();
  const first = call({ contentAddress });
  await bench.manager.create(first);
  await atOnce(4, () => bench.manager.create(call({ contentAddress })));
  await bench.claim(first.id);
  /** Lets that many wait for the row of the task, all with the same count in sight, and then go one after the other. */
  const leaveTogether = async (count: number) => {
    const holder = await bench.session();
    await holder.query("begin");
    await holder.query("select from holdfast.live_task where task_id = $1 for update", [first.id]);
    const leaving = atOnce(count, () => abandonCall(bench.open(), { id: first.id, principal: alice }));
    await bench.whenBlocked(count);
    await holder.query("commit");
    await leaving;
    return await bench.manager.find({ id: first.id, principal: alice });
  };
  expect(await leaveTogether(2)).toMatchObject({ status: "working", cancelRequested: false });
  expect(await leaveTogether(3)).toMatchObject({ status: "working", cancelRequested: true });
  expect(await bench.sql("select from holdfast.task_event where task_id = $1 and kind = 'task.cancelRequested'", [first.id])).toHaveLength(
    1,
  );
});

test("whoever joins while the last call goes has a task that goes on, that one or another", async () => {
  const [left, right] = [createPostgresTaskManager(bench.open()), createPostgresTaskManager(bench.open())];
  for (let round = 0; round < 60; round += 1) {
    const contentAddress = newAddress();
    const first = call({ contentAddress });
    await bench.manager.create(first);
    const joining = right.create(call({ contentAddress }));
    const leaving = left.abandon({ id: first.id, principal: alice });
    const [outcome] = await Promise.all([joining, leaving]);
    if (!("task" in outcome)) throw new Error(`the joiner is told "${outcome.kind}"`);
    expect(await bench.manager.find({ id: outcome.task.id, principal: alice })).toMatchObject({
      status: "working",
      cancelRequested: false,
    });
  }
});

test("nothing changes for a principal who does not own the task or may no longer submit it", async () => {
  const carol = { ...alice, subject: "carol" };
  const grant = { ...memberOf(carol), expiresAt: null };
  await addGrant(bench.database, { ...grant, actions: ["read", "run"] });
  const task = await bench.createTask({ principal: carol, waiter: "call" });
  expect(await abandon(task.id)).toBeNull();
  await removeGrant(bench.database, grant);
  expect(await bench.manager.abandon({ id: task.id, principal: carol })).toBeNull();
  await addGrant(bench.database, { ...grant, actions: ["read", "run"] });
  expect(await bench.manager.find({ id: task.id, principal: carol })).toEqual(task);
  expect(await bench.manager.abandon({ id: task.id, principal: carol })).toMatchObject({ status: "cancelled" });
});
