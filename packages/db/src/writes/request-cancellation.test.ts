import { OPEN_JOURNAL_STATES, type AttemptRef, type CreateTask, type JournalState, type Principal, type TaskId } from "@holdfast/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stagedResult, writePlan } from "../testing/attempt-records.ts";
import { alice, alpha, memberOf, newTaskId, openBench, taskRequest, type Bench } from "../testing/bench.ts";
import { createPostgresWriteJournal } from "../write-journal.ts";
import { addGrant, removeGrant } from "./change-grants.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

const write = { name: "test.echo", version: 1, effect: "write", pool: "default" } as const;

test("a queued task is cancelled when the request returns, with no worker anywhere", async () => {
  const task = await bench.createTask();
  await bench.sql("update holdfast.task set last_updated_at = now() - interval '1 minute' where id = $1", [task.id]);
  const cancelled = await bench.manager.requestCancellation({ id: task.id, principal: alice });
  expect(cancelled).toMatchObject({ id: task.id, status: "cancelled", cancelRequested: false, createdAt: task.createdAt, outcome: null });
  expect(cancelled?.lastUpdatedAt.getTime()).toBeGreaterThan(Date.now() - 50_000);
  expect(await bench.manager.find({ id: task.id, principal: alice })).toEqual(cancelled);
  expect(await bench.sql("select from holdfast.live_task where task_id = $1", [task.id])).toEqual([]);
});

test("a running task keeps running with the wish on it, and says so", async () => {
  const attempt = await bench.claim((await bench.createTask()).id);
  const task = await bench.manager.requestCancellation({ id: attempt.taskId, principal: alice });
  expect(task).toMatchObject({ status: "working", cancelRequested: true });
  expect(await bench.ledger.renew([{ attempt, progress: null }], 60_000)).toEqual([{ kind: "renewed", cancelRequested: true }]);
});

describe("what earlier attempts have left decides:", () => {
  /** Queued again, after an attempt that left something and was interrupted. */
  const requeued = async (leave: (attempt: AttemptRef) => Promise<void>, operation: CreateTask["operation"] = write): Promise<TaskId> => {
    const attempt = await bench.claim((await bench.createTask({ operation })).id);
    await leave(attempt);
    expect(await bench.ledger.settle(attempt, { kind: "interrupted", detail: "drained" })).toBe("requeued");
    return attempt.taskId;
  };
  const journal = () => createPostgresWriteJournal(bench.database);
  const boundUntil = (state: JournalState) => async (attempt: AttemptRef) => {
    expect(await journal().bind(attempt, writePlan())).toBe("bound");
    if (state !== "planned") await bench.sql("update holdfast.journal_entry set state = $2 where task_id = $1", [attempt.taskId, state]);
  };
  const cancel = (id: TaskId) => bench.manager.requestCancellation({ id, principal: alice });

  test("a staged result goes with the queued task that is cancelled", async () => {
    const id = await requeued(async (attempt) => {
      expect(await bench.ledger.stage(attempt, stagedResult({ content: [] }))).toBe("kept");
    }, taskRequest().operation);
    expect(await cancel(id)).toMatchObject({ status: "cancelled", outcome: null });
    expect(await bench.sql("select from holdfast.task_result where task_id = $1", [id])).toEqual([]);
  });

  test.each([...OPEN_JOURNAL_STATES, "committed"] as const)(
    "a task whose plan is %s keeps the wish for its next attempt",
    async (state) => {
      const id = await requeued(boundUntil(state));
      expect(await cancel(id)).toMatchObject({ status: "working", cancelRequested: true });
      expect(await bench.claim(id)).toMatchObject({ cancelRequested: true, journalState: state });
      await bench.sql("update holdfast.journal_entry set state = 'restored' where task_id = $1", [id]);
    },
  );

  test("a task whose plan was restored is cancelled, and the bytes of the plan go", async () => {
    const id = await requeued(boundUntil("restored"));
    expect(await cancel(id)).toMatchObject({ status: "cancelled" });
    const files = await bench.sql("select before_bytes, after_bytes from holdfast.journal_file where task_id = $1", [id]);
    expect(files).toEqual([{ before_bytes: null, after_bytes: null }]);
  });

  test("a plan that was bound, and left, after the cancellation had looked and before it had the row", async () => {
    const { id } = await bench.createTask({ operation: write });
    await bench.claim(id);
    const holder = await bench.session();
    await holder.query("begin");
    await holder.query("select from holdfast.live_task where task_id = $1 for update", [id]);
    const cancelling = cancel(id);
    await bench.whenBlocked(1);
    await holder.query(
      `with bound as (
         insert into holdfast.journal_entry (task_id, workspace_id, root, fencing_token, result, artifacts, seal)
         values ($1, 'alpha', 'mods', 1, '{}', '[]', 'seal')
       )
       update holdfast.live_task
       set worker_id = null, lease_expires_at = null, checkpoint_version = checkpoint_version + 1
       where task_id = $1`,
      [id],
    );
    await holder.query("commit");
    expect(await cancelling).toMatchObject({ status: "working", cancelRequested: true });
    expect(await bench.claim(id)).toMatchObject({ cancelRequested: true, journalState: "planned" });
  });
});

