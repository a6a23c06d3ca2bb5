import type { TaskId } from "@holdfast/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { alice, newWorkerId, openBench, reach, type Bench } from "../testing/bench.ts";
import { rewake } from "./rewake-tasks.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

const options = { limit: 100, afterMs: 30_000 };

test("a task whose job is on its way is left alone", async () => {
  const { id } = await bench.createTask();
  expect(await rewake(bench.database, options)).toEqual([]);
  // Also later, as long as its job can be fetched: a backlog is not a loss.
  await due(id);
  const before = await jobsOf(id);
  expect(await rewake(bench.database, options)).toEqual([]);
  expect(await jobsOf(id)).toEqual(before);
});

test("with every row of the queue deleted, all queued work gets a job again", async () => {
  const tasks = await Promise.all(Array.from({ length: 30 }, () => bench.createTask()));
  const ids = tasks.map(({ id }) => id).toSorted();
  await bench.sql("delete from graphile_worker._private_jobs");
  await due(...ids);
  expect((await rewake(bench.database, options)).toSorted()).toEqual(ids);
  for (const id of ids) expect(await jobsOf(id)).toEqual([{ payload: { taskId: id }, fetchable: true }]);
  // Their next look is pushed into the future.
  expect(await rewake(bench.database, options)).toEqual([]);
});

test("a job locked by a dead worker does not keep its task asleep, and the two wakes do not run it twice", async () => {
  const { id } = await bench.createTask();
  await bench.sql("update graphile_worker._private_jobs set locked_at = now(), locked_by = 'dead', attempts = 1 where key = $1", [id]);
  await due(id);
  expect(await rewake(bench.database, options)).toEqual([id]);
  expect(await jobsOf(id)).toEqual([{ payload: { taskId: id }, fetchable: true }]);
  // The other worker was only slow: both come to claim.
  const claims = await Promise.all(
    [newWorkerId(), newWorkerId()].map((workerId) => bench.ledger.claim({ taskId: id, workerId, leaseMs: 60_000, reach })),
  );
  expect(claims.filter((claim) => claim !== null)).toHaveLength(1);
});

test("a job that has used up its tries, or was put off, is replaced by one that can be fetched", async () => {
  const [exhausted, delayed] = [await bench.createTask(), await bench.createTask()];
  await bench.sql("update graphile_worker._private_jobs set attempts = max_attempts, last_error = 'x' where key = $1", [exhausted.id]);
  await bench.sql("update graphile_worker._private_jobs set run_at = now() + interval '1 day' where key = $1", [delayed.id]);
  const ids = [exhausted.id, delayed.id].toSorted();
  await due(...ids);
  expect((await rewake(bench.database, options)).toSorted()).toEqual(ids);
  for (const id of ids) expect(await jobsOf(id)).toEqual([{ payload: { taskId: id }, fetchable: true }]);
});

test("running, finished and cancelled tasks are not woken", async () => {
  const [running, finished, cancelled] = [await bench.createTask(), await bench.createTask(), await bench.createTask()];
  await bench.claim(running.id);
  await bench.ledger.settle(await bench.claim(finished.id), { kind: "completed", result: { content: [] }, artifacts: [] });
  await bench.manager.requestCancellation({ id: cancelled.id, principal: alice });
  await bench.sql("delete from graphile_worker._private_jobs");
  await due(running.id, finished.id, cancelled.id);
  expect(await rewake(bench.database, options)).toEqual([]);
});

test("many re-wakers at once give each task one job, within their limits", async () => {
  const tasks = await Promise.all(Array.from({ length: 40 }, () => bench.createTask()));
  await bench.sql("delete from graphile_worker._private_jobs");
  await due(...tasks.map(({ id }) => id));
  const rounds = await Promise.all(Array.from({ length: 4 }, () => rewake(bench.open(), { limit: 5, afterMs: 30_000 })));
  for (const round of rounds) expect(round.length).toBeLessThanOrEqual(5);
  rounds.push(await rewake(bench.database, options));
  expect(rounds.flat().toSorted()).toEqual(tasks.map(({ id }) => id).toSorted());
  const jobs = await bench.sql("select key from graphile_worker.jobs");
  expect(jobs).toHaveLength(40);
});

/** As if their wake had been lost for a while. */
async function due(...ids: readonly TaskId[]): Promise<void> {
  await bench.sql("update holdfast.live_task set wake_at = now() - interval '1 second' where task_id = any($1::uuid[])", [ids]);
}

async function jobsOf(id: TaskId) {
  return await bench.sql(
    `select p.payload, j.locked_at is null and j.attempts < j.max_attempts and j.run_at <= now() as fetchable
     from graphile_worker.jobs as j inner join graphile_worker._private_jobs as p on p.id = j.id where j.key = $1`,
    [id],
  );
}
