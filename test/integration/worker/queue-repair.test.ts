import { expect, test } from "vitest";
import { createTaskWorld } from "../../support/task-world.ts";
import { startTestWorker } from "../../support/test-worker.ts";

test("with every job deleted by hand, all tasks are run, each once, by two workers at once", async () => {
  await using world = await createTaskWorld();
  const ids = await Promise.all(Array.from({ length: 40 }, (_, index) => world.create("echo", { text: String(index) })));
  await world.query("delete from graphile_worker._private_jobs");
  await using first = await startTestWorker(world);
  await using second = await startTestWorker(world);
  for (const id of ids) await world.untilTerminal(id, 15_000);
  const attempts = await world.query("select task_id, count(*)::int as count from holdfast.attempt group by task_id");
  expect(attempts).toHaveLength(40);
  expect(attempts.filter(({ count }) => count !== 1)).toEqual([]);
  expect([...first.events, ...second.events].filter(({ name }) => name === "attempt.claimed")).toHaveLength(40);
});

test("a job that a dead worker has locked does not keep its task from running", async () => {
  await using world = await createTaskWorld();
  const id = await world.create("echo", { text: "x" });
  await world.query("update graphile_worker._private_jobs set locked_at = now(), locked_by = 'a worker that is gone'");
  await using worker = await startTestWorker(world);
  expect(await world.untilTerminal(id, 10_000)).toMatchObject({ status: "completed" });
  expect(await world.attempts(id)).toMatchObject([{ workerId: worker.id }]);
});

test("tasks that a busy worker has fetched are soon run by an idle one", async () => {
  await using world = await createTaskWorld();
  await using busy = await startTestWorker(world, { slots: 1, leaseMs: 60_000 });
  const long = await world.create("sleep", { ms: 60_000 });
  await world.untilRunning(long);
  const waiting = await Promise.all([1, 2, 3].map((index) => world.create("echo", { text: String(index) })));
  await using idle = await startTestWorker(world, { slots: 1, leaseMs: 60_000 });
  for (const id of waiting) await world.untilTerminal(id, 5_000);
  expect(busy.events.filter(({ name }) => name === "attempt.claimed")).toHaveLength(1);
  expect(idle.events.filter(({ name }) => name === "attempt.claimed")).toHaveLength(3);
  await world.cancel(long);
});

test("a worker registers itself again when its row is gone", async () => {
  await using world = await createTaskWorld();
  await using worker = await startTestWorker(world);
  await world.query("delete from holdfast.worker");
  await expect.poll(() => world.query("select id from holdfast.worker"), { timeout: 15_000 }).toEqual([{ id: worker.id }]);
});
