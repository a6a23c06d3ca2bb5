import { createHash, randomBytes } from "node:crypto";
import type { CreateOutcome, CreateTask, TaskId } from "@holdfast/core";
import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { receiptAddress } from "../receipt-address.ts";
import { alice, alpha, atOnce, keyed, memberOf, openBench, taskRequest, testWorkspace, type Bench } from "../testing/bench.ts";
import { createPostgresTaskManager } from "../task-manager.ts";
import { createTasks } from "./create-tasks.ts";
import { repeatRequests } from "./repeat-request.ts";
import { addWorkspace } from "./add-workspace.ts";
import { addGrant, removeGrant } from "./change-grants.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

const HOUR = 3_600_000;
const request = (key: string, changes: Partial<CreateTask> & { digest?: string } = {}): CreateTask => {
  const { digest = "ab".repeat(32), ...others } = changes;
  return taskRequest({ ...keyed(key, digest), ...others });
};
const newKey = (): string => randomBytes(6).toString("hex");
const idOf = (outcome: CreateOutcome): TaskId | null => (outcome.kind === "denied" || outcome.kind === "conflict" ? null : outcome.task.id);
const idsOf = (outcomes: readonly CreateOutcome[]) => new Set(outcomes.map(idOf).filter((id) => id !== null));
const tasksOf = (key: string) =>
  bench.sql("select from holdfast.task as t inner join holdfast.receipt as r on r.task_id = t.id where r.request_key = $1", [key]);

/** Several nodes with a pool and lanes of their own. */
const nodes = (count: number) => Array.from({ length: count }, () => createPostgresTaskManager(bench.open()));

/** As the statement of another node does. */
async function insertElsewhere(client: Client, { id, receipt }: CreateTask): Promise<void> {
  const address = receiptAddress({ issuer: "$2::text", subject: "$3::text", workspaceId: "w.id", key: "$4::text" });
  await client.query(
    `with t as (
       insert into holdfast.task (
         id, workspace_id, issuer, subject, operation, operation_version, effect, pool, root, input, ttl_ms, poll_interval_ms, has_receipt
       )
       values ($1, 'alpha', $2, $3, 'test.echo', 1, 'write', 'default', 'mods', '{}', 60000, 1000, true)
     )
     insert into holdfast.receipt (
       address, issuer, subject, workspace_id, place, request_key, operation, operation_version, input_sha256, task_id, seal
     )
     select ${address}, $2, $3, w.id, 'mods/alpha', $4, 'test.echo', 1, decode($5, 'hex'), $1, 'seal'
     from holdfast.workspace as w
     where w.id = 'alpha'`,
    [id, alice.issuer, alice.subject, receipt?.key, receipt?.inputSha256],
  );
}

/** Ends the task and makes it older. */
async function endAndAge(id: TaskId, minutes: number, kind: "completed" | "failed" | "cancelled" = "completed"): Promise<void> {
  const attempt = await bench.claim(id);
  if (kind === "completed") await bench.ledger.settle(attempt, { kind, result: { content: [] }, artifacts: [] });
  else if (kind === "cancelled") await bench.ledger.settle(attempt, { kind });
  else
    await bench.ledger.settle(attempt, {
      kind,
      code: "operation_failed",
      reference: "0d9cf4a5-29c5-4a4e-9b5e-2b4c54d8d9ab",
      detail: "it broke",
      retry: false,
    });
  await bench.sql(
    "update holdfast.task set created_at = created_at - $2 * interval '1 minute', last_updated_at = last_updated_at - $2 * interval '1 minute' where id = $1",
    [id, minutes],
  );
}

