import { randomUUID } from "node:crypto";
import type { StagedResult, TaskId, WorkerId } from "@holdfast/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stagedResult } from "../testing/attempt-records.ts";
import { alice, newTaskId, newWorkerId, openBench, reach, taskRequest, type Bench } from "../testing/bench.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

test("of many claimers of a task exactly one wins, every time", async () => {
  for (let round = 0; round < 25; round += 1) {
    const task = await bench.createTask();
    const workers = Array.from({ length: 8 }, newWorkerId);
    const claims = await Promise.all(workers.map((workerId) => bench.ledger.claim({ taskId: task.id, workerId, leaseMs: 60_000, reach })));
    const won = claims.filter((claim) => claim !== null);
    expect(won).toHaveLength(1);
    const attempts = await bench.sql("select fencing_token, worker_id from holdfast.attempt where task_id = $1", [task.id]);
    expect(attempts).toEqual([{ fencing_token: won[0]?.token, worker_id: won[0]?.workerId }]);
  }
});

test("a claim hands over the task as it was created, and a lease by the database's clock", async () => {
  const task = await bench.createTask({ input: { b: [1, { "": null }], a: "é" } });
  const workerId = newWorkerId();
  expect(await bench.ledger.claim({ taskId: task.id, workerId, leaseMs: 15_000, reach })).toEqual({
    taskId: task.id,
    workerId,
    token: 1,
    operation: "test.echo",
    operationVersion: 1,
    effect: "read",
    input: { b: [1, { "": null }], a: "é" },
    workspace: { id: "alpha", root: "mods", path: "alpha" },
    owner: { issuer: alice.issuer, subject: alice.subject },
    cancelRequested: false,
    checkpoint: null,
    steps: [],
    inputs: [],
    staged: null,
    reusable: null,
    journalState: null,
  });
  const [lease] = await bench.sql<{ within: boolean }>(
    "select lease_expires_at between now() + interval '10 seconds' and now() + interval '15 seconds' as within from holdfast.live_task where task_id = $1",
    [task.id],
  );
  expect(lease).toEqual({ within: true });
});

test("each claim of a task gets a larger token", async () => {
  const task = await bench.createTask();
  const tokens: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    const attempt = await bench.claim(task.id);
    tokens.push(attempt.token);
    await bench.ledger.settle(attempt, { kind: "interrupted", detail: "drain" });
  }
  expect(tokens).toEqual([1, 2, 3, 4]);
});

test.each([
  ["pool", { ...reach, pools: ["heavy"] }],
  ["root", { ...reach, roots: ["elsewhere"] }],
  ["operation", { ...reach, operations: ["test.other"] }],
  ["anything", { pools: [], roots: [], operations: [] }],
])("a worker that does not reach the %s of a task claims nothing", async (_, narrow) => {
  const task = await bench.createTask();
  expect(await bench.ledger.claim({ taskId: task.id, workerId: newWorkerId(), leaseMs: 60_000, reach: narrow })).toBeNull();
  // It stays for the worker that can run it.
  expect((await bench.claim(task.id)).token).toBe(1);
});

test("a workspace that was moved to another root is not run in its old place", async () => {
  await bench.sql("insert into holdfast.workspace (id, root, path) values ('moving', 'mods', 'here')");
  await bench.sql(
    "insert into holdfast.access_grant (workspace_id, issuer, member_kind, member, actions) values ('moving', $1, 'principal', $2, '{run}')",
    [alice.issuer, alice.subject],
  );
  const task = await bench.createTask({ workspaceId: "moving" });
  await bench.sql("update holdfast.workspace set root = 'disk2' where id = 'moving'");
  const both = { ...reach, roots: ["mods", "disk2"] };
  expect(await bench.ledger.claim({ taskId: task.id, workerId: newWorkerId(), leaseMs: 60_000, reach: both })).toBeNull();
});

test("an unknown task is nothing to claim", async () => {
  expect(await bench.ledger.claim({ taskId: newTaskId(), workerId: newWorkerId(), leaseMs: 60_000, reach })).toBeNull();
});

test("an expired lease is not taken over by a claim, only by the reaper", async () => {
  const task = await bench.createTask();
  await bench.claim(task.id, { leaseMs: 0 });
  expect(await bench.ledger.claim({ taskId: task.id, workerId: newWorkerId(), leaseMs: 60_000, reach })).toBeNull();
  await bench.ledger.reap(10);
  expect((await bench.claim(task.id)).token).toBe(2);
});

test("a claim that reached its task after a whole attempt of somebody else leaves it to a wake that is newer than what it read", async () => {
  const task = await bench.createTask();
  const holder = await bench.session();
  await holder.query("begin");
  await holder.query("update holdfast.live_task set fencing_token = fencing_token + 1, checkpoint_version = 1 where task_id = $1", [
    task.id,
  ]);
  const late = bench.ledger.claim({ taskId: task.id, workerId: newWorkerId(), leaseMs: 60_000, reach });
  await bench.whenBlocked(1);
  await holder.query(
    "insert into holdfast.task_checkpoint (task_id, fencing_token, value, source_revision, seal) values ($1, 1, '1', null, 'seal')",
    [task.id],
  );
  await holder.query("commit");
  expect(await late).toBeNull();
  expect(await bench.claim(task.id)).toMatchObject({ token: 2, checkpoint: { text: "1" } });
});

