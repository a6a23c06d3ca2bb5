import { createHash, randomUUID } from "node:crypto";
import { toolResult, type ClaimedAttempt, type CreateTask, type JournalState, type Settlement, type TaskId } from "@holdfast/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sealedValue, stagedResult, writePlan, writing } from "./testing/attempt-records.ts";
import { alice, keyed, openBench, parkedTask, question, type Bench } from "./testing/bench.ts";
import { createPostgresWriteJournal } from "./write-journal.ts";
import { endUnanswered } from "./writes/end-unanswered.ts";
import { reapLeases } from "./writes/reap-leases.ts";
import { storeArtifact } from "./writes/store-artifact.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

/** A task in a usual state. */
const states = {
  queued: async () => (await bench.createTask()).id,
  running: async () => (await claimed()).taskId,
  interrupted: async () => await ended({ kind: "interrupted", detail: "drain" }),
  parked: async () => (await parkedTask(bench, { age: question("how old?") })).id,
  completed: async () => await ended({ kind: "completed", result: toolResult({ text: "done" }), artifacts: [] }),
  failed: async () => await ended({ kind: "failed", code: "operation_failed", reference: randomUUID(), detail: "", retry: false }),
  cancelled: async () => await ended({ kind: "cancelled" }),
  "queued read with an address": async () => (await bench.createTask({ contentAddress: randomHash() })).id,
  "queued write with a key": async () => (await bench.createTask(keyed(randomUUID()))).id,
  "running with a checkpoint": async () => {
    const attempt = await claimed();
    await bench.ledger.saveCheckpoint(attempt, sealedValue("half"));
    return attempt.taskId;
  },
  "running with an artifact": async () => {
    const attempt = await claimed();
    await stored(attempt);
    return attempt.taskId;
  },
  "running with a staged result that links": async () => {
    const attempt = await claimed();
    await bench.ledger.stage(attempt, stagedResult({ content: [] }, { artifacts: [await stored(attempt)] }));
    return attempt.taskId;
  },
  "running with an open plan": async () => (await planned("applying")).taskId,
  "queued with an open plan": async () => {
    const attempt = await planned("applying");
    await bench.ledger.settle(attempt, { kind: "interrupted", detail: "drain" });
    return attempt.taskId;
  },
  "completed with a plan": async () => {
    const attempt = await planned("committed");
    await bench.ledger.settle(attempt, { kind: "completed", result: { content: [] }, artifacts: [] });
    return attempt.taskId;
  },
  "failed with an unresolved plan": async () => {
    const attempt = await planned("unresolved");
    await bench.ledger.settle(attempt, { kind: "failed", code: "write_unresolved", reference: randomUUID(), detail: "", retry: false });
    return attempt.taskId;
  },
} as const satisfies Record<string, () => Promise<TaskId>>;

interface Planting {
  readonly state: keyof typeof states;
  /** What happens to the task of the state, which is $1. */
  readonly sql: string;
  /** Of the violation. Those of artifacts and jobs name no task. */
  readonly hasTask?: boolean;
  /** Rules that cannot but be broken, too. */
  readonly also?: readonly string[];
}

/** Opens a session of the task's owner with a call that waits for the task. */
function sessionWithCall({ subject = "subject", cancelledAt = "null", seen = "now()" }): string {
  return `
    with opened as (
      insert into holdfast.session (id, token_sha256, issuer, subject, revision, capabilities, client_name, seen_at)
      select gen_random_uuid(), sha256(id::text::bytea), issuer, ${subject}, '2025-06-18', '{}', '{}', ${seen}
      from holdfast.task where id = $1 returning id
    )
    insert into holdfast.session_call (id, session_id, request_id, method, params, task_id, as_task, answered_at, cancelled_at)
    select gen_random_uuid(), id, '1', 'tools/call', '{}', $1, false, now(), ${cancelledAt} from opened`;
}

