import type { ClaimedAttempt, TaskId } from "@holdfast/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { alice, newTaskId, newWorkerId, openBench, type Bench } from "../testing/bench.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

test("a renewal moves the lease to its length from the database's now", async () => {
  const attempt = await running();
  await bench.sql("update holdfast.live_task set lease_expires_at = now() - interval '1 hour' where task_id = $1", [attempt.taskId]);
  expect(await bench.ledger.renew([{ attempt, progress: null }], 15_000)).toEqual([{ kind: "renewed", cancelRequested: false }]);
  expect(await leaseWithin(attempt.taskId, 10, 15)).toBe(true);
});

test("a row that somebody holds is busy, and the other leases are renewed meanwhile", async () => {
  const attempts = [await running(), await running(), await running()];
  const [, held] = attempts;
  const holder = await bench.session();
  await holder.query("begin");
  await holder.query("select from holdfast.live_task where task_id = $1 for update", [held?.taskId]);
  const renewals = attempts.map((attempt) => ({ attempt, progress: null }));
  // Answered while the lock is still there: nothing waited for it.
  expect((await bench.ledger.renew(renewals, 15_000)).map(({ kind }) => kind)).toEqual(["renewed", "busy", "renewed"]);
  await holder.query("rollback");
  expect((await bench.ledger.renew(renewals, 15_000)).map(({ kind }) => kind)).toEqual(["renewed", "renewed", "renewed"]);
});

describe("a renewal is refused", () => {
  test("for an older token, another worker, a task without lease, and a task that is over or unknown", async () => {
    const lost = await running({ leaseMs: 0 });
    await bench.ledger.reap(10);
    const current = await bench.claim(lost.taskId);
    const queued = await running();
    await bench.ledger.settle(queued, { kind: "interrupted", detail: "drain" });
    const over = await running();
    await bench.ledger.settle(over, { kind: "cancelled" });
    const attempts = [
      lost,
      { ...current, workerId: newWorkerId() },
      { ...current, token: current.token + 1 },
      queued,
      over,
      { taskId: newTaskId(), token: 1, workerId: newWorkerId() },
      current,
    ];
    const progress = { value: 1, total: null, message: "from the wrong one" };
    const answers = await bench.ledger.renew(
      attempts.map((attempt) => ({ attempt, progress: attempt === current ? null : progress })),
      15_000,
    );
    expect(answers.map(({ kind }) => kind)).toEqual([...Array.from({ length: 6 }, () => "refused"), "renewed"]);
    for (const { taskId } of [current, queued, over]) {
      expect(await bench.manager.find({ id: taskId, principal: alice })).toMatchObject({ progress: null });
    }
  });
});

test("answers come in the order of the questions, whatever the order of the ids", async () => {
  const [a, b] = [await running(), await running()];
  const stranger = newWorkerId();
  const answers = await bench.ledger.renew(
    [
      { attempt: { ...b, workerId: stranger }, progress: null },
      { attempt: b, progress: null },
      { attempt: a, progress: null },
      { attempt: { ...a, workerId: stranger }, progress: null },
    ],
    15_000,
  );
  expect(answers.map(({ kind }) => kind)).toEqual(["refused", "renewed", "renewed", "refused"]);
  expect(await bench.ledger.renew([], 15_000)).toEqual([]);
});

describe("progress", () => {
  test("is seen by the owner, moves the time of the last change, and stays when a heartbeat brings none", async () => {
    const attempt = await running();
    await bench.sql("update holdfast.task set last_updated_at = now() - interval '1 minute' where id = $1", [attempt.taskId]);
    const before = await bench.manager.find({ id: attempt.taskId, principal: alice });
    await bench.ledger.renew([{ attempt, progress: { value: 0.25, total: 1, message: "reading" } }], 15_000);
    const after = await bench.manager.find({ id: attempt.taskId, principal: alice });
    expect(after).toMatchObject({ progress: { value: 0.25, total: 1, message: "reading" }, createdAt: before?.createdAt });
    expect(after?.lastUpdatedAt.getTime()).toBeGreaterThan(before?.lastUpdatedAt.getTime() ?? Infinity);
    await bench.ledger.renew([{ attempt, progress: null }], 15_000);
    expect(await bench.manager.find({ id: attempt.taskId, principal: alice })).toEqual(after);
  });

  test.each(["\u0000", "\ud800 half", "half \udc00", '"\\u0000"', "🦊".repeat(255), ""])(
    "keeps the message %j, and the other leases of its heartbeat",
    async (message) => {
      const [attempt, neighbour] = [await running(), await running()];
      const answers = await bench.ledger.renew(
        [
          { attempt, progress: { value: 1, total: null, message } },
          { attempt: neighbour, progress: null },
        ],
        15_000,
      );
      expect(answers.map(({ kind }) => kind)).toEqual(["renewed", "renewed"]);
      expect((await bench.manager.find({ id: attempt.taskId, principal: alice }))?.progress?.message).toBe(message);
    },
  );

  test("rewrites the small row alone, and no column of it that an index holds", async () => {
    const attempt = await running();
    const payload = () => bench.sql("select xmin::text, ctid::text from holdfast.task where id = $1", [attempt.taskId]);
    const before = await payload();
    await bench.ledger.renew([{ attempt, progress: { value: 1, total: 2, message: "a" } }], 15_000);
    expect(await payload()).toEqual(before);
    const indexed = await bench.sql(
      `select from pg_index
       where indrelid = 'holdfast.live_task'::regclass and pg_get_indexdef(indexrelid) ~ 'lease_expires_at|progress|cancel'`,
    );
    expect(indexed).toEqual([]);
  });
});

async function running(changes: { leaseMs?: number } = {}): Promise<ClaimedAttempt> {
  const task = await bench.createTask();
  return await bench.claim(task.id, changes);
}

async function leaseWithin(taskId: TaskId, fromSeconds: number, toSeconds: number): Promise<boolean> {
  const rows = await bench.sql(
    "select from holdfast.live_task where task_id = $1 and lease_expires_at between now() + $2 * interval '1 second' and now() + $3 * interval '1 second'",
    [taskId, fromSeconds, toSeconds],
  );
  return rows.length === 1;
}
