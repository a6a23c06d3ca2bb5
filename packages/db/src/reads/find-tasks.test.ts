import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { alice, memberOf, newTaskId, openBench, type Bench } from "../testing/bench.ts";
import { addGrant, removeGrant } from "../writes/change-grants.ts";
import { createTaskReader, findTasks } from "./find-tasks.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

const bob = { ...alice, subject: "bob" };

test("each question is answered at its place, for its own principal, as a single look-up answers it", async () => {
  await addGrant(bench.database, { ...memberOf(bob), actions: ["read", "run"], expiresAt: null });
  const [first, second] = [await bench.createTask(), await bench.createTask({ principal: bob })];
  await bench.ledger.settle(await bench.claim(first.id), {
    kind: "failed",
    code: "operation_failed",
    reference: randomUUID(),
    detail: "broke",
    retry: false,
  });
  const refs = [
    { id: second.id, principal: alice },
    { id: first.id, principal: alice },
    { id: newTaskId(), principal: alice },
    { id: second.id, principal: bob },
    { id: first.id, principal: { ...alice, subject: "alice\u0000" } },
    { id: first.id, principal: { ...alice, issuer: "https://other.example" } },
    { id: first.id, principal: alice },
  ];
  const found = await findTasks(bench.database, refs);
  expect(found.map((task) => task?.id ?? null)).toEqual([null, first.id, null, second.id, null, null, first.id]);
  expect(found).toEqual(await Promise.all(refs.map((ref) => bench.manager.find(ref))));
});

test("a grant that is gone, an expired one and an expired task are not seen", async () => {
  const carol = { ...alice, subject: "carol" };
  const grant = { ...memberOf(carol), expiresAt: null };
  await addGrant(bench.database, { ...grant, actions: ["read", "run"] });
  const { id } = await bench.createTask({ principal: carol, ttlMs: 60_000 });
  const look = async () => (await findTasks(bench.database, [{ id, principal: carol }]))[0];
  expect(await look()).toMatchObject({ id });
  await removeGrant(bench.database, grant);
  expect(await look()).toBeNull();
  await addGrant(bench.database, { ...grant, actions: ["read"], expiresAt: new Date(Date.now() - 1000) });
  expect(await look()).toBeNull();
  await addGrant(bench.database, { ...grant, actions: ["read", "run", "write"] });
  await bench.manager.requestCancellation({ id, principal: carol });
  expect(await look()).toMatchObject({ status: "cancelled" });
  await bench.sql("update holdfast.task set created_at = now() - interval '61 seconds' where id = $1", [id]);
  expect(await look()).toBeNull();
});

test("a grant of a group counts for those whose token names it", async () => {
  const dave = { ...alice, subject: "dave", groups: ["readers"] };
  await addGrant(bench.database, { ...memberOf(dave), memberKind: "group", member: "readers", actions: ["read", "run"], expiresAt: null });
  const { id } = await bench.createTask({ principal: dave });
  const found = await findTasks(bench.database, [
    { id, principal: dave },
    { id, principal: { ...dave, groups: [] } },
  ]);
  expect(found.map((task) => task?.id)).toEqual([id, undefined]);
});

test("a row that cannot be read fails the look at its own task, and nobody else's (C1.6)", async () => {
  const read = createTaskReader(bench.open());
  const [sound, broken] = [await bench.createTask(), await bench.createTask()];
  await bench.claim(broken.id);
  await bench.sql("update holdfast.live_task set progress_value = 1, progress_message = '[1]' where task_id = $1", [broken.id]);
  const looks = await Promise.allSettled([broken, sound].map(({ id }) => read({ id, principal: alice })));
  expect(looks.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
});

test("what many ask at once is read in a few statements", async () => {
  const database = bench.open();
  const read = createTaskReader(database);
  const tasks = await Promise.all(Array.from({ length: 40 }, () => bench.createTask()));
  const found = await Promise.all(tasks.flatMap(({ id }) => [read({ id, principal: alice }), read({ id, principal: bob })]));
  expect(found.map((task) => task?.id ?? null)).toEqual(tasks.flatMap(({ id }) => [id, null]));
  const { rows } = await database.pool.query<{ uses: number }>(
    "select (generic_plans + custom_plans)::int as uses from pg_prepared_statements where name = 'find tasks'",
  );
  // 80 questions in batches of 32.
  expect(rows).toEqual([{ uses: 3 }]);
});
