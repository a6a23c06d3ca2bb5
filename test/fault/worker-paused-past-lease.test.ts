import { expect, test } from "vitest";
import { createTaskWorld, untilValue } from "../support/task-world.ts";
import { startTestWorker } from "../support/test-worker.ts";
import { startWorkerProcess } from "../support/worker-process.ts";

test("a worker that was paused past its lease changes nothing when it wakes: one terminal state, one terminal event", async () => {
  await using world = await createTaskWorld();
  await using paused = await startWorkerProcess(world);
  // Its child is no part of the pause: it goes on, and has its result ready when the worker wakes.
  const id = await world.create("progress", { values: [1, 2, 3], everyMs: 700 });
  await world.untilRunning(id);
  paused.signal("SIGSTOP");
  await using rescuer = await startTestWorker(world);
  const finished = await world.untilTerminal(id, 15_000);
  const eventsBefore = await world.events(id);
  paused.signal("SIGCONT");
  // It has noticed when it says so; before that, there was nothing that it could have written.
  await untilValue(
    () => Promise.resolve([...paused.events("lease.untrusted"), ...paused.events("lease.refused")]),
    ({ length }) => length > 0,
    10_000,
  );
  await untilValue(
    () => Promise.resolve(paused.events("attempt.settled")),
    ({ length }) => length > 0,
    10_000,
  );
  expect(paused.events("attempt.settled")).toMatchObject([
    { taskId: id, token: 1, outcome: expect.stringMatching(/^(?:lost|refused)$/u) as string },
  ]);
  expect(await world.find(id)).toEqual(finished);
  expect(await world.events(id)).toEqual(eventsBefore);
  expect(eventsBefore.filter((kind) => /^task\.(?:completed|failed|cancelled)$/u.test(kind))).toEqual(["task.completed"]);
  expect(await world.attempts(id)).toMatchObject([
    { token: 1, workerId: paused.id, state: "lost" },
    { token: 2, workerId: rescuer.id, state: "succeeded" },
  ]);
});

test("a worker that wakes while its successor is at work disturbs nobody", async () => {
  await using world = await createTaskWorld();
  await using paused = await startWorkerProcess(world);
  const id = await world.create("sleep", { ms: 4_000, deaf: true });
  await world.untilRunning(id);
  paused.signal("SIGSTOP");
  await using rescuer = await startTestWorker(world);
  await untilValue(
    () => world.attempts(id),
    ({ length }) => length === 2,
    10_000,
  );
  paused.signal("SIGCONT");
  await untilValue(
    () => Promise.resolve(paused.events("attempt.settled")),
    ({ length }) => length > 0,
    10_000,
  );
  expect(await world.untilTerminal(id)).toMatchObject({ status: "completed" });
  expect(await world.attempts(id)).toMatchObject([
    { token: 1, workerId: paused.id, state: "lost" },
    { token: 2, workerId: rescuer.id, state: "succeeded" },
  ]);
  expect((await world.events(id)).filter((kind) => /^task\.(?:completed|failed|cancelled)$/u.test(kind))).toEqual(["task.completed"]);
});

test("a worker that was paused goes on with new work", async () => {
  await using world = await createTaskWorld();
  await using worker = await startWorkerProcess(world);
  const lost = await world.create("sleep", { ms: 60_000 });
  await world.untilRunning(lost);
  worker.signal("SIGSTOP");
  const expired = () => world.query("select 1 from holdfast.live_task where task_id = $1 and lease_expires_at < now()", [lost]);
  await untilValue(expired, ({ length }) => length === 1, 10_000);
  worker.signal("SIGCONT");
  const next = await world.create("echo", { text: "awake" });
  expect(await world.untilTerminal(next)).toMatchObject({ status: "completed" });
  await world.cancel(lost);
  expect(await world.untilTerminal(lost)).toMatchObject({ status: "cancelled" });
});
