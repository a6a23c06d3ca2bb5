import { expect, test } from "vitest";
import { modFiles } from "../support/mod-files.ts";
import { closeGate, SETTLE, STAGE } from "../support/statement-gate.ts";
import { createTaskWorld, textOf } from "../support/task-world.ts";
import { startTestWorker } from "../support/test-worker.ts";
import { startWorkerProcess } from "../support/worker-process.ts";

async function startScene() {
  await using cleanup = new AsyncDisposableStack();
  const world = cleanup.use(await createTaskWorld());
  const worker = cleanup.use(await startWorkerProcess(world));
  const id = await world.create("durable.once", { after: "go", links: 1 });
  await world.untilRunning(id);
  const gate = cleanup.use(await closeGate(world, "task_result"));
  await modFiles(world).write({ go: "" });
  await gate.untilWaiting(STAGE);
  const owned = cleanup.move();
  return {
    world,
    id,
    gate,
    async kill(waiting: string) {
      worker.signal("SIGKILL");
      await worker.exit;
      await gate.discard(waiting);
      gate.open();
    },
    staged: () => world.query("select result #>> '{content,0,text}' as text from holdfast.task_result where task_id = $1", [id]),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test("killed between staging and publishing: another worker publishes the very same result, and does not run the operation", async () => {
  await using scene = await startScene();
  const { world, id } = scene;
  await scene.gate.letThrough(STAGE);
  await scene.gate.untilWaiting(SETTLE);
  await scene.kill(SETTLE);
  const [staged] = await scene.staged();
  // Staged is not told: nobody sees it yet.
  expect(await world.find(id)).toMatchObject({ status: "working", outcome: null });
  await using rescuer = await startTestWorker(world);
  expect(textOf(await world.untilTerminal(id, 15_000))).toBe(staged?.["text"]);
  expect(rescuer.events).toContainEqual({
    name: "result.published",
    event: { taskId: id, token: 2, operation: "durable.once", from: "staged" },
  });
  expect(await world.attempts(id)).toMatchObject([{ state: "lost" }, { state: "succeeded" }]);
  expect(await world.query("select from holdfast.task_artifact where task_id = $1", [id])).toHaveLength(1);
});

test("killed before staging: the operation is run again", async () => {
  await using scene = await startScene();
  const { world, id } = scene;
  await scene.kill(STAGE);
  expect(await scene.staged()).toEqual([]);
  await using rescuer = await startTestWorker(world);
  expect(textOf(await world.untilTerminal(id, 15_000))).toMatch(/^run /u);
  expect(rescuer.events.map(({ name }) => name)).not.toContain("result.published");
});

test("a staged result that was changed in the store is not published: the operation is run again", async () => {
  await using scene = await startScene();
  const { world, id } = scene;
  await scene.gate.letThrough(STAGE);
  await scene.gate.untilWaiting(SETTLE);
  await scene.kill(SETTLE);
  await world.query(`update holdfast.task_result set result = '{"content":[{"type":"text","text":"forged"}]}' where task_id = $1`, [id]);
  await using rescuer = await startTestWorker(world);
  expect(textOf(await world.untilTerminal(id, 15_000))).toMatch(/^run /u);
  expect(rescuer.events).toContainEqual({ name: "seal.refused", event: { taskId: id, record: "staged result" } });
});

test("a staged result that nobody believes does not let an operation crash without end", async () => {
  await using world = await createTaskWorld();
  const id = await world.create("abort");
  await world.query(
    `insert into holdfast.task_result (task_id, result, seal, artifacts) values ($1, '{"content":[]}', 'k1.forged', '[]')`,
    [id],
  );
  await world.query("update holdfast.live_task set checkpoint_version = 1 where task_id = $1", [id]);
  await using _worker = await startTestWorker(world);
  expect(await world.untilTerminal(id, 30_000)).toMatchObject({ status: "failed", outcome: { code: "checkpoint_stuck" } });
  expect(await world.attempts(id)).toHaveLength(2);
});
