import { afterAll, beforeAll, expect, test } from "vitest";
import { newWorkerId, openBench, type Bench } from "../testing/bench.ts";
import { forgetWorker, registerWorker, touchWorker } from "./register-worker.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

const describe = (id = newWorkerId()) => ({
  id,
  host: "here",
  pid: 1,
  version: "1.0.0",
  pools: ["default"],
  roots: ["mods"],
  operations: ["test.echo"],
  slots: 2,
});

test("a worker can be touched as long as it is registered", async () => {
  const worker = describe();
  expect(await touchWorker(bench.database, worker.id)).toBe(false);
  await registerWorker(bench.database, worker);
  expect(await touchWorker(bench.database, worker.id)).toBe(true);
  await forgetWorker(bench.database, worker.id);
  expect(await touchWorker(bench.database, worker.id)).toBe(false);
});

test("a new worker sweeps away what crashed ones left a day ago, and nothing that lives", async () => {
  const [crashed, silent] = [describe(), describe()];
  for (const worker of [crashed, silent]) await registerWorker(bench.database, worker);
  await bench.sql("update holdfast.worker set seen_at = now() - interval '25 hours' where id = $1", [crashed.id]);
  await bench.sql("update holdfast.worker set seen_at = now() - interval '1 hour' where id = $1", [silent.id]);
  const tasks = await Promise.all(Array.from({ length: 4 }, () => bench.createTask()));
  const [left, recent, replaceable, fetchable] = tasks.map(({ id }) => id);
  // What adding a job again does to one that is locked.
  await bench.sql(
    "update graphile_worker._private_jobs set key = null, attempts = max_attempts, updated_at = now() - $2 * interval '1 hour' where key = $1",
    [left, 25],
  );
  await bench.sql("update graphile_worker._private_jobs set key = null, attempts = max_attempts where key = $1", [recent]);
  await bench.sql("update graphile_worker._private_jobs set locked_at = now() - interval '25 hours', locked_by = 'gone' where key = $1", [
    replaceable,
  ]);
  await registerWorker(bench.database, describe());
  const workers = await bench.sql("select id from holdfast.worker");
  expect(workers).not.toContainEqual({ id: crashed.id });
  expect(workers).toContainEqual({ id: silent.id });
  const jobs = await bench.sql<{ task: string }>("select payload ->> 'taskId' as task from graphile_worker._private_jobs");
  expect(new Set(jobs.map(({ task }) => task))).toEqual(new Set([recent, replaceable, fetchable]));
});
