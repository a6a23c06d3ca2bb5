import { afterAll, beforeAll, expect, test } from "vitest";
import { readArtifact } from "@holdfast/db";
import { parseArtifactUri } from "@holdfast/core";
import { createTaskWorld, type TaskWorld } from "../../support/task-world.ts";
import { startTestWorker, type TestWorker } from "../../support/test-worker.ts";

let world: TaskWorld;
let worker: TestWorker;

beforeAll(async () => {
  world = await createTaskWorld();
  worker = await startTestWorker(world);
});
afterAll(async () => {
  await worker.stop();
  await world[Symbol.asyncDispose]();
});

test("a task is claimed, run and completed with the exact result of its operation", async () => {
  const id = await world.create("echo", { text: "héllo 🦊" });
  expect(await world.untilTerminal(id)).toMatchObject({
    status: "completed",
    outcome: { kind: "result", result: { content: [{ type: "text", text: "héllo 🦊" }] } },
  });
  expect(await world.attempts(id)).toMatchObject([{ token: 1, workerId: worker.id, state: "succeeded" }]);
  expect(await world.events(id)).toEqual(["task.created", "attempt.claimed", "task.completed"]);
});

test("the environment that an operation sees holds no database", async () => {
  const id = await world.create("environment");
  expect(JSON.stringify((await world.untilTerminal(id)).outcome)).not.toMatch(/postgres|DATABASE/iu);
});

test("artifacts are stored before the result that names them", async () => {
  const id = await world.create("artifact", { sizes: [300_000] });
  const task = await world.untilTerminal(id);
  const uri = /"uri":"([^"]+)"/u.exec(JSON.stringify(task.outcome))?.[1] ?? "";
  const address = parseArtifactUri(uri)?.address;
  if (address === undefined) throw new Error(`no artifact in ${JSON.stringify(task.outcome)}`);
  const artifact = await readArtifact(world.database, { principal: world.principal, address, offset: 299_999, length: 10 });
  expect(artifact).toMatchObject({ totalBytes: 300_000, bytes: Buffer.from([1]) });
});

test("progress is visible while the operation runs, whatever text it carries", async () => {
  const id = await world.create("progress", { values: [7], lingerMs: 60_000 });
  const task = await world.until(id, ({ progress }) => progress !== null, 5_000);
  expect(task).toMatchObject({ status: "working", progress: { value: 7, total: 100, message: "at 7\u0000 \ud800" } });
  await world.cancel(id);
  await world.untilTerminal(id);
});

test("a result and an error with text that no database keeps end their tasks at the first attempt, and are kept losslessly", async () => {
  const text = "nul \u0000, halves \ud800 and \udfff, emoji 🦊";
  const completed = await world.create("echo", { text });
  expect(await world.untilTerminal(completed)).toMatchObject({
    status: "completed",
    outcome: { kind: "result", result: { content: [{ type: "text", text }] } },
  });
  const failed = await world.create("fail", { message: text });
  expect(await world.untilTerminal(failed)).toMatchObject({ status: "failed", outcome: { kind: "error", code: "operation_failed" } });
  const attempts = await world.query("select state, error_detail::text as detail from holdfast.attempt where task_id = $1", [failed]);
  expect(attempts).toMatchObject([{ state: "failed" }]);
  expect(JSON.parse(String(attempts[0]?.["detail"]))).toContain(text);
});

test.each([
  ["throws", "fail", { message: "secret path" }, "operation_failed"],
  ["exceeds its time limit", "overrun", { deaf: false }, "operation_timed_out"],
  ["answers something that is no result", "odd_result", { how: "number" }, "operation_output_invalid"],
  ["answers more than it may", "big_result", { bytes: 70_000 }, "operation_output_invalid"],
])("an operation that %s fails its task at the first attempt", async (_, operation, input, code) => {
  const id = await world.create(operation, input);
  const task = await world.untilTerminal(id);
  expect(task).toMatchObject({ status: "failed", outcome: { kind: "error", code } });
  expect(await world.attempts(id)).toMatchObject([{ state: "failed", errorCode: code }]);
  expect(JSON.stringify(task)).not.toContain("secret path");
});

test("an operation whose process dies is replaced twice, then its task fails with that reason", async () => {
  const id = await world.create("exit", { code: 3 });
  expect(await world.untilTerminal(id)).toMatchObject({ status: "failed", outcome: { code: "operation_crashed" } });
  expect(await world.attempts(id)).toMatchObject(
    [1, 2, 3].map((token) => ({ token, state: "failed", detail: expect.stringContaining("code 3") as string })),
  );
  expect((await world.events(id)).filter((kind) => /^task\.(?:completed|failed|cancelled)$/u.test(kind))).toEqual(["task.failed"]);
});

test("a task of an older version fails when no worker has that version any more", async () => {
  const id = await world.create("echo", { text: "x" }, { version: 0 });
  expect(await world.untilTerminal(id)).toMatchObject({ status: "failed", outcome: { code: "operation_unknown" } });
});

test("a task of a newer version is handed on at no cost", async () => {
  const id = await world.create("echo", { text: "x" }, { version: 2 });
  const ended = () => world.query("select state from holdfast.attempt where task_id = $1 and state <> 'running'", [id]);
  await expect.poll(ended, { timeout: 5_000 }).toContainEqual({ state: "interrupted" });
  expect(await world.query("select budget_spent from holdfast.live_task where task_id = $1", [id])).toEqual([{ budget_spent: 0 }]);
  await world.cancel(id);
  await world.untilTerminal(id);
});

test("duplicate wakes run a task once", async () => {
  const id = await world.create("echo", { text: "once" });
  await Promise.all(
    [1, 2, 3, 4, 5].map((copy) =>
      world.query("select graphile_worker.add_job('run-task/default/mods', json_build_object('taskId', $1::text), job_key => $2)", [
        id,
        `${id}/${copy}`,
      ]),
    ),
  );
  await world.untilTerminal(id);
  const jobs = () => world.query("select 1 from graphile_worker.jobs");
  await expect.poll(jobs, { timeout: 5_000 }).toEqual([]);
  expect(await world.attempts(id)).toHaveLength(1);
});

test("a job that names no task is forgotten", async () => {
  await world.query("select graphile_worker.add_job('run-task/default/mods', json_build_object('taskId', 'nonsense'))");
  await expect.poll(() => world.query("select 1 from graphile_worker.jobs"), { timeout: 5_000 }).toEqual([]);
});
