import { randomBytes } from "node:crypto";
import type { CreateTask, TaskId } from "@holdfast/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { alice, atOnce, memberOf, openBench, taskRequest, type Bench } from "../testing/bench.ts";
import { createPostgresTaskManager } from "../task-manager.ts";
import { addGrant, removeGrant } from "./change-grants.ts";
import { createTasks } from "./create-tasks.ts";
import { joinTasks } from "./join-task.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

const newAddress = (): string => randomBytes(32).toString("hex");
const read = (contentAddress: string, changes: Partial<CreateTask> = {}): CreateTask => taskRequest({ contentAddress, ...changes });
const waiting = async (id: TaskId) =>
  await bench.sql("select callers, has_handle as handle from holdfast.live_task where task_id = $1", [id]);
const complete = async (id: TaskId) =>
  await bench.ledger.settle(await bench.claim(id), { kind: "completed", result: { content: [] }, artifacts: [] });

describe("an identical read", () => {
  test("of many at once on four nodes is one task with one job, and everybody who waits is counted", async () => {
    const address = newAddress();
    const managers = Array.from({ length: 4 }, () => createPostgresTaskManager(bench.open()));
    const outcomes = await atOnce(120, async (index) => {
      const manager = managers[index % 4] ?? bench.manager;
      return await manager.create(read(address, { waiter: "call" }));
    });
    expect(outcomes.filter(({ kind }) => kind === "created")).toHaveLength(1);
    expect(outcomes.filter(({ kind }) => kind === "joined")).toHaveLength(119);
    const ids = new Set(outcomes.map((outcome) => ("task" in outcome ? outcome.task.id : null)));
    expect(ids.size).toBe(1);
    const [id] = ids;
    expect(await waiting(id!)).toEqual([{ callers: 120, handle: false }]);
    expect(await bench.sql("select from graphile_worker.jobs where key = any($1::text[])", [[...ids]])).toHaveLength(1);
  });

  test("is joined as it is: while it runs, and while it waits for its client", async () => {
    const address = newAddress();
    const first = read(address);
    await bench.manager.create(first);
    const attempt = await bench.claim(first.id);
    await bench.ledger.renew([{ attempt, progress: { value: 1, total: 2, message: null } }], 60_000);
    const join = () => bench.manager.create(read(address));
    expect(await join()).toEqual({ kind: "joined", task: await bench.manager.find({ id: first.id, principal: alice }) });
    await bench.ledger.settle(attempt, { kind: "suspended", requests: { name: { method: "roots/list", params: {} } } });
    expect(await join()).toMatchObject({ kind: "joined", task: { id: first.id, status: "input_required", inputRequests: { name: {} } } });
  });

  test("leaves the times of the task alone, and gives it a handle when a client joins a call", async () => {
    const address = newAddress();
    const first = read(address, { waiter: "call" });
    const created = await bench.manager.create(first);
    expect(await bench.manager.create(read(address, { waiter: "call" }))).toEqual({ ...created, kind: "joined" });
    expect(await waiting(first.id)).toEqual([{ callers: 2, handle: false }]);
    await bench.manager.create(read(address));
    expect(await waiting(first.id)).toEqual([{ callers: 2, handle: true }]);
  });

  test("is a task of its own after the first one has ended", async () => {
    const address = newAddress();
    const [first, second] = [read(address), read(address)];
    await bench.manager.create(first);
    await complete(first.id);
    expect(await bench.manager.create(second)).toMatchObject({ kind: "created", task: { id: second.id } });
  });

  test("is a task of its own as soon as somebody wishes to cancel the first one", async () => {
    const address = newAddress();
    const [first, second] = [read(address), read(address)];
    await bench.manager.create(first);
    await bench.claim(first.id);
    await bench.manager.requestCancellation({ id: first.id, principal: alice });
    expect(await bench.manager.create(second)).toMatchObject({ kind: "created", task: { id: second.id } });
  });

  test("with a key is never shared: its receipt decides", async () => {
    const address = newAddress();
    const receipt = { key: "read", inputSha256: "ab".repeat(32), seal: "seal" };
    const [first, second] = [read(address), read(address, { receipt })];
    await bench.manager.create(first);
    expect(await bench.manager.create(second)).toMatchObject({ kind: "created", task: { id: second.id } });
    expect(await bench.manager.create(read(address, { receipt }))).toMatchObject({ kind: "repeated", task: { id: second.id } });
  });
});

