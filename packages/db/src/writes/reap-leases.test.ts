import type { ClaimedAttempt } from "@holdfast/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPostgresAttemptLedger } from "../attempt-ledger.ts";
import { alice, openBench, type Bench } from "../testing/bench.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

test("only leases that have expired by the database's clock are reaped", async () => {
  const [expired, held] = [await lapsed(), await running()];
  expect(await bench.ledger.reap(10)).toEqual([expired.taskId]);
  expect(await bench.ledger.reap(10)).toEqual([]);
  expect(await bench.ledger.renew([{ attempt: held, progress: null }], 60_000)).toEqual([{ kind: "renewed", cancelRequested: false }]);
  expect(await statesOf(expired)).toEqual(["lost"]);
  expect(await statesOf(held)).toEqual(["running"]);
});

test("a heartbeat that arrives late, but before the reaper, keeps its lease", async () => {
  const attempt = await lapsed();
  await bench.ledger.renew([{ attempt, progress: null }], 60_000);
  expect(await bench.ledger.reap(10)).toEqual([]);
  expect(await bench.ledger.settle(attempt, { kind: "completed", result: { content: [] }, artifacts: [] })).toBe("completed");
});

test("a lost attempt is replaced at once, by a job that can be fetched although the dead worker locks the old one", async () => {
  const attempt = await lapsed();
  await bench.sql("update graphile_worker._private_jobs set locked_at = now(), locked_by = 'dead', attempts = 1 where key = $1", [
    attempt.taskId,
  ]);
  expect(await bench.ledger.reap(10)).toEqual([attempt.taskId]);
  const fetchable = await bench.sql(
    "select from graphile_worker.jobs where key = $1 and locked_at is null and attempts < max_attempts and run_at <= now()",
    [attempt.taskId],
  );
  expect(fetchable).toHaveLength(1);
  expect((await bench.claim(attempt.taskId)).token).toBe(attempt.token + 1);
});

test("two lost attempts are replaced, the third ends the task with a reason and a reference", async () => {
  const { id } = await bench.createTask();
  for (let round = 0; round < 3; round += 1) {
    await bench.claim(id, { leaseMs: 0 });
    expect(await bench.ledger.reap(10)).toEqual([id]);
  }
  const task = await bench.manager.find({ id, principal: alice });
  expect(task).toMatchObject({ status: "failed", outcome: { kind: "error", code: "worker_lost" } });
  const events = await bench.sql(
    "select kind from holdfast.task_event where task_id = $1 and kind in ('task.requeued', 'task.failed') order by id",
    [id],
  );
  expect(events).toEqual([{ kind: "task.requeued" }, { kind: "task.requeued" }, { kind: "task.failed" }]);
});

test("a lost attempt whose task was to be cancelled is not replaced", async () => {
  const attempt = await lapsed();
  await bench.manager.requestCancellation({ id: attempt.taskId, principal: alice });
  expect(await bench.ledger.reap(10)).toEqual([attempt.taskId]);
  expect(await bench.manager.find({ id: attempt.taskId, principal: alice })).toMatchObject({ status: "cancelled", outcome: null });
  expect(await statesOf(attempt)).toEqual(["lost"]);
});

test("a row that somebody holds is left for the next round, and the others are not", async () => {
  const [busy, free] = [await lapsed(), await lapsed()];
  const holder = await bench.session();
  await holder.query("begin");
  await holder.query("select from holdfast.live_task where task_id = $1 for update", [busy.taskId]);
  expect(await bench.ledger.reap(10)).toEqual([free.taskId]);
  await holder.query("rollback");
  expect(await bench.ledger.reap(10)).toEqual([busy.taskId]);
});

test("one round takes at most its limit, the oldest first", async () => {
  const attempts = [await lapsed(), await lapsed(), await lapsed()];
  const ids = attempts.map(({ taskId }) => taskId);
  expect(await bench.ledger.reap(2)).toEqual(ids.slice(0, 2));
  expect(await bench.ledger.reap(2)).toEqual(ids.slice(2));
  await expect(bench.ledger.reap(0.5)).rejects.toThrow(/int/u);
});

test("many reapers at once lose each attempt once", async () => {
  const attempts = await Promise.all(Array.from({ length: 60 }, () => lapsed()));
  const ledgers = Array.from({ length: 4 }, () => createPostgresAttemptLedger(bench.open()));
  const rounds = await Promise.all(ledgers.flatMap((ledger) => [ledger.reap(20), ledger.reap(20), ledger.reap(20)]));
  rounds.push(await bench.ledger.reap(60));
  const reaped = rounds.flat();
  expect(reaped.toSorted()).toEqual(attempts.map(({ taskId }) => taskId).toSorted());
  const spent = await bench.sql("select distinct budget_spent from holdfast.live_task where task_id = any($1::uuid[])", [reaped]);
  expect(spent).toEqual([{ budget_spent: 1 }]);
});

async function running(): Promise<ClaimedAttempt> {
  const { id } = await bench.createTask();
  return await bench.claim(id);
}

async function lapsed(): Promise<ClaimedAttempt> {
  const { id } = await bench.createTask();
  return await bench.claim(id, { leaseMs: 0 });
}

async function statesOf({ taskId }: ClaimedAttempt): Promise<readonly string[]> {
  const rows = await bench.sql<{ state: string }>("select state from holdfast.attempt where task_id = $1 order by fencing_token", [taskId]);
  return rows.map(({ state }) => state);
}
