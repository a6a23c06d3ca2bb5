import { afterAll, beforeAll, expect, test } from "vitest";
import { stagedResult } from "../testing/attempt-records.ts";
import { alice, memberOf, newTaskId, openBench, parkedTask, question, standing, type Bench } from "../testing/bench.ts";
import { findTask } from "./find-task.ts";
import { addGrant, removeGrant } from "../writes/change-grants.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

test("an unknown task, a foreign one, and one of the same subject at another issuer are the same null", async () => {
  const task = await bench.createTask();
  const sibling = { ...alice, subject: "bob" };
  await addGrant(bench.database, { ...memberOf(sibling), actions: ["read", "run", "write"], expiresAt: null });
  expect(await bench.manager.find({ id: newTaskId(), principal: alice })).toBeNull();
  expect(await bench.manager.find({ id: task.id, principal: sibling })).toBeNull();
  const namesake = { ...alice, issuer: "https://other.example" };
  await addGrant(bench.database, { ...memberOf(namesake), actions: ["read", "run", "write"], expiresAt: null });
  expect(await bench.manager.find({ id: task.id, principal: namesake })).toBeNull();
  expect(await bench.manager.find({ id: task.id, principal: { ...alice, subject: "alice\u0000" } })).toBeNull();
  expect(await bench.manager.find({ id: task.id, principal: alice })).toEqual(task);
});

test("a task belongs to its subject, whatever groups and scopes a later token carries", async () => {
  const task = await bench.createTask({ principal: { ...alice, groups: ["a"], scopes: ["x"] } });
  expect(await bench.manager.find({ id: task.id, principal: { ...alice, groups: ["b"] } })).toEqual(task);
});

test("the owner needs a live grant to read, and `read` alone is enough", async () => {
  const owner = { ...alice, subject: "carol" };
  const grant = { ...memberOf(owner), expiresAt: null };
  await addGrant(bench.database, { ...grant, actions: ["read", "run"] });
  const { id } = await bench.createTask({ principal: owner });
  const find = () => bench.manager.find({ id, principal: owner });
  await removeGrant(bench.database, grant);
  expect(await find()).toBeNull();
  await addGrant(bench.database, { ...grant, actions: ["run", "write"] });
  expect(await find()).toBeNull();
  await addGrant(bench.database, { ...grant, actions: ["read"], expiresAt: new Date(Date.now() - 1_000) });
  expect(await find()).toBeNull();
  await addGrant(bench.database, { ...grant, actions: ["read"] });
  expect(await find()).toMatchObject({ id, status: "working" });
});

test("a finished task is visible until its lifetime has passed since its creation, a live one however long it takes", async () => {
  const [finished, live] = [await bench.createTask({ ttlMs: 60_000 }), await bench.createTask({ ttlMs: 60_000 })];
  await bench.ledger.settle(await bench.claim(finished.id), { kind: "cancelled" });
  const age = (seconds: number) =>
    bench.sql("update holdfast.task set created_at = now() - $2 * interval '1 second' where id = any($1::uuid[])", [
      [finished.id, live.id],
      seconds,
    ]);
  await age(50);
  expect(await bench.manager.find({ id: finished.id, principal: alice })).toMatchObject({ status: "cancelled", ttlMs: 60_000 });
  await age(61);
  expect(await bench.manager.find({ id: finished.id, principal: alice })).toBeNull();
  expect(await bench.manager.requestCancellation({ id: finished.id, principal: alice })).toBeNull();
  expect(await bench.manager.find({ id: live.id, principal: alice })).toMatchObject({ status: "working" });
});

test("a task that ends after its lifetime, or shortly before, is visible for half a minute more (C12.1)", async () => {
  const [late, unstarted] = [await bench.createTask({ ttlMs: 60_000 }), await bench.createTask({ ttlMs: 60_000 })];
  const attempt = await bench.claim(late.id);
  const age = (seconds: number) =>
    bench.sql("update holdfast.task set created_at = created_at - $2 * interval '1 second' where id = any($1::uuid[])", [
      [late.id, unstarted.id],
      seconds,
    ]);
  await age(600);
  await bench.ledger.settle(attempt, { kind: "completed", result: { content: [] }, artifacts: [] });
  await bench.manager.requestCancellation({ id: unstarted.id, principal: alice });
  const found = () => Promise.all([late, unstarted].map(({ id }) => bench.manager.find({ id, principal: alice })));
  expect((await found()).map((task) => [task?.status, Math.floor((task?.ttlMs ?? 0) / 10_000)])).toEqual([
    ["completed", 63],
    ["cancelled", 63],
  ]);
  await age(31);
  expect(await found()).toEqual([null, null]);
});