test("asking again changes nothing, not even the time of the wish", async () => {
  const attempt = await bench.claim((await bench.createTask()).id);
  const ref = { id: attempt.taskId, principal: alice };
  const first = await bench.manager.requestCancellation(ref);
  const wish = () =>
    bench.sql(
      `select l.cancel_requested_at::text, (select count(*) from holdfast.task_event as e where e.task_id = l.task_id) as events
       from holdfast.live_task as l where l.task_id = $1`,
      [attempt.taskId],
    );
  const before = await wish();
  expect(await bench.manager.requestCancellation(ref)).toEqual(first);
  expect(await wish()).toEqual(before);
});

test("the journal names who asked", async () => {
  const [queued, running] = [await bench.createTask(), await bench.createTask()];
  await bench.claim(running.id);
  for (const { id } of [queued, running]) await bench.manager.requestCancellation({ id, principal: alice });
  const events = await bench.sql(
    "select kind, fencing_token, detail from holdfast.task_event where task_id = any($1::uuid[]) and kind like 'task.cancel%' order by kind",
    [[queued.id, running.id]],
  );
  const detail = { issuer: alice.issuer, subject: alice.subject };
  expect(events).toEqual([
    { kind: "task.cancelRequested", fencing_token: 1, detail },
    { kind: "task.cancelled", fencing_token: null, detail },
  ]);
});

describe("nothing is cancelled, and nothing is told,", () => {
  const attempted = async (id: TaskId, principal: Principal) => {
    const task = await bench.manager.requestCancellation({ id, principal });
    const [row] = await bench.sql<{ status: string }>("select status from holdfast.task where id = $1", [id]);
    return { task, status: row?.status };
  };
  const untouched = { task: null, status: "working" };

  test("for another subject, the same subject of another issuer, and an id that does not exist", async () => {
    const { id } = await bench.createTask();
    const sibling = { ...alice, subject: "bob" };
    await addGrant(bench.database, { ...memberOf(sibling), actions: ["read", "run", "write"], expiresAt: null });
    expect(await attempted(id, sibling)).toEqual(untouched);
    const namesake = { ...alice, issuer: "https://other.example" };
    await addGrant(bench.database, { ...memberOf(namesake), actions: ["read", "run", "write"], expiresAt: null });
    expect(await attempted(id, namesake)).toEqual(untouched);
    expect(await bench.manager.requestCancellation({ id: newTaskId(), principal: alice })).toBeNull();
  });

  test("for an owner whose grant was removed, has expired, or no longer covers the effect", async () => {
    const owner = { ...alice, subject: "carol" };
    const grant = { ...memberOf(owner), expiresAt: null };
    await addGrant(bench.database, { ...grant, actions: ["read", "run", "write"] });
    const reading = await bench.createTask({ principal: owner });
    const writing = await bench.createTask({ principal: owner, operation: write });
    await removeGrant(bench.database, grant);
    expect(await attempted(reading.id, owner)).toEqual(untouched);
    await addGrant(bench.database, { ...grant, actions: ["read", "run", "write"], expiresAt: new Date(Date.now() - 1_000) });
    expect(await attempted(reading.id, owner)).toEqual(untouched);
    await addGrant(bench.database, { ...grant, actions: ["read"] });
    expect(await attempted(reading.id, owner)).toEqual(untouched);
    await addGrant(bench.database, { ...grant, actions: ["read", "run"] });
    expect(await attempted(writing.id, owner)).toEqual(untouched);
    expect(await attempted(reading.id, owner)).toMatchObject({ status: "cancelled" });
    await addGrant(bench.database, { ...grant, actions: ["write"] });
    expect(await attempted(writing.id, owner)).toMatchObject({ task: { status: "cancelled" }, status: "cancelled" });
  });

  test("for a name that Postgres cannot keep", async () => {
    const { id } = await bench.createTask({ principal: alice, workspaceId: alpha });
    expect(await attempted(id, { ...alice, subject: "alice\u0000" })).toEqual(untouched);
  });
});
