import { listUnclaimableTasks } from "@holdfast/db";
import { expect, test } from "vitest";
import { createTaskWorld, ROOT_NAME } from "../../support/task-world.ts";
import { startTestWorker } from "../../support/test-worker.ts";

test("a task of a pool that no worker serves is never claimed, operators see it, and a worker of its pool runs it", async () => {
  await using world = await createTaskWorld();
  await using other = await startTestWorker(world);
  const id = await world.create("echo", { text: "heavy" }, { pool: "heavy" });
  const served = await world.create("echo", { text: "light" });
  await world.untilTerminal(served);
  expect(await listUnclaimableTasks(world.database)).toMatchObject([{ taskId: id }]);
  await using heavy = await startTestWorker(world, { pools: ["heavy"] });
  await world.untilTerminal(id);
  expect(await world.attempts(id)).toMatchObject([{ workerId: heavy.id }]);
  expect(other.events.filter(({ name }) => name === "attempt.claimed")).toHaveLength(1);
  expect(await listUnclaimableTasks(world.database)).toEqual([]);
});

test("a worker without the root of a workspace never claims its tasks, even when it is woken for them", async () => {
  await using world = await createTaskWorld();
  await using elsewhere = await startTestWorker(world, { roots: new Map([["elsewhere", world.root]]) });
  const id = await world.create("echo", { text: "x" });
  await world.query("select graphile_worker.add_job('run-task/default/elsewhere', json_build_object('taskId', $1::text))", [id]);
  await expect
    .poll(() => world.query("select 1 from graphile_worker.jobs where task_identifier = 'run-task/default/elsewhere'"), { timeout: 5_000 })
    .toEqual([]);
  expect(elsewhere.events.map(({ name }) => name)).not.toContain("attempt.claimed");
  expect(await listUnclaimableTasks(world.database)).toMatchObject([{ taskId: id }]);
});

test("a worker without any root starts, waits, and claims nothing", async () => {
  await using world = await createTaskWorld();
  await using idle = await startTestWorker(world, { roots: new Map() });
  const id = await world.create("echo", { text: "x" });
  expect(await listUnclaimableTasks(world.database)).toMatchObject([{ taskId: id }]);
  await using able = await startTestWorker(world, { roots: new Map([[ROOT_NAME, world.root]]) });
  await world.untilTerminal(id);
  expect(idle.events.map(({ name }) => name)).not.toContain("attempt.claimed");
  expect(able.events.map(({ name }) => name)).toContain("attempt.claimed");
});

test("a worker that has drained no longer counts among those that can", async () => {
  await using world = await createTaskWorld();
  const worker = await startTestWorker(world);
  await worker.stop();
  const id = await world.create("echo", { text: "x" });
  expect(await listUnclaimableTasks(world.database)).toMatchObject([{ taskId: id }]);
});
