import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { createTaskWorld, textOf, type TaskWorld } from "../../support/task-world.ts";
import { startTestWorker, type TestWorker } from "../../support/test-worker.ts";

let world: TaskWorld;
let worker: TestWorker;

beforeAll(async () => {
  world = await createTaskWorld();
  worker = await startTestWorker(world);
  await writeFile(path.join(world.root, "mod", "source.txt"), "source");
});
afterAll(async () => {
  await worker.stop();
  await world[Symbol.asyncDispose]();
});

const stepsSchema = z.object({
  values: z.record(z.string(), z.object({ by: z.string(), of: z.string() })),
  done: z.number(),
  again: z.unknown(),
});

test("an attempt that follows a crash begins at the last checkpoint", async () => {
  const id = await world.create("durable.count", { to: 3, dieAt: [2] });
  // A value that the schema of the operation refuses is none.
  expect(JSON.parse(textOf(await world.untilTerminal(id)))).toEqual({ began: 2, saved: 3, asText: null });
  expect(await world.attempts(id)).toMatchObject([{ state: "failed", errorCode: "operation_crashed" }, { state: "succeeded" }]);
});

test("an attempt that dies is replaced twice, also when each one has come further than the last", async () => {
  const id = await world.create("durable.count", { to: 4, dieAt: [1, 2, 3] });
  expect(await world.untilTerminal(id)).toMatchObject({ status: "failed", outcome: { code: "operation_crashed" } });
  expect(await world.attempts(id)).toHaveLength(3);
});

test("a step that was done is not done again by the next attempt, nor twice by one", async () => {
  const id = await world.create("durable.steps", { keys: ["a", "b", "c ä/🦊"], dieAfter: 2 });
  const { values, done, again } = stepsSchema.parse(JSON.parse(textOf(await world.untilTerminal(id))));
  expect(done).toBe(1);
  expect(again).toEqual(values["a"]);
  const kept = await world.query("select key, value, fencing_token from holdfast.task_step where task_id = $1 order by key", [id]);
  expect(kept).toEqual([
    { key: "a", value: values["a"], fencing_token: 1 },
    { key: "b", value: values["b"], fencing_token: 1 },
    { key: "c ä/🦊", value: values["c ä/🦊"], fencing_token: 2 },
  ]);
});

test("steps and checkpoints of other files than there are now are not handed out", async () => {
  const id = await world.create("durable.steps", { keys: ["a"], dieAfter: 1, touch: "changed.txt" });
  const kept = () => world.query("select value from holdfast.task_step where task_id = $1 and fencing_token = 1", [id]);
  await expect.poll(kept, { timeout: 5_000 }).toHaveLength(1);
  const [first] = await kept();
  // The first attempt ends when the file appears, so the second one finds another workspace.
  await writeFile(path.join(world.root, "mod", "changed.txt"), "");
  const { values } = stepsSchema.parse(JSON.parse(textOf(await world.untilTerminal(id))));
  expect(values["a"]).not.toEqual(first?.["value"]);
  // The third one finds what the second has left.
  expect(await world.attempts(id)).toMatchObject([{ state: "failed" }, { state: "failed" }, { state: "succeeded" }]);
});

test.each([
  ["checkpoint", "task_checkpoint", "durable.count", { to: 2, dieAt: [1] }],
  ["step", "task_step", "durable.steps", { keys: ["a", "b"], dieAfter: 1 }],
])("a %s that was changed in the store is not believed, and operators are told", async (record, table, operation, input) => {
  const id = await world.create(operation, input);
  const held = world.database.pool;
  await world.query(
    `create or replace function forge_value() returns trigger language plpgsql as $$
     begin new.value := case when new.task_id = '${id}' then '1000'::json else new.value end; return new; end $$`,
  );
  await held.query(
    `create or replace trigger forge before insert or update on holdfast.${table} for each row execute function forge_value()`,
  );
  const task = await world.untilTerminal(id);
  await held.query(`drop trigger forge on holdfast.${table}`);
  expect(JSON.stringify(task.outcome)).not.toContain("1000");
  expect(worker.events).toContainEqual({ name: "seal.refused", event: { taskId: id, record } });
});

test.each([
  ["undefined", /undefined, which has no JSON/u],
  ["nan", /NaN, which has no JSON/u],
  ["date", /class Date, which has no JSON/u],
  ["circular", /contains itself/u],
  ["deep", /nested too deeply/u],
  ["large", /exceeds the 8388608 that can be kept/u],
])("a value that cannot be kept as it is (%s) is refused in the handler, with the reason", async (how, reason) => {
  const id = await world.create("durable.keep_odd", { how });
  const { checkpoint, step } = z
    .object({ checkpoint: z.string(), step: z.string() })
    .parse(JSON.parse(textOf(await world.untilTerminal(id))));
  expect(checkpoint).toMatch(reason);
  expect(step).toMatch(reason);
  expect(await world.query("select from holdfast.task_step where task_id = $1", [id])).toEqual([]);
});

test("a workspace that is not there is no reason to fail", async () => {
  await world.query("update holdfast.workspace set path = 'nowhere' where id = 'current'");
  const id = await world.create("durable.count", { to: 1 });
  expect(await world.untilTerminal(id)).toMatchObject({ status: "completed" });
  await mkdir(path.join(world.root, "mod"), { recursive: true });
  await world.query("update holdfast.workspace set path = 'mod' where id = 'current'");
});
