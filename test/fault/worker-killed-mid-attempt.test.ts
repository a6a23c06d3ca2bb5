import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { createTaskWorld, untilValue } from "../support/task-world.ts";
import { LEASE_MS, startTestWorker } from "../support/test-worker.ts";
import { isAlive, startWorkerProcess } from "../support/worker-process.ts";

/** What the contract allows between the death of a worker and the next claim (contract 5.4). */
const TAKE_OVER_MS = LEASE_MS + 2_000;

test("a task whose worker is killed is claimed again within its lease and two seconds, and finishes", async () => {
  await using world = await createTaskWorld();
  await using killed = await startWorkerProcess(world);
  const id = await world.create("await_file", { path: "done" });
  await world.untilRunning(id);
  await using rescuer = await startTestWorker(world);
  killed.signal("SIGKILL");
  await killed.exit;
  const killedAt = performance.now();
  await untilValue(
    () => world.attempts(id),
    ({ length }) => length === 2,
    TAKE_OVER_MS,
  );
  expect(performance.now() - killedAt).toBeLessThan(TAKE_OVER_MS);
  await writeFile(path.join(world.root, "mod", "done"), "");
  expect(await world.untilTerminal(id)).toMatchObject({ status: "completed" });
  expect(await world.attempts(id)).toMatchObject([
    { token: 1, workerId: killed.id, state: "lost" },
    { token: 2, workerId: rescuer.id, state: "succeeded" },
  ]);
  expect(rescuer.events).toContainEqual({ name: "attempt.lost", event: { taskId: id } });
});

test("a task that was cancelled when its worker died becomes cancelled instead of running again", async () => {
  await using world = await createTaskWorld();
  await using killed = await startWorkerProcess(world, { HOLDFAST_LEASE_MS: "6000" });
  const id = await world.create("sleep", { ms: 60_000, deaf: true });
  await world.untilRunning(id);
  killed.signal("SIGKILL");
  await killed.exit;
  await world.cancel(id);
  await using reaper = await startTestWorker(world);
  expect(await world.untilTerminal(id, 6_000 + 2_000)).toMatchObject({ status: "cancelled" });
  expect(reaper.events.map(({ name }) => name)).not.toContain("attempt.claimed");
  expect(await world.attempts(id)).toMatchObject([{ state: "lost" }]);
});

test("a task whose workers keep dying fails after its budget, with that reason", async () => {
  await using world = await createTaskWorld();
  const id = await world.create("sleep", { ms: 60_000, deaf: true });
  for (let death = 1; death <= 3; death += 1) {
    await using worker = await startWorkerProcess(world, { HOLDFAST_LEASE_MS: "1000" });
    await untilValue(
      () => world.attempts(id),
      ({ length }) => length === death,
      10_000,
    );
    worker.signal("SIGKILL");
    await worker.exit;
  }
  await using reaper = await startTestWorker(world);
  expect(await world.untilTerminal(id)).toMatchObject({ status: "failed", outcome: { code: "worker_lost" } });
  expect((await world.events(id)).filter((kind) => kind === "task.failed")).toHaveLength(1);
  expect(reaper.events).toContainEqual({ name: "attempt.lost", event: { taskId: id } });
});

test.each([
  ["waits", "sleep", { ms: 60_000 }],
  ["is stuck in a loop", "spin", {}],
])("the children of a killed worker end with it, also one that %s", async (_, operation, input) => {
  await using world = await createTaskWorld();
  await using worker = await startWorkerProcess(world);
  const id = await world.create(operation, input);
  await world.untilRunning(id);
  await untilValue(
    () => Promise.resolve(worker.children()),
    ({ length }) => length >= 2,
    5_000,
  );
  const children = worker.children();
  expect(children.filter(isAlive)).toEqual(children);
  worker.signal("SIGKILL");
  await worker.exit;
  await untilValue(
    () => Promise.resolve(children.filter(isAlive)),
    ({ length }) => length === 0,
    5_000,
  );
});
