import { createPublisher } from "@holdfast/db";
import { expect, test } from "vitest";
import { createTaskWorld } from "../../support/task-world.ts";
import { startTestWorker } from "../../support/test-worker.ts";

/** So long that no heartbeat comes by itself during a test. */
const LONG_LEASE_MS = 120_000;

test("a queued task is cancelled without starting, with no worker alive", async () => {
  await using world = await createTaskWorld();
  const id = await world.create("echo", { text: "never" });
  expect(await world.cancel(id)).toMatchObject({ status: "cancelled" });
  await using worker = await startTestWorker(world);
  const other = await world.create("echo", { text: "after" });
  await world.untilTerminal(other);
  expect(worker.events.filter(({ name }) => name === "attempt.claimed")).toHaveLength(1);
  expect(await world.attempts(id)).toEqual([]);
});

test("a running operation that heeds its signal is cancelled as soon as the hint arrives", async () => {
  await using world = await createTaskWorld();
  await using worker = await startTestWorker(world, { leaseMs: LONG_LEASE_MS });
  await expect.poll(() => worker.events.map(({ name }) => name), { timeout: 5_000 }).toContain("listener.up");
  const id = await world.create("sleep", { ms: 60_000 });
  await world.until(id, ({ progress }) => progress !== null, 5_000);
  await world.cancel(id);
  const publisher = createPublisher(world.database);
  publisher.publish(id);
  expect(await world.untilTerminal(id, 5_000)).toMatchObject({ status: "cancelled" });
  expect(await world.attempts(id)).toMatchObject([{ state: "cancelled" }]);
  await publisher.stop();
});

test("without any hint, the next heartbeat brings the cancellation", async () => {
  await using world = await createTaskWorld();
  await using worker = await startTestWorker(world, { leaseMs: 1_500 });
  const id = await world.create("sleep", { ms: 60_000 });
  await world.untilRunning(id);
  await world.cancel(id);
  expect(await world.untilTerminal(id, 5_000)).toMatchObject({ status: "cancelled" });
  expect(await world.attempts(id)).toMatchObject([{ workerId: worker.id, state: "cancelled" }]);
});

test.each(["spin", "sleep"])("a running operation that ignores the signal (%s) is killed and cancelled", async (operation) => {
  await using world = await createTaskWorld();
  await using worker = await startTestWorker(world);
  const id = await world.create(operation, operation === "sleep" ? { ms: 60_000, deaf: true } : {});
  await world.untilRunning(id);
  await world.cancel(id);
  expect(await world.untilTerminal(id)).toMatchObject({ status: "cancelled" });
  expect(worker.events).toContainEqual({
    name: "child.exited",
    event: expect.objectContaining({ reason: expect.stringContaining("did not stop within 2000 ms (cancelled)") as string }) as object,
  });
  const next = await world.create("echo", { text: "the slot is free" });
  expect(await world.untilTerminal(next)).toMatchObject({ status: "completed" });
});

test("an operation that completes in spite of the cancellation is completed", async () => {
  await using world = await createTaskWorld();
  await using worker = await startTestWorker(world);
  const id = await world.create("sleep", { ms: 1_200, deaf: true });
  await world.until(id, ({ progress }) => progress !== null, 5_000);
  await world.cancel(id);
  expect(await world.untilTerminal(id)).toMatchObject({ status: "completed" });
  expect(await world.attempts(id)).toMatchObject([{ workerId: worker.id, state: "succeeded" }]);
});
