import type { JsonObject, TaskId } from "@holdfast/core";
import { taskIdSchema } from "@holdfast/core";
import { z } from "zod";
import type { Database } from "../pool.ts";
import { runStatement, type Statement } from "../statement.ts";

export interface NewCall {
  readonly id: TaskId;
  readonly sessionId: TaskId;
  /** As JSON text. */
  readonly requestId: string;
  readonly method: string;
  readonly params: JsonObject;
  readonly asTask: boolean;
}

/** How many calls of a session may wait for an answer, and how many more of each kind are remembered. */
const MAX_CALLS = 256;
const MAX_TASKS = 1_000;

const rowSchema = z.object({ is_open: z.boolean(), is_begun: z.boolean() });

/** Older calls than fit are forgotten, unless somebody may still wait for them. Many at once may be too many for a moment. */
const BEGIN: Statement<z.infer<typeof rowSchema>> = {
  purpose: "begin a call of a session",
  prepared: true,
  text: `
with held as (
  select s.id from holdfast.session as s where s.id = $2::uuid for key share
),
old as (
  (
    select c.id from holdfast.session_call as c
    where c.session_id = $2::uuid and not c.as_task and (c.answered_at is not null or c.created_at < now() - interval '1 hour')
    order by c.created_at desc
    offset ${MAX_CALLS}
  )
  union all
  (
    select c.id from holdfast.session_call as c
    where c.session_id = $2::uuid and c.as_task and (c.answered_at is not null or c.created_at < now() - interval '1 hour')
    order by c.created_at desc
    offset ${MAX_TASKS}
  )
),
locked as (
  select c.id from holdfast.session_call as c where c.id in (select id from old) for update skip locked
),
forgotten as (
  delete from holdfast.session_call as c using locked as l where c.id = l.id
),
waiting as (
  select count(*) as calls
  from holdfast.session_call as c
  where c.session_id = $2::uuid
    and c.answered_at is null
    and c.cancelled_at is null
    and c.created_at > now() - interval '1 hour'
),
begun as (
  insert into holdfast.session_call (id, session_id, request_id, method, params, as_task)
  select $1::uuid, h.id, $3::text, $4::text, $5::json, $6::boolean
  from held as h
  where (select calls from waiting) < ${MAX_CALLS}
  returning id
)
select exists (select from held) as is_open, exists (select from begun) as is_begun`,
  row: rowSchema,
};

/** `full`: too many calls of the session wait already. `ended`: there is no such session any more. */
export async function beginCall(database: Database, call: NewCall): Promise<"begun" | "full" | "ended"> {
  const [row] = await runStatement(database.pool, BEGIN, [
    call.id,
    call.sessionId,
    call.requestId,
    call.method,
    JSON.stringify(call.params),
    call.asTask,
  ]);
  if (row?.is_open !== true) return "ended";
  return row.is_begun ? "begun" : "full";
}

const boundSchema = z.object({ is_cancelled: z.boolean() });

/**
 * Whoever holds the call by then: a task that was made belongs to it. The wish to cancel is answered by the same statement, so that it
 * either finds the task or is found here.
 */
const BIND: Statement<z.infer<typeof boundSchema>> = {
  purpose: "bind a call to its task",
  prepared: true,
  text: `
update holdfast.session_call
set task_id = coalesce(task_id, $2::uuid)
where id = $1::uuid
returning cancelled_at is not null as is_cancelled`,
  row: boundSchema,
};

/** False when the call was cancelled, or has ended with its session: its task is left to whoever asks. */
export async function bindCall(database: Database, id: TaskId, taskId: TaskId): Promise<boolean> {
  const [row] = await runStatement(database.pool, BIND, [id, taskId]);
  return row?.is_cancelled === false;
}

const idSchema = z.object({ id: taskIdSchema });

/** Whoever has taken the call over meanwhile answers it, and nobody answers one that was cancelled or has its answer. */
const SETTLE: Statement<z.infer<typeof idSchema>> = {
  purpose: "settle a call",
  prepared: true,
  text: `
update holdfast.session_call
set answered_at = coalesce(answered_at, now()), params = case when as_task then '{}' else params end
where id = $1::uuid and epoch = $2::integer and cancelled_at is null
returning id`,
  row: idSchema,
};

/** Whether the answer may be sent. */
export async function settleCall(database: Database, call: { readonly id: TaskId; readonly epoch: number }): Promise<boolean> {
  return (await runStatement(database.pool, SETTLE, [call.id, call.epoch])).length > 0;
}
