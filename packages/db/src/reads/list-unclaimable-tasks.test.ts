import { hostname } from "node:os";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newWorkerId, openBench, reach, type Bench } from "../testing/bench.ts";
import { forgetWorker, registerWorker, touchWorker } from "../writes/register-worker.ts";
import { listUnclaimableTasks } from "./list-unclaimable-tasks.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

const describe = (changes: object = {}) => ({ id: newWorkerId(), host: hostname(), pid: 1, version: "1", ...reach, slots: 2, ...changes });

test("a queued task is unclaimable until a live worker serves its pool, reaches its root and knows its operation", async () => {
  const task = await bench.createTask();
  const running = await bench.createTask();
  await bench.claim(running.id);
  const expected = [
    { taskId: task.id, workspaceId: "alpha", operation: "test.echo", pool: "default", root: "mods", createdAt: task.createdAt },
  ];
  for (const miss of [{ pools: ["heavy"] }, { roots: ["elsewhere"] }, { operations: ["test.other"] }]) {
    await registerWorker(bench.database, describe(miss));
    expect(await listUnclaimableTasks(bench.database)).toEqual(expected);
  }
  const worker = describe();
  await registerWorker(bench.database, worker);
  expect(await listUnclaimableTasks(bench.database)).toEqual([]);
  // A worker that was not seen for a while counts as gone, and comes back by its next touch.
  await bench.sql("update holdfast.worker set seen_at = now() - interval '31 seconds' where id = $1", [worker.id]);
  expect(await listUnclaimableTasks(bench.database)).toEqual(expected);
  expect(await touchWorker(bench.database, worker.id)).toBe(true);
  expect(await listUnclaimableTasks(bench.database)).toEqual([]);
  await forgetWorker(bench.database, worker.id);
  expect(await listUnclaimableTasks(bench.database)).toEqual(expected);
  expect(await touchWorker(bench.database, worker.id)).toBe(false);
});

test("registering again replaces the description, and sweeps away workers silent for a day", async () => {
  const [silent, worker] = [describe(), describe()];
  await registerWorker(bench.database, silent);
  await registerWorker(bench.database, worker);
  await bench.sql("update holdfast.worker set seen_at = now() - interval '25 hours' where id = any($1::uuid[])", [[silent.id, worker.id]]);
  await registerWorker(bench.database, { ...worker, slots: 7 });
  const rows = await bench.sql(
    "select id, slots, now() - seen_at < interval '1 minute' as seen from holdfast.worker where id = any($1::uuid[])",
    [[silent.id, worker.id]],
  );
  expect(rows).toEqual([{ id: worker.id, slots: 7, seen: true }]);
});
