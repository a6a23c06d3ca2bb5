import {
  inputMethodSchema,
  JOURNAL_STATES,
  taskIdSchema,
  type ClaimedAttempt,
  type ClaimRequest,
  type JsonObject,
  type StagedResult,
  type TaskInput,
} from "@holdfast/core";
import { z } from "zod";
import type { Database } from "../pool.ts";
import { jsonTextSchema, runStatement, type Statement } from "../statement.ts";

const sealedSchema = z.object({ text: z.string(), sourceRevision: z.string().nullable(), seal: z.string() });
const stagedSchema: z.ZodType<StagedResult> = sealedSchema.extend({
  taskId: taskIdSchema,
  artifacts: z.array(z.object({ sha256: z.string(), name: z.string() })),
});
const objectSchema = z.custom<JsonObject>((value) => typeof value === "object" && value !== null && !Array.isArray(value));
const inputSchema: z.ZodType<TaskInput> = z.object({
  key: z.string(),
  method: inputMethodSchema,
  params: objectSchema,
  answer: objectSchema.nullable(),
});

const rowSchema = z.object({
  fencing_token: z.number(),
  cancel_requested: z.boolean(),
  operation: z.string(),
  operation_version: z.number(),
  effect: z.enum(["read", "write"]),
  input: jsonTextSchema,
  issuer: z.string(),
  subject: z.string(),
  workspace_id: z.string(),
  root: z.string(),
  path: z.string(),
  checkpoint: jsonTextSchema.pipe(sealedSchema).nullable(),
  steps: jsonTextSchema.pipe(z.array(sealedSchema.extend({ key: z.string() }))).nullable(),
  inputs: jsonTextSchema.pipe(z.array(inputSchema)).nullable(),
  staged: jsonTextSchema.pipe(stagedSchema).nullable(),
  reusable: jsonTextSchema.pipe(stagedSchema).nullable(),
  journal_state: z.enum(JOURNAL_STATES).nullable(),
});

/** A result with its seal, as JSON. The text goes as a string, because its seal is over exactly these characters. */
const RESULT = `json_build_object(
      'taskId', r.task_id, 'text', r.result::text, 'sourceRevision', r.source_revision, 'seal', r.seal, 'artifacts', r.artifacts
    )::text`;

/**
 * Starts an attempt: the next fencing token, a lease by the database's clock, one row of `attempt`; and hands over what earlier attempts,
 * and identical reads, have left.
 *
 * - The guard is the token under the row's lock: it is still the one of the snapshot, in which the task was queued and from which all that
 *   is handed over is read. Nothing but a claim takes a task out of the queue and lets it live, and each claim grows the token.
 * - Two claimers: the second waits for the first one's lock, sees its token and changes nothing. So does one that reaches the row much
 *   later, after a whole attempt of somebody else: whoever queued the task again has added a job of its own.
 * - Claim against cancellation: whoever locks `live_task` first wins. After a cancellation the row is gone; after a claim the
 *   cancellation finds it leased and leaves its wish on it.
 * - A lease that expired is not taken over here: the reaper ends its attempt first, which keeps the retry budget in one place.
 * - A second wake for a running, parked or finished task finds no row and is forgotten.
 *
 * Most tasks are claimed once and have nothing left for them: each table is looked into only where a column of the task says that there
 * may be something.
 */