test("reading changes nothing", async () => {
  const attempt = await bench.claim((await bench.createTask()).id);
  await bench.ledger.renew([{ attempt, progress: { value: 1, total: 2, message: null } }], 60_000);
  const versions = () =>
    bench.sql(
      "select t.xmin::text as task, l.xmin::text as live from holdfast.task as t inner join holdfast.live_task as l on l.task_id = t.id where t.id = $1",
      [attempt.taskId],
    );
  const before = await versions();
  const first = await bench.manager.find({ id: attempt.taskId, principal: alice });
  expect(await bench.manager.find({ id: attempt.taskId, principal: alice })).toEqual(first);
  expect(await versions()).toEqual(before);
});

test("what is staged for a task is nobody's to see before the task is completed", async () => {
  const attempt = await bench.claim((await bench.createTask()).id);
  const find = () => bench.manager.find({ id: attempt.taskId, principal: alice });
  await bench.ledger.stage(attempt, stagedResult({ content: [] }));
  expect(await find()).toMatchObject({ status: "working", outcome: null });
  await bench.ledger.settle(attempt, { kind: "published" });
  expect(await find()).toMatchObject({ status: "completed", outcome: { kind: "result", result: { content: [] } } });
});

test("questions are shown while the task waits for their answers, with what JSON allows in them", async () => {
  const strange = { method: "elicitation/create", params: { message: "\u0000 \ud800" } } as const;
  const { id, inputRequests } = await parkedTask(bench, { strange, plain: question("Name?") });
  expect(inputRequests).toEqual({ strange, plain: question("Name?") });
  await bench.sql("update holdfast.task_input set answer = '{}', answered_at = now() where task_id = $1 and key = 'plain'", [id]);
  const look = async () => standing(await bench.manager.find({ id, principal: alice }));
  expect(await look()).toEqual({ status: "input_required", questions: ["strange"] });
  // Nothing of ours leaves a task so; the status decides all the same.
  await bench.sql("update holdfast.task set status = 'working' where id = $1", [id]);
  expect(await look()).toEqual({ status: "working", questions: [] });
});

test("a stored question that is none fails the look and changes nothing", async () => {
  const { id } = await parkedTask(bench, { name: question("Name?") });
  const find = () => bench.manager.find({ id, principal: alice });
  await bench.sql("update holdfast.task_input set params = '[]' where task_id = $1", [id]);
  await expect(find()).rejects.toMatchObject({ code: "internal" });
  await bench.sql("update holdfast.task_input set params = '{}' where task_id = $1", [id]);
  expect(await find()).toMatchObject({ status: "input_required", inputRequests: { name: { params: {} } } });
});

test("a look-up is prepared once per connection", async () => {
  const database = bench.open();
  const { id } = await bench.createTask();
  await findTask(database, { id, principal: alice });
  await findTask(database, { id, principal: alice });
  const { rows } = await database.pool.query<{ uses: string }>(
    "select generic_plans + custom_plans as uses from pg_prepared_statements where name = 'find a task'",
  );
  expect(rows).toEqual([{ uses: "2" }]);
});

test("a task names the attempt that is at it, and none before, between and after", async () => {
  const { id } = await bench.createTask();
  const find = () => bench.manager.find({ id, principal: alice });
  expect(await find()).toMatchObject({ attempt: null });
  const first = await bench.claim(id);
  expect(await find()).toMatchObject({ attempt: first.token });
  await bench.ledger.settle(first, { kind: "interrupted", detail: "" });
  expect(await find()).toMatchObject({ attempt: null });
  const second = await bench.claim(id);
  expect(await find()).toMatchObject({ attempt: second.token });
  await bench.ledger.settle(second, { kind: "cancelled" });
  expect(await find()).toMatchObject({ attempt: null });
});