describe("the same key with the same request", () => {
  test("is one task for 200 requests at once on four nodes, and one of them has created it", async () => {
    const key = newKey();
    const managers = nodes(4);
    const outcomes = await atOnce(200, async (index) => await managers[index % 4]!.create(request(key)));
    expect(outcomes.filter(({ kind }) => kind === "created")).toHaveLength(1);
    expect(outcomes.filter(({ kind }) => kind === "repeated")).toHaveLength(199);
    expect(idsOf(outcomes).size).toBe(1);
    expect(await tasksOf(key)).toHaveLength(1);
    expect(await bench.sql("select from graphile_worker.jobs where key = any($1::text[])", [[...idsOf(outcomes)]])).toHaveLength(1);
  });

  test("with one differing byte of input is a conflict for all but one group", async () => {
    const key = newKey();
    const managers = nodes(4);
    const digest = (text: string) => createHash("sha256").update(text).digest("hex");
    const outcomes = await atOnce(
      200,
      async (index) => await managers[index % 4]!.create(request(key, { digest: digest(`input ${index % 2}`) })),
    );
    const groups = [0, 1].map((parity) => outcomes.filter((_, index) => index % 2 === parity));
    const [losers, winners] = groups.toSorted((a, b) => idsOf(a).size - idsOf(b).size);
    expect(losers?.every(({ kind }) => kind === "conflict")).toBe(true);
    expect(winners?.filter(({ kind }) => kind === "created")).toHaveLength(1);
    expect(winners?.filter(({ kind }) => kind === "repeated")).toHaveLength(99);
    expect(await tasksOf(key)).toHaveLength(1);
  });

  test("returns the receipt as it was first written, whatever is said of polling, retention and the seal now", async () => {
    const key = newKey();
    const first = request(key);
    const created = await bench.manager.create(first);
    const again = request(key, { ttlMs: 60_000, pollIntervalMs: 5, waiter: "call" });
    const repeated = await bench.manager.create({ ...again, receipt: { ...again.receipt!, seal: "another seal" } });
    expect(repeated).toEqual({
      kind: "repeated",
      task: created.kind === "created" ? created.task : null,
      receipt: {
        taskId: first.id,
        operation: "test.echo",
        operationVersion: 1,
        inputSha256: first.receipt?.inputSha256,
        seal: first.receipt?.seal,
      },
    });
    expect(await bench.sql("select from holdfast.task where id = $1", [again.id])).toEqual([]);
  });

  test("returns what became of it: the running task, and each kind of outcome", async () => {
    const [running, ...ended] = await Promise.all(
      [newKey(), newKey(), newKey(), newKey()].map(async (key) => ({ key, id: idOf(await bench.manager.create(request(key)))! })),
    );
    await bench.claim(running!.id);
    expect(await bench.manager.create(request(running!.key))).toMatchObject({
      kind: "repeated",
      task: { id: running!.id, status: "working" },
    });
    const statuses = ["completed", "failed", "cancelled"] as const;
    for (const [index, status] of statuses.entries()) {
      const { key, id } = ended[index]!;
      await endAndAge(id, 1, status);
      expect(await bench.manager.create(request(key))).toMatchObject({ kind: "repeated", task: { id, status } });
      expect(await bench.sql("select from holdfast.live_task where task_id = $1", [id])).toEqual([]);
    }
  });

  test("waits for the request that is being created elsewhere, and creates the task itself when that one is rolled back", async () => {
    for (const end of ["commit", "rollback"]) {
      const key = newKey();
      const other = request(key);
      const holder = await bench.session();
      await holder.query("begin");
      await insertElsewhere(holder, other);
      const mine = request(key);
      const creating = bench.manager.create(mine);
      await bench.whenBlocked(1);
      await holder.query(end);
      const outcome = await creating;
      expect(outcome).toMatchObject(
        end === "commit" ? { kind: "repeated", task: { id: other.id } } : { kind: "created", task: { id: mine.id } },
      );
    }
  });

  test("does not deadlock with another node that sends the same keys in another order", async () => {
    const keys = [newKey(), newKey(), newKey()];
    const holder = await bench.session();
    await holder.query("begin");
    await insertElsewhere(holder, request(keys[1] ?? ""));
    // In the order given, each would have one key, wait for the second, and want the other's when that one is free.
    const creating = [keys, keys.toReversed()].map((order) =>
      createTasks(
        bench.open(),
        order.map((key) => request(key)),
      ),
    );
    await bench.whenBlocked(2);
    await holder.query("rollback");
    const kinds = (await Promise.all(creating)).flat().map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(["created", "created", "created", "met", "met", "met"]);
  });

  test("counts the names of 255 characters outside the basic plane, however little they have in common", async () => {
    const name = (length: number) => String.fromCodePoint(...Array.from(randomBytes(length), (byte) => 0x1_f300 + byte));
    const principal = { issuer: `https://${name(255)}`, subject: name(255), groups: [], scopes: [] };
    await addGrant(bench.database, {
      workspaceId: alpha,
      issuer: principal.issuer,
      memberKind: "group",
      member: "writers",
      actions: ["write"],
      expiresAt: null,
    });
    const long = { principal: { ...principal, groups: ["writers"] } };
    const key = name(128);
    const first = await bench.manager.create(request(key, long));
    expect(await bench.manager.create(request(key, long))).toMatchObject({ kind: "repeated", task: { id: idOf(first) } });
    expect((await bench.manager.create(request(`${key.slice(0, -2)}🦊`, long))).kind).toBe("created");
  });
});