describe("an identical read before this one", () => {
  const address = "ab".repeat(32);

  test("is handed over: the newest that is completed with a seal and a revision", async () => {
    const old = await finished("old", { sourceRevision: "r1" });
    expect((await claimOf(address)).reusable).toEqual({ taskId: old, ...stagedResult("old", { sourceRevision: "r1" }) });
    const newest = await finished("new", { sourceRevision: "r2" });
    expect((await claimOf(address)).reusable).toMatchObject({ taskId: newest, text: '"new"', sourceRevision: "r2" });
    // None of these may stand in for another task.
    await finished("of files that changed meanwhile", { sourceRevision: null });
    await finished("answered by the client", { sourceRevision: "r3" }, async (id) => {
      await bench.sql("insert into holdfast.task_input (task_id, key, method, params) values ($1, 'a', 'roots/list', '{}')", [id]);
    });
    await finished("of somebody else", { sourceRevision: "r3" }, async (id) => {
      await bench.sql("update holdfast.task set subject = 'bob' where id = $1", [id]);
    });
    await finished("expired", { sourceRevision: "r3" }, async (id) => {
      await bench.sql("update holdfast.task set ttl_ms = extract(epoch from now() - created_at) * 1000 where id = $1", [id]);
    });
    const unsealed = await bench.claim((await bench.createTask({ contentAddress: address })).id);
    await bench.ledger.settle(unsealed, { kind: "completed", result: { content: [] }, artifacts: [] });
    const failed = await bench.claim((await bench.createTask({ contentAddress: address })).id);
    await bench.ledger.stage(failed, stagedResult("failed"));
    const reference = randomUUID();
    await bench.ledger.settle(failed, { kind: "failed", code: "operation_failed", reference, detail: "", retry: false });
    expect((await claimOf(address)).reusable).toMatchObject({ taskId: newest });
  });

  test("is no matter for a request that is never shared, or another one", async () => {
    await finished("done", { sourceRevision: "r1" });
    expect((await claimOf(null)).reusable).toBeNull();
    expect((await claimOf("cd".repeat(32))).reusable).toBeNull();
  });

  /** Claims a new read of this address and ends it without a result. */
  const claimOf = async (contentAddress: string | null) => {
    const attempt = await bench.claim((await bench.createTask({ contentAddress })).id);
    await bench.ledger.settle(attempt, { kind: "cancelled" });
    return attempt;
  };

  const finished = async (value: string, changes: Partial<StagedResult>, change?: (id: TaskId) => Promise<void>) => {
    const { id } = await bench.createTask({ contentAddress: address });
    const attempt = await bench.claim(id);
    await bench.ledger.stage(attempt, stagedResult(value, changes));
    expect(await bench.ledger.settle(attempt, { kind: "published" })).toBe("completed");
    await change?.(id);
    return id;
  };
});

test("a claim hands over the answers that were given before there was a task", async () => {
  const answer = { action: "accept", content: { name: "\u0000 \ud800" } };
  const { id } = await bench.createTask({ answers: [{ key: "name", method: "elicitation/create", answer }] });
  expect((await bench.claim(id)).inputs).toEqual([{ key: "name", method: "elicitation/create", params: {}, answer }]);
});

describe("claim against cancellation, both waiting for the same row", () => {
  const race = async (first: "cancel" | "claim") => {
    const request = taskRequest();
    await bench.createTask(request);
    const holder = await bench.session();
    await holder.query("begin");
    await holder.query("select from holdfast.live_task where task_id = $1 for update", [request.id]);
    const cancel = () => bench.manager.requestCancellation({ id: request.id, principal: alice });
    const claim = () => bench.ledger.claim({ taskId: request.id, workerId: newWorkerId(), leaseMs: 60_000, reach });
    // Postgres serves those who wait for a row in the order in which they came.
    const early = first === "cancel" ? cancel() : claim();
    await bench.whenBlocked(1);
    const late = first === "cancel" ? claim() : cancel();
    await bench.whenBlocked(2);
    await holder.query("commit");
    await Promise.all([early, late]);
    const task = await bench.manager.find({ id: request.id, principal: alice });
    const attempts = await bench.sql<{ fencing_token: number; worker_id: WorkerId }>(
      "select fencing_token, worker_id from holdfast.attempt where task_id = $1",
      [request.id],
    );
    return { id: request.id, answers: await Promise.all([early, late]), task, attempts };
  };

  test("a cancellation that comes first ends the task, and the claim finds nothing", async () => {
    const { answers, task, attempts } = await race("cancel");
    expect(answers).toEqual([task, null]);
    expect(task).toMatchObject({ status: "cancelled" });
    expect(attempts).toEqual([]);
  });

  test("a cancellation that comes second is not lost: the attempt learns of it at its next heartbeat", async () => {
    const { id, answers, task, attempts } = await race("claim");
    expect(answers).toMatchObject([{ token: 1 }, task]);
    expect(task).toMatchObject({ status: "working", cancelRequested: true });
    expect(attempts).toHaveLength(1);
    for (const { fencing_token: token, worker_id: workerId } of attempts) {
      const attempt = { taskId: id, token, workerId };
      expect(await bench.ledger.renew([{ attempt, progress: null }], 60_000)).toEqual([{ kind: "renewed", cancelRequested: true }]);
      expect(await bench.ledger.settle(attempt, { kind: "cancelled" })).toBe("cancelled");
    }
    const terminal = await bench.sql("select from holdfast.task_event where task_id = $1 and kind = 'task.cancelled'", [id]);
    expect(terminal).toHaveLength(1);
  });
});