const overdue = "created_at = now() - interval '3 hours' - ttl_ms * interval '1 millisecond'";
const plantings: Readonly<Record<string, readonly Planting[]>> = {
  unreaped_lease: [
    { state: "running", sql: "update holdfast.live_task set lease_expires_at = now() - interval '31 seconds' where task_id = $1" },
  ],
  ended_task_with_mutex: [
    { state: "completed", sql: "insert into holdfast.live_task (task_id, fencing_token) values ($1, 1)" },
    { state: "failed", sql: "insert into holdfast.live_task (task_id, fencing_token) values ($1, 1)" },
  ],
  open_task_without_mutex: [
    { state: "queued", sql: "delete from holdfast.live_task where task_id = $1" },
    { state: "parked", sql: "delete from holdfast.live_task where task_id = $1" },
  ],
  attempt_without_lease: [
    { state: "interrupted", sql: "update holdfast.attempt set state = 'running', ended_at = null where task_id = $1" },
    {
      state: "running",
      sql: "update holdfast.live_task set worker_id = gen_random_uuid() where task_id = $1",
      also: ["lease_without_attempt"],
    },
  ],
  lease_without_attempt: [
    { state: "running", sql: "update holdfast.attempt set state = 'lost', ended_at = now() where task_id = $1" },
    {
      state: "interrupted",
      sql: "update holdfast.live_task set worker_id = gen_random_uuid(), lease_expires_at = now() + interval '1 minute' where task_id = $1",
    },
  ],
  astray_token: [
    { state: "interrupted", sql: "update holdfast.live_task set fencing_token = 0 where task_id = $1" },
    { state: "interrupted", sql: "update holdfast.live_task set fencing_token = 2 where task_id = $1" },
    { state: "interrupted", sql: "delete from holdfast.attempt where task_id = $1" },
  ],
  overspent_budget: [
    { state: "interrupted", sql: "update holdfast.live_task set budget_spent = 1 where task_id = $1" },
    { state: "running", sql: "update holdfast.live_task set retried_version = 1 where task_id = $1" },
  ],
  unwoken_task: [
    {
      state: "queued",
      sql: `with removed as (delete from graphile_worker._private_jobs where key = $1::uuid::text)
            update holdfast.live_task set wake_at = now() - interval '61 seconds' where task_id = $1`,
    },
    {
      state: "queued",
      sql: `with locked as (update graphile_worker._private_jobs set locked_at = now() where key = $1::uuid::text)
            update holdfast.live_task set wake_at = now() - interval '61 seconds' where task_id = $1`,
    },
  ],
  misstated_parking: [
    { state: "queued", sql: "update holdfast.task set status = 'input_required' where id = $1" },
    { state: "parked", sql: "update holdfast.live_task set parked = false where task_id = $1" },
  ],
  parked_task_without_question: [
    { state: "parked", sql: "update holdfast.task_input set answer = '{}', answered_at = now() where task_id = $1" },
  ],
  question_without_parked_task: [
    { state: "running", sql: "insert into holdfast.task_input (task_id, key, method, params) values ($1, 'k', 'roots/list', '{}')" },
    { state: "cancelled", sql: "insert into holdfast.task_input (task_id, key, method, params) values ($1, 'k', 'roots/list', '{}')" },
  ],
  unheeded_cancellation: [
    { state: "queued", sql: "update holdfast.live_task set cancel_requested_at = now() where task_id = $1" },
    { state: "parked", sql: "update holdfast.live_task set cancel_requested_at = now() where task_id = $1" },
  ],
  unwanted_task: [{ state: "running", sql: "update holdfast.live_task set has_handle = false where task_id = $1" }],
  misheld_content_address: [
    { state: "running", sql: "update holdfast.live_task set content_address = sha256($1::text::bytea) where task_id = $1" },
    { state: "queued read with an address", sql: "update holdfast.task set content_address = sha256('other') where id = $1" },
    {
      state: "queued read with an address",
      sql: "update holdfast.live_task set cancel_requested_at = now(), worker_id = null where task_id = $1",
      also: ["unheeded_cancellation"],
    },
  ],
  unversioned_checkpoint: [
    { state: "running with a checkpoint", sql: "update holdfast.live_task set checkpoint_version = 0 where task_id = $1" },
    { state: "running with a checkpoint", sql: "update holdfast.task_checkpoint set fencing_token = 2 where task_id = $1" },
    { state: "running with an open plan", sql: "update holdfast.live_task set checkpoint_version = 0 where task_id = $1" },
    { state: "running", sql: "insert into holdfast.task_step (task_id, key, fencing_token, value, seal) values ($1, 's', 1, '1', '')" },
    { state: "running", sql: "insert into holdfast.task_result (task_id, result, seal) values ($1, '{}', '')" },
  ],
  contradicted_attempt: [
    { state: "completed", sql: "update holdfast.attempt set state = 'lost' where task_id = $1" },
    {
      state: "running",
      sql: "update holdfast.attempt set state = 'succeeded', ended_at = now() where task_id = $1",
      also: ["lease_without_attempt"],
    },
    {
      state: "running",
      sql: "update holdfast.attempt set state = 'cancelled', ended_at = now() where task_id = $1",
      also: ["lease_without_attempt"],
    },
    {
      state: "completed",
      sql: "insert into holdfast.attempt (task_id, fencing_token, worker_id, state, ended_at) values ($1, 2, gen_random_uuid(), 'succeeded', now())",
    },
    {
      state: "cancelled",
      sql: "insert into holdfast.attempt (task_id, fencing_token, worker_id, state, ended_at) values ($1, 2, gen_random_uuid(), 'lost', now())",
    },
  ],
  contradicted_outcome: [
    { state: "completed", sql: "delete from holdfast.task_result where task_id = $1" },
    { state: "failed", sql: "delete from holdfast.task_result where task_id = $1" },
    { state: "failed", sql: "update holdfast.task_result set result = '{}', error_code = null, error_reference = null where task_id = $1" },
    { state: "cancelled", sql: "insert into holdfast.task_result (task_id, result, seal) values ($1, '{}', '')" },
    {
      state: "running with a checkpoint",
      sql: "insert into holdfast.task_result (task_id, result) values ($1, '{}')",
    },
    {
      state: "running with a checkpoint",
      sql: "insert into holdfast.task_result (task_id, error_code, error_reference) values ($1, 'internal', gen_random_uuid())",
    },
  ],
  miscounted_ending: [
    { state: "completed", sql: "delete from holdfast.task_event where task_id = $1 and kind = 'task.completed'" },
    { state: "completed", sql: "insert into holdfast.task_event (task_id, kind) values ($1, 'task.completed')" },
    { state: "failed", sql: "update holdfast.task_event set kind = 'task.cancelled' where task_id = $1 and kind = 'task.failed'" },
    { state: "running", sql: "insert into holdfast.task_event (task_id, kind) values ($1, 'task.failed')" },
  ],
  open_journal_of_ended_task: [
    { state: "failed with an unresolved plan", sql: "update holdfast.journal_entry set state = 'rolling_back' where task_id = $1" },
  ],
  contradicted_journal: [
    { state: "completed with a plan", sql: "update holdfast.journal_entry set state = 'unresolved' where task_id = $1" },
    {
      state: "failed with an unresolved plan",
      sql: `with emptied as (update holdfast.journal_file set before_bytes = null, after_bytes = null where task_id = $1)
            update holdfast.journal_entry set state = 'committed' where task_id = $1`,
    },
    { state: "queued with an open plan", sql: "update holdfast.journal_entry set state = 'unresolved' where task_id = $1" },
    { state: "running with an open plan", sql: "update holdfast.task set effect = 'read' where id = $1" },
  ],
  unattended_journal: [
    { state: "queued with an open plan", sql: "update holdfast.attempt set ended_at = now() - interval '61 seconds' where task_id = $1" },
  ],
  misplaced_journal_bytes: [
    { state: "running with an open plan", sql: "update holdfast.journal_file set before_bytes = null where task_id = $1" },
    { state: "queued with an open plan", sql: "update holdfast.journal_file set after_bytes = null where task_id = $1" },
    { state: "completed with a plan", sql: "update holdfast.journal_file set before_bytes = 'left' where task_id = $1" },
  ],
  contradicted_receipt: [
    { state: "queued write with a key", sql: "delete from holdfast.receipt where task_id = $1" },
    { state: "queued write with a key", sql: "update holdfast.receipt set address = sha256('elsewhere') where task_id = $1" },
    { state: "queued write with a key", sql: "update holdfast.receipt set request_key = 'another' where task_id = $1" },
    { state: "queued write with a key", sql: "update holdfast.task set operation = 'test.other' where id = $1" },
    { state: "queued write with a key", sql: "update holdfast.task set operation_version = 2 where id = $1" },
    { state: "queued write with a key", sql: "update holdfast.task set subject = 'mallory' where id = $1" },
    { state: "queued write with a key", sql: "update holdfast.task set has_receipt = false where id = $1" },
    { state: "queued", sql: "update holdfast.task set has_receipt = true where id = $1" },
  ],
  overdue_task: [{ state: "completed", sql: `update holdfast.task set ${overdue} where id = $1` }],
  unanswered_task: [
    {
      state: "parked",
      sql: "update holdfast.task set last_updated_at = now() - interval '3 hours' - ttl_ms * interval '1 millisecond' where id = $1",
    },
  ],
  unlinked_artifact: [
    { state: "running with an artifact", sql: "delete from holdfast.task_artifact where task_id = $1", hasTask: false },
    {
      state: "running",
      sql: `insert into holdfast.artifact_blob (workspace_id, sha256, bytes)
            select workspace_id, sha256(id::text::bytea), 'x' from holdfast.task where id = $1`,
      hasTask: false,
    },
  ],
  contradicted_artifact: [
    {
      state: "running with an artifact",
      sql: "update holdfast.artifact_blob set bytes = 'cut' where sha256 in (select sha256 from holdfast.task_artifact where task_id = $1)",
    },
  ],
  unlinked_result_artifact: [
    {
      state: "running with a staged result that links",
      sql: "delete from holdfast.task_artifact where task_id = $1",
      also: ["unlinked_artifact"],
    },
    {
      state: "running with an open plan",
      sql: `update holdfast.journal_entry set artifacts = '[{"sha256":"00","name":"a.txt"}]' where task_id = $1`,
    },
  ],
  job_of_ended_task: [
    {
      state: "cancelled",
      sql: `select graphile_worker.add_job('run-task/default/mods', json_build_object('taskId', $1::text),
              run_at => now() - interval '3 hours', job_key => $1::text)`,
    },
  ],
  foreign_call_task: [{ state: "queued", sql: sessionWithCall({ subject: "'mallory'" }) }],
  twice_ended_call: [{ state: "queued", sql: sessionWithCall({ cancelledAt: "now()" }) }],
  idle_session: [{ state: "queued", sql: sessionWithCall({ seen: "now() - interval '27 hours'" }), hasTask: false }],
};