describe("the same key is", () => {
  test("a conflict for another operation, version or input, and changes nothing", async () => {
    const key = newKey();
    const id = idOf(await bench.manager.create(request(key)))!;
    await endAndAge(id, 120);
    const state = () =>
      bench.sql(
        "select t.xmin::text as task, r.xmin::text as receipt from holdfast.task as t inner join holdfast.receipt as r on r.task_id = t.id where t.id = $1",
        [id],
      );
    const before = await state();
    const operation = { name: "test.echo", version: 1, effect: "write", pool: "default" } as const;
    for (const changes of [
      { operation: { ...operation, name: "test.other" } },
      { operation: { ...operation, version: 2 } },
      { digest: "cd".repeat(32) },
    ]) {
      const other = request(key, changes);
      expect(await bench.manager.create(other)).toEqual({ kind: "conflict" });
      expect(await bench.sql("select from holdfast.task where id = $1", [other.id])).toEqual([]);
    }
    expect(await state()).toEqual(before);
  });

  test("another request for another principal, in another workspace, and where the workspace has moved to", async () => {
    const key = newKey();
    const bob = { ...alice, subject: "bob" };
    const gamma = testWorkspace("gamma");
    await addWorkspace(bench.database, { id: gamma, root: "mods", path: "gamma" });
    for (const member of [memberOf(bob), memberOf(alice, gamma)])
      await addGrant(bench.database, { ...member, actions: ["read", "write"], expiresAt: null });
    const first = request(key, { workspaceId: gamma });
    const others = [first, request(key, { principal: bob }), request(key)];
    for (const each of others) expect(await bench.manager.create(each)).toMatchObject({ kind: "created", task: { id: each.id } });
    const move = (to: string) => bench.sql("update holdfast.workspace set path = $1 where id = 'gamma'", [to]);
    await move("elsewhere");
    const moved = request(key, { workspaceId: gamma });
    expect(await bench.manager.create(moved)).toMatchObject({ kind: "created", task: { id: moved.id } });
    await move("gamma");
    expect(await bench.manager.create(request(key, { workspaceId: gamma }))).toMatchObject({ kind: "repeated", task: { id: first.id } });
  });

  test("denied to a principal who may write no more", async () => {
    const key = newKey();
    const carol = { ...alice, subject: "carol" };
    const grant = { ...memberOf(carol), expiresAt: null };
    await addGrant(bench.database, { ...grant, actions: ["read", "write"] });
    await bench.manager.create(request(key, { principal: carol }));
    await addGrant(bench.database, { ...grant, actions: ["read", "run"] });
    expect(await bench.manager.create(request(key, { principal: carol }))).toEqual({ kind: "denied" });
    await removeGrant(bench.database, grant);
    expect(await bench.manager.create(request(key, { principal: carol }))).toEqual({ kind: "denied" });
    // Also when it met the receipt before the grant was removed.
    expect(await repeatRequests(bench.database, [request(key, { principal: carol })])).toEqual([{ kind: "denied" }]);
  });
});

