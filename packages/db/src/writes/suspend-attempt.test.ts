import type { AttemptRef, CreateTask, InputRequests, JsonObject, Settlement, TaskId } from "@holdfast/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { alice, newWorkerId, openBench, reach, type Bench } from "../testing/bench.ts";
import { rewake } from "./rewake-tasks.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

const name = { method: "elicitation/create", params: { message: "Name? \u0000 \ud800", requestedSchema: { type: "object" } } } as const;
const roots = { method: "roots/list", params: {} } as const;
const suspended = (requests: InputRequests): Settlement => ({ kind: "suspended", requests });

describe("an attempt that asks", () => {
  test("parks its task: the questions are there, nobody holds or wakes it, and the budget is as it was", async () => {
    const attempt = await bench.claim((await bench.createTask()).id);
    const id = attempt.taskId;
    await bench.ledger.renew([{ attempt, progress: { value: 1, total: 2, message: "asking" } }], 60_000);
    await bench.sql("delete from graphile_worker._private_jobs");
    expect(await bench.ledger.settle(attempt, suspended({ name, roots }))).toBe("parked");
    expect(await bench.manager.find({ id, principal: alice })).toMatchObject({
      status: "input_required",
      progress: null,
      inputRequests: { name, roots },
    });
    expect(await bench.sql("select state, error_code from holdfast.attempt where task_id = $1", [id])).toEqual([
      { state: "suspended", error_code: null },
    ]);
    expect(await bench.sql("select parked, worker_id, budget_spent from holdfast.live_task where task_id = $1", [id])).toEqual([
      { parked: true, worker_id: null, budget_spent: 0 },
    ]);
    expect(await bench.sql("select key from graphile_worker.jobs")).toEqual([]);
  });

  test("leaves nothing to claim, to reap or to wake until it is answered", async () => {
    const { id } = await parked();
    await bench.sql("delete from graphile_worker._private_jobs");
    await bench.sql("update holdfast.live_task set wake_at = now() - interval '1 hour' where task_id = $1", [id]);
    expect(await bench.ledger.claim({ taskId: id, workerId: newWorkerId(), leaseMs: 60_000, reach })).toBeNull();
    expect(await bench.ledger.reap(10)).toEqual([]);
    expect(await rewake(bench.database, { limit: 10, afterMs: 1_000 })).toEqual([]);
    await answer(id, { name: { action: "accept", content: { "\u0000": "\ud800" } } });
    expect((await bench.claim(id)).inputs).toEqual([
      { key: "name", ...name, answer: { action: "accept", content: { "\u0000": "\ud800" } } },
    ]);
  });

  test("is refused a key that was asked before, or answered before there was a task, and goes on", async () => {
    const { id } = await parked({ answers: [{ key: "early", method: "roots/list", answer: { roots: [] } }] });
    await answer(id, { name: { action: "decline" } });
    const attempt = await bench.claim(id);
    for (const key of ["name", "early"]) {
      await expect(bench.ledger.settle(attempt, suspended({ fresh: roots, [key]: name }))).rejects.toMatchObject({
        code: "operation_output_invalid",
      });
    }
    expect(await bench.ledger.settle(attempt, suspended({ fresh: roots }))).toBe("parked");
  });

  test("is refused when it asks nothing, which nobody could answer", async () => {
    const attempt = await bench.claim((await bench.createTask()).id);
    await expect(bench.ledger.settle(attempt, suspended({}))).rejects.toMatchObject({ code: "operation_output_invalid" });
    expect(await bench.ledger.settle(attempt, { kind: "cancelled" })).toBe("cancelled");
  });

  test("has gone further than its last checkpoint: the same one may be tried again after the answer", async () => {
    const { id } = await bench.createTask();
    const sealed = { text: "1", sourceRevision: null, seal: "seal" };
    const first = await bench.claim(id);
    await bench.ledger.saveCheckpoint(first, sealed);
    await lose(first);
    await bench.ledger.settle(await bench.claim(id), suspended({ name }));
    await answer(id, { name: {} });
    await lose(await bench.claim(id));
    expect(await bench.manager.find({ id, principal: alice })).toMatchObject({ status: "working" });
    expect((await bench.claim(id)).checkpoint).toEqual(sealed);
  });
});

describe("asking against a request to cancel", () => {
  test.each(["cancel", "ask"] as const)("when %s comes first, the task ends as cancelled and asks nothing any more", async (first) => {
    const attempt = await bench.claim((await bench.createTask()).id);
    const id = attempt.taskId;
    const holder = await bench.session();
    await holder.query("begin");
    await holder.query("select from holdfast.live_task where task_id = $1 for update", [id]);
    const acts = {
      cancel: () => bench.manager.requestCancellation({ id, principal: alice }),
      ask: () => bench.ledger.settle(attempt, suspended({ name })),
    };
    const early = acts[first]();
    await bench.whenBlocked(1);
    const late = acts[first === "cancel" ? "ask" : "cancel"]();
    await bench.whenBlocked(2);
    await holder.query("commit");
    await Promise.all([early, late]);
    const task = await bench.manager.find({ id, principal: alice });
    expect([task?.status, task?.inputRequests]).toEqual(["cancelled", {}]);
    expect(await bench.sql("select from holdfast.live_task where task_id = $1", [id])).toEqual([]);
    expect(await bench.sql("select from holdfast.task_event where task_id = $1 and kind = 'task.cancelled'", [id])).toHaveLength(1);
  });
});

async function parked(changes: Partial<CreateTask> = {}) {
  const task = await bench.createTask(changes);
  expect(await bench.ledger.settle(await bench.claim(task.id), suspended({ name }))).toBe("parked");
  return task;
}

async function answer(id: TaskId, answers: Readonly<Record<string, JsonObject>>): Promise<void> {
  const given = Object.entries(answers).map(([key, value]) => ({ key, method: "elicitation/create" as const, answer: value }));
  expect(await bench.manager.update({ id, principal: alice }, given)).toMatchObject({ status: "working" });
}

async function lose(attempt: AttemptRef): Promise<void> {
  await bench.sql("update holdfast.live_task set lease_expires_at = now() - interval '1 second' where task_id = $1", [attempt.taskId]);
  expect(await bench.ledger.reap(10)).toEqual([attempt.taskId]);
}