describe("the database, after all that may happen to tasks,", () => {
  test("breaks no rule, whatever state a task is in", async () => {
    for (const state of Object.values(states)) await state();
    await bench.sql(sessionWithCall({}), [await states.queued()]);
    await moveOn();
    expect(await violations()).toEqual([]);
  });
});

describe.each(Object.entries(plantings))("%s", (invariant, cases) => {
  test.each(cases)("shows a task that is $state after: $sql", async ({ state, sql, hasTask = true, also = [] }) => {
    const id = await states[state]();
    expect(await violations()).toEqual([]);
    await bench.sql("begin");
    try {
      await bench.sql(sql, [id]);
      const found = await violations();
      expect(found.filter((row) => row.invariant === invariant)).toEqual([{ invariant, task_id: hasTask ? id : null }]);
      expect(found.map((row) => row.invariant).toSorted()).toEqual([invariant, ...also].toSorted());
    } finally {
      await bench.sql("rollback");
    }
  });
});

test("every rule is in the view of all, is planted above, and tells an operator what to do", async () => {
  const views = await bench.sql<{ name: string; comment: string | null }>(
    `select relname as name, obj_description(pg_class.oid, 'pg_class') as comment
     from pg_class
     where relnamespace = 'ops'::regnamespace and relkind = 'v' and relname not in ('unclaimable_task', 'invariant_violation')`,
  );
  const names = views.map(({ name }) => name).toSorted();
  const [umbrella] = await bench.sql<{ text: string }>("select pg_get_viewdef('ops.invariant_violation'::regclass) as text");
  const within = [...(umbrella?.text ?? "").matchAll(/select '(?<name>\w+)'::text/giu)].flatMap(({ groups }) => groups?.["name"] ?? []);
  expect(within.toSorted()).toEqual(names);
  expect(Object.keys(plantings).toSorted()).toEqual(names);
  for (const { comment } of views) expect(comment).toMatch(/ Cost: .+\. Operator: .+\.$/u);
});