describe("an outcome whose time has passed", () => {
  test.each(["completed", "failed", "cancelled"] as const)(
    "is shown again when it is %s, for the time that is asked for now",
    async (status) => {
      const key = newKey();
      const id = idOf(await bench.manager.create(request(key, { ttlMs: HOUR })))!;
      await endAndAge(id, 90, status);
      const before = await bench.sql<{ created_at: Date; last_updated_at: Date }>(
        "select created_at, last_updated_at from holdfast.task where id = $1",
        [id],
      );
      expect(await bench.manager.find({ id, principal: alice })).toBeNull();
      const earliest = Date.now();
      const outcome = await bench.manager.create(request(key, { ttlMs: 2 * HOUR }));
      const latest = Date.now();
      if (outcome.kind !== "repeated") throw new Error(`it is ${outcome.kind}`);
      expect(outcome.task).toMatchObject({ id, status, createdAt: before[0]?.created_at, lastUpdatedAt: before[0]?.last_updated_at });
      // Counted from the creation, it ends two hours after this request.
      const end = outcome.task.createdAt.getTime() + outcome.task.ttlMs;
      expect(end).toBeGreaterThanOrEqual(earliest + 2 * HOUR);
      expect(end).toBeLessThanOrEqual(latest + 2 * HOUR + 2);
      expect(await bench.manager.find({ id, principal: alice })).toEqual(outcome.task);
      expect(await bench.sql("select from holdfast.receipt where task_id = $1 and renewed_at is not null", [id])).toHaveLength(1);
    },
  );

  test("is not renewed by a look, by a conflict, or by a repeat while it is visible", async () => {
    const key = newKey();
    const id = idOf(await bench.manager.create(request(key, { ttlMs: HOUR })))!;
    await endAndAge(id, 30);
    expect(await bench.manager.create(request(key, { ttlMs: 9 * HOUR }))).toMatchObject({ kind: "repeated", task: { id, ttlMs: HOUR } });
    await bench.sql("update holdfast.task set created_at = created_at - interval '31 minutes' where id = $1", [id]);
    await bench.manager.find({ id, principal: alice });
    await bench.manager.create(request(key, { digest: "ef".repeat(32) }));
    expect(await bench.sql("select ttl_ms::int as ttl from holdfast.task where id = $1", [id])).toEqual([{ ttl: HOUR }]);
    expect(await bench.manager.find({ id, principal: alice })).toBeNull();
  });

  test("is renewed once by repeats on several nodes at once", async () => {
    const key = newKey();
    const id = idOf(await bench.manager.create(request(key, { ttlMs: HOUR })))!;
    await endAndAge(id, 90);
    const holder = await bench.session();
    await holder.query("begin");
    await holder.query("select from holdfast.task where id = $1 for update", [id]);
    const repeating = nodes(3).map((manager) => manager.create(request(key, { ttlMs: HOUR })));
    await bench.whenBlocked(3);
    await holder.query("commit");
    expect((await Promise.all(repeating)).map(({ kind }) => kind)).toEqual(["repeated", "repeated", "repeated"]);
    expect(await bench.sql("select from holdfast.task_event where task_id = $1 and kind = 'task.renewed'", [id])).toHaveLength(1);
  });

  test("is renewed for the longest time that is asked for in one batch", async () => {
    const key = newKey();
    const id = idOf(await bench.manager.create(request(key, { ttlMs: HOUR })))!;
    await endAndAge(id, 90);
    await repeatRequests(
      bench.database,
      [HOUR, 3 * HOUR, 2 * HOUR].map((ttlMs) => request(key, { ttlMs })),
    );
    const task = await bench.manager.find({ id, principal: alice });
    expect(Math.round((task?.ttlMs ?? 0) / HOUR - 1.5)).toBe(3);
  });

  test("of a task that ended only after its time is found by whoever repeats the request", async () => {
    const key = newKey();
    const id = idOf(await bench.manager.create(request(key, { ttlMs: HOUR })))!;
    const attempt = await bench.claim(id);
    await bench.sql("update holdfast.task set created_at = created_at - interval '2 hours' where id = $1", [id]);
    await bench.ledger.settle(attempt, { kind: "completed", result: { content: [] }, artifacts: [] });
    expect(await bench.manager.create(request(key))).toMatchObject({ kind: "repeated", task: { id, status: "completed" } });
  });
});
