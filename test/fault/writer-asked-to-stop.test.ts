import { expect, test } from "vitest";
import { MOVE } from "../support/statement-gate.ts";
import { textOf, untilValue } from "../support/task-world.ts";
import { startTestWorker } from "../support/test-worker.ts";
import { after, before, startWriterScene, type WriterScene } from "../support/writer-scene.ts";

/** Waits until the process of the operation is gone; the worker itself still has files to replace. */
async function untilChildIsGone({ worker }: WriterScene, reason: RegExp): Promise<void> {
  await untilValue(
    () => Promise.resolve(worker.events("child.exited").map((line) => String(line["reason"]))),
    (reasons) => reasons.some((given) => reason.test(given)),
    15_000,
  );
}

async function expectCommitted(scene: WriterScene): Promise<void> {
  const task = await scene.world.untilTerminal(scene.id, 15_000);
  expect(textOf(task)).toBe((await scene.journal())?.["text"]);
  expect(await scene.files()).toEqual(after);
  expect(await scene.journal()).toMatchObject({ state: "committed", recoveries: 0 });
  expect(await scene.world.attempts(scene.id)).toMatchObject([{ token: 1, state: "succeeded" }]);
}

test.each<[string, { operation?: string; stop: (scene: WriterScene) => unknown; reason: RegExp }]>([
  ["cancelled", { stop: ({ world, id }) => world.cancel(id), reason: /did not stop within \d+ ms \(cancelled\)/u }],
  ["out of time", { operation: "durable.rewrite_hastily", stop: () => undefined, reason: /did not stop within \d+ ms \(timeout\)/u }],
  ["interrupted by a drain", { stop: ({ worker }) => worker.signal("SIGTERM"), reason: /did not stop within \d+ ms \(drain\)/u }],
  ["without its process", { stop: ({ worker }) => worker.children().forEach((pid) => process.kill(pid, "SIGKILL")), reason: /SIGKILL/u }],
])("a write that is %s between two files comes to its end, and the task says what happened", async (_, { operation, stop, reason }) => {
  await using scene = await startWriterScene({
    table: "journal_entry",
    env: { HOLDFAST_DRAIN_MS: "1000" },
    ...(operation === undefined ? {} : { operation }),
  });
  await scene.advance(2);
  await scene.gate.untilWaiting(MOVE);
  await stop(scene);
  await untilChildIsGone(scene, reason);
  expect(await scene.files()).toEqual([...after.slice(0, 1), ...before.slice(1)]);
  scene.gate.open();
  await expectCommitted(scene);
});

test("a worker that drains ends by itself once its write has come to rest", async () => {
  await using scene = await startWriterScene({ table: "journal_entry", env: { HOLDFAST_DRAIN_MS: "1000" } });
  await scene.advance(2);
  await scene.gate.untilWaiting(MOVE);
  scene.worker.signal("SIGTERM");
  await untilChildIsGone(scene, /drain/u);
  scene.gate.open();
  expect(await scene.worker.exit).toEqual({ code: 0, signal: null });
  await expectCommitted(scene);
});

test("a write that is cancelled before it is bound changes nothing, and is cancelled", async () => {
  await using scene = await startWriterScene({ table: "journal_entry" });
  await scene.world.cancel(scene.id);
  await untilChildIsGone(scene, /cancelled/u);
  scene.gate.open();
  expect(await scene.world.untilTerminal(scene.id, 15_000)).toMatchObject({ status: "cancelled" });
  expect(await scene.files()).toEqual(before);
});

test("a write that a drain meets while it is bound is carried out by the next worker", async () => {
  await using scene = await startWriterScene({ table: "journal_entry", env: { HOLDFAST_DRAIN_MS: "1000" } });
  scene.worker.signal("SIGTERM");
  await untilChildIsGone(scene, /drain/u);
  scene.gate.open();
  expect(await scene.worker.exit).toEqual({ code: 0, signal: null });
  expect(await scene.journal()).toMatchObject({ state: "planned" });
  const { task, rests } = await scene.takeOver();
  expect(textOf(task)).toBe((await scene.journal())?.["text"]);
  expect(rests).toMatchObject([{ state: "committed", recovered: true }]);
  expect(await scene.files()).toEqual(after);
  expect(await scene.world.attempts(scene.id)).toMatchObject([{ state: "interrupted" }, { state: "succeeded" }]);
});

test("a write that loses its worker's database in the middle is finished by whoever finds it", async () => {
  await using scene = await startWriterScene();
  await scene.advance(2);
  await scene.gate.untilWaiting(MOVE);
  scene.worker.signal("SIGSTOP");
  await scene.gate.discard(MOVE);
  scene.gate.open();
  await using rescuer = await startTestWorker(scene.world);
  const task = await scene.world.untilTerminal(scene.id, 15_000);
  scene.worker.signal("SIGCONT");
  expect(textOf(task)).toBe((await scene.journal())?.["text"]);
  expect(rescuer.events).toContainEqual({
    name: "journal.rested",
    event: { taskId: scene.id, token: 2, state: "committed", recovered: true },
  });
});