async function violations() {
  return await bench.sql<{ invariant: string; task_id: string | null }>(
    "select invariant, task_id from ops.invariant_violation order by invariant, task_id",
  );
}

/** What may still come: answers, wishes, losses, repeats, endings. */
async function moveOn(): Promise<void> {
  const answered = await states.parked();
  await bench.manager.update({ id: answered, principal: alice }, [
    { key: "age", method: "elicitation/create", answer: { action: "decline" } },
  ]);
  for (const state of [states.queued, states.running, states.parked, states.interrupted, states["queued read with an address"]])
    await bench.manager.requestCancellation({ id: await state(), principal: alice });
  const call = await bench.createTask({ waiter: "call", contentAddress: randomHash() });
  await bench.manager.abandon({ id: call.id, principal: alice });
  await bench.sql(
    "update holdfast.task set last_updated_at = now() - interval '3 hours' - ttl_ms * interval '1 millisecond' where id = $1",
    [await states.parked()],
  );
  expect(await endUnanswered(bench.database, 100)).toHaveLength(1);
  const lost = [await claimed(), await planned("applying"), await claimed({}, 3), await claimedStaged()];
  await bench.sql("update holdfast.live_task set lease_expires_at = now() - interval '31 seconds' where task_id = any($1::uuid[])", [
    lost.map(({ taskId }) => taskId),
  ]);
  expect(await reapLeases(bench.database, 100)).toHaveLength(lost.length);
}