const CLAIM: Statement<z.infer<typeof rowSchema>> = {
  purpose: "claim an attempt",
  prepared: true,
  text: `
with found as materialized (
  select
    l.task_id, l.fencing_token, l.checkpoint_version, t.operation, t.operation_version, t.effect, t.input, t.issuer, t.subject,
    t.content_address, w.id as workspace_id, w.root, w.path
  from holdfast.live_task as l
  inner join holdfast.task as t on t.id = l.task_id
  inner join holdfast.workspace as w on w.id = t.workspace_id
  where l.task_id = $1::uuid
    -- As a case, so that it fits no partial index: a plan from when the queue was short would go through the whole of a long one.
    and case when l.parked then false else l.worker_id is null end
    and t.pool = any($4::text[])
    and t.root = any($5::text[])
    and w.root = t.root
    and t.operation = any($6::text[])
),
claimed as (
  update holdfast.live_task as l
  set
    fencing_token = l.fencing_token + 1,
    worker_id = $2::uuid,
    lease_expires_at = now() + $3::double precision * interval '1 millisecond'
  from found as f
  where l.task_id = f.task_id and l.fencing_token = f.fencing_token
  returning l.task_id, l.fencing_token, l.cancel_requested_at
),
started as (
  insert into holdfast.attempt (task_id, fencing_token, worker_id)
  select task_id, fencing_token, $2::uuid from claimed
),
noted as (
  insert into holdfast.task_event (task_id, kind, fencing_token, detail)
  select task_id, 'attempt.claimed', fencing_token, jsonb_build_object('worker', $2::uuid) from claimed
)
select
  c.fencing_token, c.cancel_requested_at is not null as cancel_requested, f.operation, f.operation_version, f.effect,
  f.input::text as input, f.issuer, f.subject, f.workspace_id, f.root, f.path,
  case when f.checkpoint_version > 0 then (
    select json_build_object('text', k.value::text, 'sourceRevision', k.source_revision, 'seal', k.seal)::text
    from holdfast.task_checkpoint as k
    where k.task_id = f.task_id
  ) end as checkpoint,
  case when f.checkpoint_version > 0 then (
    select json_agg(
      json_build_object('key', k.key, 'text', k.value::text, 'sourceRevision', k.source_revision, 'seal', k.seal) order by k.key
    )::text
    from holdfast.task_step as k
    where k.task_id = f.task_id
  ) end as steps,
  (
    select json_agg(
      json_build_object('key', i.key, 'method', i.method, 'params', i.params, 'answer', i.answer) order by i.asked_at, i.key
    )::text
    from holdfast.task_input as i
    where i.task_id = f.task_id
  ) as inputs,
  case when f.checkpoint_version > 0 then (
    select ${RESULT}
    from holdfast.task_result as r
    where r.task_id = f.task_id and r.seal is not null
  ) end as staged,
  case when f.content_address is not null then (
    select ${RESULT}
    from holdfast.task as p
    inner join holdfast.task_result as r on r.task_id = p.id
    where p.content_address = f.content_address
      and p.status = 'completed'
      and p.id <> f.task_id
      and p.issuer = f.issuer
      and p.subject = f.subject
      and p.workspace_id = f.workspace_id
      -- What nobody can see any more gives no results either, though its row may still be there (contract 12.2).
      and now() < p.created_at + p.ttl_ms * interval '1 millisecond'
      and r.result is not null
      and r.seal is not null
      and r.source_revision is not null
      and not exists (select from holdfast.task_input as i where i.task_id = p.id)
    order by p.created_at desc
    limit 1
  ) end as reusable,
  case when f.effect = 'write' then (
    select j.state from holdfast.journal_entry as j where j.task_id = f.task_id
  ) end as journal_state
from claimed as c
inner join found as f on f.task_id = c.task_id`,
  row: rowSchema,
};

export async function claimAttempt(database: Database, request: ClaimRequest): Promise<ClaimedAttempt | null> {
  const { taskId, workerId, leaseMs, reach } = request;
  const [row] = await runStatement(database.pool, CLAIM, [taskId, workerId, leaseMs, reach.pools, reach.roots, reach.operations]);
  if (row === undefined) return null;
  return {
    taskId,
    workerId,
    token: row.fencing_token,
    operation: row.operation,
    operationVersion: row.operation_version,
    effect: row.effect,
    input: row.input,
    workspace: { id: row.workspace_id, root: row.root, path: row.path },
    owner: { issuer: row.issuer, subject: row.subject },
    cancelRequested: row.cancel_requested,
    checkpoint: row.checkpoint,
    steps: row.steps ?? [],
    inputs: row.inputs ?? [],
    staged: row.staged,
    reusable: row.reusable,
    journalState: row.journal_state,
  };
}
