import {
  ERRORS,
  inputMethodSchema,
  taskIdSchema,
  TASK_STATUSES,
  type ErrorCode,
  type Task,
  type TaskOutcome,
  type TaskRef,
} from "@holdfast/core";
import { z } from "zod";
import { actionByEffect, grantPredicate, principalParameters } from "../grant-predicate.ts";
import type { Database } from "../pool.ts";
import { countSchema, jsonTextSchema, quotedTextSchema, runStatement, type Statement } from "../statement.ts";

const errorCodeSchema = z.custom<ErrorCode>((code) => typeof code === "string" && Object.hasOwn(ERRORS, code), "is no error code");

/** A task with all that an answer needs; `TASK_COLUMNS` selects it. */
export const taskRowSchema = z.object({
  id: taskIdSchema,
  workspace_id: z.string(),
  operation: z.string(),
  operation_version: z.number(),
  status: z.enum(TASK_STATUSES),
  status_message: z.string().nullable(),
  ttl_ms: countSchema,
  poll_interval_ms: z.number(),
  created_at: z.date(),
  updated_at: z.date(),
  cancel_requested: z.boolean(),
  attempt: z.number().nullable(),
  progress_value: z.number().nullable(),
  progress_total: z.number().nullable(),
  progress_message: quotedTextSchema.nullable(),
  input_requests: jsonTextSchema
    .pipe(z.record(z.string(), z.object({ method: inputMethodSchema, params: z.record(z.string(), z.json()) })))
    .nullable(),
  result: jsonTextSchema.nullable(),
  error_code: errorCodeSchema.nullable(),
  error_reference: z.string().nullable(),
});
export type TaskRow = z.infer<typeof taskRowSchema>;

export const TASK_COLUMNS = `
  t.id, t.workspace_id, t.operation, t.operation_version, t.status, t.status_message, t.ttl_ms, t.poll_interval_ms, t.created_at,
  greatest(t.last_updated_at, l.progressed_at, l.cancel_requested_at) as updated_at,
  l.cancel_requested_at is not null as cancel_requested,
  case when l.worker_id is not null then l.fencing_token end as attempt,
  l.progress_value, l.progress_total, l.progress_message::text as progress_message,
  case when t.status = 'input_required' then (
    select json_object_agg(i.key, json_build_object('method', i.method, 'params', i.params) order by i.key)
    from holdfast.task_input as i
    where i.task_id = t.id and i.answer is null
  ) end::text as input_requests,
  r.result::text as result, r.error_code, r.error_reference`;

/** Beside `holdfast.task as t`. A result that is staged has a row already; it is not even fetched before the task is over. */
export const TASK_JOINS = `
left join holdfast.live_task as l on l.task_id = t.id
left join holdfast.task_result as r on r.task_id = t.id and t.status in ('completed', 'failed')`;

/** A task that nobody finishes does not expire: its ttl counts against a terminal status only. */
export const IS_UNEXPIRED = "(t.status in ('working', 'input_required') or now() < t.created_at + t.ttl_ms * interval '1 millisecond')";

/**
 * All that an answer needs in one snapshot: a task is never seen completed without its result, nor working with one.
 * Unknown, foreign, expired and no longer granted are the same empty answer (contract 2.4).
 */
const findTaskStatement = (purpose: string, action: string): Statement<TaskRow> => ({
  purpose,
  prepared: true,
  text: `
select ${TASK_COLUMNS}
from holdfast.task as t ${TASK_JOINS}
where t.id = $1::uuid
  and t.issuer = $2::text
  and t.subject = $3::text
  and ${IS_UNEXPIRED}
  and ${grantPredicate({ workspaceId: "t.workspace_id", issuer: "$2::text", subject: "$3::text", groups: "$4::jsonb", action })}`,
  row: taskRowSchema,
});

const FIND = findTaskStatement("find a task", "'read'");
const FIND_SUBMITTED = findTaskStatement("find a task of a submitter", actionByEffect("t.effect"));

/** The task, if its owner asks and may still look into the workspace. */
export async function findTask(database: Database, ref: TaskRef): Promise<Task | null> {
  return await find(database, FIND, ref);
}

/** The same for whoever may submit it, and so answer and cancel it, which needs no right to look at other things. */
export async function findSubmittedTask(database: Database, ref: TaskRef): Promise<Task | null> {
  return await find(database, FIND_SUBMITTED, ref);
}

async function find(database: Database, statement: Statement<TaskRow>, ref: TaskRef): Promise<Task | null> {
  const principal = principalParameters(ref.principal);
  if (principal === null) return null;
  const [row] = await runStatement(database.pool, statement, [ref.id, ...principal]);
  return row === undefined ? null : taskOf(row);
}

export function taskOf(row: TaskRow): Task {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    operation: row.operation,
    operationVersion: row.operation_version,
    status: row.status,
    statusMessage: row.status_message,
    progress: row.progress_value === null ? null : { value: row.progress_value, total: row.progress_total, message: row.progress_message },
    cancelRequested: row.cancel_requested,
    attempt: row.attempt,
    inputRequests: row.input_requests ?? {},
    createdAt: row.created_at,
    lastUpdatedAt: row.updated_at,
    ttlMs: row.ttl_ms,
    pollIntervalMs: row.poll_interval_ms,
    outcome: outcomeOf(row),
  };
}

function outcomeOf(row: TaskRow): TaskOutcome | null {
  if (row.status === "completed") return { kind: "result", result: row.result };
  if (row.error_code !== null && row.error_reference !== null)
    return { kind: "error", code: row.error_code, reference: row.error_reference };
  return null;
}
