import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sealedValue } from "../testing/attempt-records.ts";
import { openBench, type Bench } from "../testing/bench.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

const awkward = ['{"b":1,"a":[ 2 ]}', JSON.stringify("\u0000 \ud800 🦊"), "1.0", '{"a":1,"a":2}', JSON.stringify("ä".repeat(500_000))];

describe("what an attempt saves", () => {
  test.each(awkward)("comes back as the same text, because its seal is over exactly that: %.40s", async (text) => {
    const attempt = await running();
    const value = sealedValue(null, { text });
    expect(await bench.ledger.saveCheckpoint(attempt, value)).toBe("kept");
    expect(await bench.ledger.saveStep(attempt, { ...value, key: "step" })).toBe("kept");
    expect(await successorOf(attempt)).toMatchObject({ checkpoint: value, steps: [{ ...value, key: "step" }] });
  });

  test("is the newest checkpoint, and each step by its key", async () => {
    const attempt = await running();
    await bench.ledger.saveCheckpoint(attempt, sealedValue(1));
    await bench.ledger.saveStep(attempt, { ...sealedValue("parsed"), key: "b" });
    await bench.ledger.saveStep(attempt, { ...sealedValue("listed"), key: "a" });
    const next = await successorOf(attempt);
    const [newest, again] = [sealedValue(2, { sourceRevision: null }), sealedValue("parsed anew", { sourceRevision: "r2" })];
    await bench.ledger.saveCheckpoint(next, newest);
    await bench.ledger.saveStep(next, { ...again, key: "b" });
    const last = await successorOf(next);
    expect(last.checkpoint).toEqual(newest);
    expect(last.steps).toEqual([
      { ...sealedValue("listed"), key: "a" },
      { ...again, key: "b" },
    ]);
  });

  test("does not move the task's last change, which is the client's", async () => {
    const attempt = await running();
    const changes = async () =>
      await bench.sql(
        "select t.last_updated_at, l.progressed_at from holdfast.task as t join holdfast.live_task as l on l.task_id = t.id where id = $1",
        [attempt.taskId],
      );
    const before = await changes();
    await bench.ledger.saveCheckpoint(attempt, sealedValue(1));
    await bench.ledger.saveStep(attempt, { ...sealedValue(1), key: "a" });
    expect(await changes()).toEqual(before);
  });
});

test("a save in whose way a take-over is finds its token old, and keeps nothing", async () => {
  const attempt = await running();
  const holder = await bench.session();
  await holder.query("begin");
  await holder.query("update holdfast.live_task set fencing_token = fencing_token + 1 where task_id = $1", [attempt.taskId]);
  const saves = [bench.ledger.saveCheckpoint(attempt, sealedValue(1)), bench.ledger.saveStep(attempt, { ...sealedValue(1), key: "a" })];
  await bench.whenBlocked(2);
  await holder.query("commit");
  expect(await Promise.all(saves)).toEqual(["refused", "refused"]);
  expect(await bench.sql("select task_id from holdfast.task_checkpoint union select task_id from holdfast.task_step")).not.toContainEqual({
    task_id: attempt.taskId,
  });
});

async function running() {
  return await bench.claim((await bench.createTask()).id);
}

async function successorOf(attempt: Awaited<ReturnType<typeof running>>) {
  await bench.ledger.settle(attempt, { kind: "interrupted", detail: "drain" });
  return await bench.claim(attempt.taskId);
}
