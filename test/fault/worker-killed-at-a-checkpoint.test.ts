import { expect, test } from "vitest";
import type { TaskId } from "@holdfast/core";
import { modFiles } from "../support/mod-files.ts";
import { createTaskWorld, textOf, untilValue, type TaskWorld } from "../support/task-world.ts";
import { startTestWorker } from "../support/test-worker.ts";
import { startWorkerProcess } from "../support/worker-process.ts";

/** Kills a worker whose attempt has reached its checkpoint. */
async function killAtCheckpoint(world: TaskWorld, id: TaskId, token: number): Promise<void> {
  await using worker = await startWorkerProcess(world);
  // It reports after it has saved.
  await untilValue(
    () =>
      world.query("select from holdfast.live_task where task_id = $1 and fencing_token = $2 and progress_value is not null", [id, token]),
    ({ length }) => length === 1,
    15_000,
  );
  worker.signal("SIGKILL");
  await worker.exit;
}

test("a task whose workers die twice at the same checkpoint is not tried a third time, and says so", async () => {
  await using world = await createTaskWorld();
  const id = await world.create("durable.stay", { after: "never" });
  await killAtCheckpoint(world, id, 1);
  await killAtCheckpoint(world, id, 2);
  await using rescuer = await startTestWorker(world);
  expect(await world.untilTerminal(id, 15_000)).toMatchObject({ status: "failed", outcome: { code: "checkpoint_stuck" } });
  expect(await world.attempts(id)).toMatchObject([{ state: "lost" }, { state: "lost" }]);
  expect(rescuer.events.map(({ name }) => name)).not.toContain("attempt.claimed");
});

test("a task whose worker died once at its checkpoint goes on from there with another worker", async () => {
  await using world = await createTaskWorld();
  const id = await world.create("durable.stay", { after: "go" });
  await modFiles(world).write({ "source.txt": "x" });
  await killAtCheckpoint(world, id, 1);
  await using rescuer = await startTestWorker(world);
  await untilValue(
    () => world.attempts(id),
    ({ length }) => length === 2,
    15_000,
  );
  await world.until(id, ({ progress }) => progress !== null, 15_000);
  await modFiles(world).write({ go: "" });
  expect(JSON.parse(textOf(await world.untilTerminal(id)))).toEqual({ left: "here" });
  expect(await world.attempts(id)).toMatchObject([{ state: "lost" }, { workerId: rescuer.id, state: "succeeded" }]);
});
