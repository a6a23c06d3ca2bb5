import { taskIdSchema, type CreateOutcome, type CreateTask, type TaskId } from "@holdfast/core";
import { z } from "zod";
import { actionByEffect, grantPredicate, principalParameters } from "../grant-predicate.ts";
import type { Database } from "../pool.ts";
import { runStatement, type Statement } from "../statement.ts";
import { wakeQuery } from "../wake-query.ts";

/**
 * Creates all tasks that their principals may create, in one statement: one round trip, one commit, one wake for all of them.
 *
 * - The grant is read by the statement that inserts: a grant revoked before the commit of that revocation is visible denies,
 *   one revoked later was still valid when the task came to be.
 * - Task, mutex row, event and job appear together: nobody can find a job without its task, and no crash leaves a task without a
 *   job. The handle is answered after the commit, so every node finds it at once (contract 1.3).
 * - Inputs travel as one JSON list, which keeps their texts as they are: in an array literal every quote would be escaped, which
 *   takes most of a second for four megabytes.
 * - A failing member fails the whole statement and leaves nothing; the lane then repeats the members one by one.
 */
const CREATE: Statement<CreatedRow> = {
  purpose: "create tasks",
  prepared: true,
  text: `
with request as (
  select *
  from rows from (
    unnest(
      $1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[], $8::text[], $9::text[], $10::bigint[],
      $11::int[]
    ),
    json_array_elements($12::json)
  ) as r (
    id, workspace_id, issuer, subject, groups, operation, operation_version, effect, pool, ttl_ms, poll_interval_ms, input
  )
),
granted as (
  select r.*, w.root
  from request as r
  inner join holdfast.workspace as w on w.id = r.workspace_id
  where ${grantPredicate({
    workspaceId: "r.workspace_id",
    issuer: "r.issuer",
    subject: "r.subject",
    groups: "r.groups::jsonb",
    action: actionByEffect("r.effect"),
  })}
),
created as (
  insert into holdfast.task (
    id, workspace_id, issuer, subject, operation, operation_version, effect, pool, root, input, ttl_ms, poll_interval_ms
  )
  select id, workspace_id, issuer, subject, operation, operation_version, effect, pool, root, input, ttl_ms, poll_interval_ms
  from granted
  returning id, created_at
),
opened as (
  insert into holdfast.live_task (task_id)
  select id from granted
),
noted as (
  insert into holdfast.task_event (task_id, kind)
  select id, 'task.created' from granted
),
woken as (${wakeQuery("granted")})
select c.id, c.created_at, (select count(*) from woken) as woken
from created as c`,
  row: z.object({ id: taskIdSchema, created_at: z.date(), woken: z.coerce.number() }),
};

interface CreatedRow {
  readonly id: TaskId;
  readonly created_at: Date;
  readonly woken: number;
}

/** Outcomes in the order of the requests. Nothing is created when it rejects with a code that Postgres gave. */
export async function createTasks(database: Database, requests: readonly CreateTask[]): Promise<readonly CreateOutcome[]> {
  const createdAt = new Map<TaskId, Date>();
  const rows = requests.flatMap((request) => rowOf(request));
  if (rows.length > 0) {
    const inputs = rows.map(({ input }) => input);
    const values = [...transpose(rows.map(({ columns }) => columns)), `[${inputs.join(",")}]`];
    for (const row of await runStatement(database.pool, CREATE, values)) createdAt.set(row.id, row.created_at);
  }
  return requests.map((request) => {
    const at = createdAt.get(request.id);
    return at === undefined ? { kind: "denied" } : { kind: "created", task: freshTask(request, at) };
  });
}

/** One row, or none for a principal that cannot exist and therefore has no grant. */
function rowOf(request: CreateTask): readonly { readonly columns: readonly unknown[]; readonly input: string }[] {
  const principal = principalParameters(request.principal);
  if (principal === null) return [];
  const { name, version, effect, pool } = request.operation;
  const columns = [request.id, request.workspaceId, ...principal, name, version, effect, pool, request.ttlMs, request.pollIntervalMs];
  return [{ columns, input: JSON.stringify(request.input) }];
}

function transpose(rows: readonly (readonly unknown[])[]): unknown[][] {
  const [first = []] = rows;
  return first.map((_, column) => rows.map((row) => row[column]));
}

function freshTask(request: CreateTask, createdAt: Date): Extract<CreateOutcome, { kind: "created" }>["task"] {
  return {
    id: request.id,
    workspaceId: request.workspaceId,
    operation: request.operation.name,
    operationVersion: request.operation.version,
    status: "working",
    statusMessage: null,
    progress: null,
    cancelRequested: false,
    createdAt,
    lastUpdatedAt: createdAt,
    ttlMs: request.ttlMs,
    pollIntervalMs: request.pollIntervalMs,
    outcome: null,
  };
}
