import type { TaskId } from "@holdfast/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stagedResult } from "../testing/attempt-records.ts";
import { alice, openBench, type Bench } from "../testing/bench.ts";
import { endUnanswered } from "./end-unanswered.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

const roots = { method: "roots/list" as const, params: {} };

/** Waits for the answer to one question since so many minutes, of the hour that it lives. */
async function parkedTask(minutes: number): Promise<TaskId> {
  const { id } = await bench.createTask({ ttlMs: 3_600_000, waiter: "call" });
  await bench.ledger.settle(await bench.claim(id), { kind: "suspended", requests: { where: roots } });
  await bench.sql(
    "update holdfast.task set created_at = created_at - $2 * interval '1 minute', last_updated_at = last_updated_at - $2 * interval '1 minute' where id = $1",
    [id, minutes],
  );
  return id;
}

async function statusOf(id: TaskId): Promise<unknown> {
  return (await bench.sql("select status from holdfast.task where id = $1", [id]))[0]?.["status"];
}

test("a task that nobody answered for as long as it would be kept ends with its questions, and its owner may look for half a minute more (C9.4)", async () => {
  const [due, early] = [await parkedTask(61), await parkedTask(59)];
  expect(await endUnanswered(bench.database, 10)).toEqual([due]);
  expect(await statusOf(due)).toBe("cancelled");
  expect(await bench.manager.find({ id: due, principal: alice })).toMatchObject({ status: "cancelled", inputRequests: {} });
  await bench.sql("update holdfast.task set created_at = created_at - interval '1 minute' where id = $1", [due]);
  expect(await bench.manager.find({ id: due, principal: alice })).toBeNull();
  expect(await bench.sql("select from holdfast.task_input where task_id = $1", [due])).toEqual([]);
  expect(await bench.sql("select kind, detail from holdfast.task_event where task_id = $1 order by id desc limit 1", [due])).toEqual([
    { kind: "task.cancelled", detail: { reason: "unanswered" } },
  ]);
  expect(await bench.manager.find({ id: early, principal: alice })).toMatchObject({ status: "input_required" });
  expect(await endUnanswered(bench.database, 10)).toEqual([]);
});

test("a result that the attempt had staged before it asked goes with the task", async () => {
  const { id } = await bench.createTask({ waiter: "call" });
  const attempt = await bench.claim(id);
  await bench.ledger.stage(attempt, stagedResult({ content: [] }));
  await bench.ledger.settle(attempt, { kind: "suspended", requests: { where: roots } });
  await bench.sql("update holdfast.task set last_updated_at = now() - interval '2 hours' where id = $1", [id]);
  expect(await endUnanswered(bench.database, 10)).toEqual([id]);
  expect(await bench.sql("select from holdfast.task_result where task_id = $1", [id])).toEqual([]);
});

test("an answer begins the time anew, and tasks that wait for no client are left alone", async () => {
  const answered = await parkedTask(61);
  await bench.manager.update({ id: answered, principal: alice }, [{ key: "where", method: "roots/list", answer: { roots: [] } }]);
  const [queued, running] = [await bench.createTask({ ttlMs: 3_600_000 }), await bench.createTask({ ttlMs: 3_600_000 })];
  await bench.claim(running.id);
  const ids = [answered, queued.id, running.id];
  await bench.sql(
    "update holdfast.task set last_updated_at = now() - interval '2 hours', created_at = now() - interval '2 hours' where id = any($1)",
    [ids],
  );
  expect(await endUnanswered(bench.database, 10)).toEqual([]);
  expect(await Promise.all(ids.map(statusOf))).toEqual(["working", "working", "working"]);
});

test("many nodes at once end each task once, and no more than the limit", async () => {
  const ids = await Promise.all(Array.from({ length: 6 }, () => parkedTask(61)));
  expect(await endUnanswered(bench.database, 2)).toHaveLength(2);
  const ended = await Promise.all(Array.from({ length: 4 }, () => endUnanswered(bench.database, 10)));
  expect(ended.flat()).toHaveLength(4);
  expect(await Promise.all(ids.map(statusOf))).toEqual(ids.map(() => "cancelled"));
});