/** Joins while a session holds the row of the task, and answers when that session has done with it what `change` says. */
async function joinAgainst(
  change: string,
): Promise<{ first: TaskId; second: TaskId; outcome: Awaited<ReturnType<Bench["manager"]["create"]>> }> {
  const address = newAddress();
  const [first, second] = [read(address), read(address)];
  await bench.manager.create(first);
  const holder = await bench.session();
  await holder.query("begin");
  await holder.query("select from holdfast.live_task where task_id = $1 for update", [first.id]);
  const joining = bench.manager.create(second);
  await bench.whenBlocked(1);
  await holder.query(change, [first.id]);
  await holder.query("commit");
  return { first: first.id, second: second.id, outcome: await joining };
}

describe("a read that is joined in the moment in which", () => {
  test("it ends leaves its joiner with a task of its own", async () => {
    const { second, outcome } = await joinAgainst(
      "with over as (delete from holdfast.live_task where task_id = $1) update holdfast.task set status = 'cancelled' where id = $1",
    );
    expect(outcome).toMatchObject({ kind: "created", task: { id: second } });
  });

  test("it is given up leaves its joiner with a task of its own", async () => {
    const { second, outcome } = await joinAgainst(
      "update holdfast.live_task set cancel_requested_at = now(), content_address = null where task_id = $1",
    );
    expect(outcome).toMatchObject({ kind: "created", task: { id: second } });
  });

  test("it makes progress is joined", async () => {
    const { first, outcome } = await joinAgainst("update holdfast.live_task set progressed_at = now() where task_id = $1");
    expect(outcome).toMatchObject({ kind: "joined", task: { id: first } });
  });
});

test("nodes that send the same addresses in another order do not deadlock", async () => {
  const addresses = [newAddress(), newAddress(), newAddress()];
  const elsewhere = await bench.createTask();
  const holder = await bench.session();
  await holder.query("begin");
  // As if another node's statement had not been committed yet.
  await holder.query("update holdfast.live_task set content_address = decode($2, 'hex') where task_id = $1", [elsewhere.id, addresses[1]]);
  // In the order given, each would have one address, wait for the second, and want the other's when that one is free.
  const creating = [addresses, addresses.toReversed()].map((order) =>
    createTasks(
      bench.open(),
      order.map((address) => read(address)),
    ),
  );
  await bench.whenBlocked(2);
  await holder.query("rollback");
  const kinds = (await Promise.all(creating)).flat().map(({ kind }) => kind);
  expect(kinds.toSorted()).toEqual(["created", "created", "created", "met", "met", "met"]);
});

describe("nobody joins", () => {
  test("the task of somebody else, whatever address it is said to have", async () => {
    const bob = { ...alice, subject: "bob" };
    await addGrant(bench.database, { ...memberOf(bob), actions: ["read", "run"], expiresAt: null });
    const first = read(newAddress());
    await bench.manager.create(first);
    const foreign = read(first.contentAddress ?? "", { principal: bob });
    expect(await joinTasks(bench.database, [foreign])).toEqual([{ kind: "gone" }]);
    await expect(bench.manager.create(foreign)).rejects.toMatchObject({ code: "overloaded" });
  });

  test("without a grant that is still good", async () => {
    const carol = { ...alice, subject: "carol" };
    const grant = { ...memberOf(carol), expiresAt: null };
    await addGrant(bench.database, { ...grant, actions: ["read", "run"] });
    const first = read(newAddress(), { principal: carol, waiter: "call" });
    await bench.manager.create(first);
    await removeGrant(bench.database, grant);
    // As a request that met the task before the grant was removed.
    expect(await joinTasks(bench.database, [first, { ...first, principal: { ...carol, subject: "carol\u0000" } }])).toEqual([
      { kind: "denied" },
      { kind: "denied" },
    ]);
    expect(await waiting(first.id)).toEqual([{ callers: 1, handle: false }]);
    expect(await bench.manager.create(read(first.contentAddress ?? "", { principal: carol }))).toEqual({ kind: "denied" });
  });
});
