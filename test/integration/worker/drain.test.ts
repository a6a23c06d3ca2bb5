import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { createTaskWorld } from "../../support/task-world.ts";
import { startTestWorker } from "../../support/test-worker.ts";

test("an attempt that ends before the drain's deadline is not disturbed", async () => {
  await using world = await createTaskWorld();
  const worker = await startTestWorker(world, { drainMs: 10_000 });
  const id = await world.create("sleep", { ms: 700 });
  await world.untilRunning(id);
  await worker.stop();
  expect(await world.find(id)).toMatchObject({ status: "completed" });
  expect(await world.attempts(id)).toHaveLength(1);
});

test.each([{ deaf: false }, { deaf: true }])(
  "an attempt that outlasts the drain is interrupted at no cost, deaf or not: $deaf",
  async ({ deaf }) => {
    await using world = await createTaskWorld();
    const worker = await startTestWorker(world, { drainMs: 500 });
    const id = await world.create("sleep", { ms: 60_000, deaf });
    await world.untilRunning(id);
    const startedAt = performance.now();
    await worker.stop();
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(await world.attempts(id)).toMatchObject([{ state: "interrupted" }]);
    expect(await world.query("select budget_spent, worker_id from holdfast.live_task where task_id = $1", [id])).toEqual([
      { budget_spent: 0, worker_id: null },
    ]);
  },
);

test("an interrupted task is taken up by another worker without waiting for a lease", async () => {
  await using world = await createTaskWorld();
  const first = await startTestWorker(world, { drainMs: 0, leaseMs: 60_000 });
  const id = await world.create("await_file", { path: "done" });
  await world.untilRunning(id);
  await using second = await startTestWorker(world, { leaseMs: 60_000 });
  await first.stop();
  await writeFile(path.join(world.root, "mod", "done"), "");
  expect(await world.untilTerminal(id, 8_000)).toMatchObject({ status: "completed" });
  expect(await world.attempts(id)).toMatchObject([{ state: "interrupted" }, { state: "succeeded", workerId: second.id }]);
});

test("leases are renewed while a drain waits", async () => {
  await using world = await createTaskWorld();
  const worker = await startTestWorker(world, { drainMs: 15_000, leaseMs: 3_000 });
  const id = await world.create("sleep", { ms: 4_500 });
  await world.untilRunning(id);
  await worker.stop();
  expect(await world.attempts(id)).toMatchObject([{ state: "succeeded" }]);
});

test("stopping twice is stopping once", async () => {
  await using world = await createTaskWorld();
  const worker = await startTestWorker(world);
  await Promise.all([worker.stop(), worker.stop()]);
  expect(worker.events.filter(({ name }) => name === "process.stopped")).toHaveLength(1);
});