/** The attempt after so many others that failed. */
async function claimed(changes: Partial<CreateTask> = {}, number = 1): Promise<ClaimedAttempt> {
  const { id } = await bench.createTask(changes);
  for (let before = 1; before < number; before += 1) {
    const failure = { kind: "failed", code: "operation_failed", reference: randomUUID(), detail: "", retry: true } as const;
    expect(await bench.ledger.settle(await bench.claim(id), failure)).toBe("requeued");
  }
  return await bench.claim(id);
}

async function claimedStaged(): Promise<ClaimedAttempt> {
  const attempt = await claimed();
  await bench.ledger.stage(attempt, stagedResult({ content: [] }));
  return attempt;
}

async function ended(settlement: Settlement): Promise<TaskId> {
  const attempt = await claimed();
  expect(await bench.ledger.settle(attempt, settlement)).not.toBe("refused");
  return attempt.taskId;
}

/** A write whose plan, below a root that is nobody else's, has come to this state. */
async function planned(to: JournalState): Promise<ClaimedAttempt> {
  const attempt = await claimed(writing);
  await bench.sql("update holdfast.task set root = 'r' || right(replace(id::text, '-', ''), 12) where id = $1", [attempt.taskId]);
  const journal = createPostgresWriteJournal(bench.database);
  expect(await journal.bind(attempt, writePlan())).toBe("bound");
  expect(await journal.move(attempt, { from: ["planned"], to })).toBe("moved");
  return attempt;
}

async function stored(attempt: ClaimedAttempt) {
  const answer = await storeArtifact(bench.database, attempt, {
    bytes: Buffer.from(`bytes of ${attempt.taskId}`),
    name: "a.txt",
    mimeType: "text/plain",
  });
  if (answer.kind !== "stored") throw new Error("the artifact was refused");
  return { sha256: answer.address.sha256, name: answer.address.name };
}

function randomHash(): string {
  return createHash("sha256").update(randomUUID()).digest("hex");
}
