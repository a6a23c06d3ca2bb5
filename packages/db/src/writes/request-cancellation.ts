import { taskIdSchema, type Task, type TaskRef } from "@holdfast/core";
import { z } from "zod";
import { actionByEffect, grantPredicate, principalParameters } from "../grant-predicate.ts";
import type { Database } from "../pool.ts";
import { findSubmittedTask } from "../reads/find-task.ts";
import { runStatement, type Statement } from "../statement.ts";

/**
 * Records the owner's wish to cancel. A queued task is cancelled by it; a running one learns of it at its next heartbeat.
 *
 * - Against a claim: both want the lock on `live_task`. If the claim came first, this statement judges the row again under the
 *   lock, sees a worker and leaves the wish; if it came second, the row is gone and the claim finds nothing. Either way the wish
 *   is not lost, and no attempt starts after the task was called cancelled.
 * - Against a settlement that came first: the row is gone and nothing changes; the terminal status stands.
 * - Ownership and grant are conditions of the statement that writes. Cancelling needs what submitting needed (contract 2.5).
 */
const CANCEL: Statement<unknown> = {
  purpose: "request a cancellation",
  prepared: true,
  text: `
with held as (
  select l.task_id, l.fencing_token, l.worker_id, l.cancel_requested_at, l.progressed_at
  from holdfast.live_task as l
  inner join holdfast.task as t on t.id = l.task_id
  where l.task_id = $1::uuid
    and t.issuer = $2::text
    and t.subject = $3::text
    and ${grantPredicate({
      workspaceId: "t.workspace_id",
      issuer: "$2::text",
      subject: "$3::text",
      groups: "$4::jsonb",
      action: actionByEffect("t.effect"),
    })}
  for update of l
),
wished as (
  update holdfast.live_task as l
  set cancel_requested_at = now()
  from held as h
  where l.task_id = h.task_id and h.worker_id is not null and h.cancel_requested_at is null
  returning l.task_id
),
closed as (
  delete from holdfast.live_task as l
  using held as h
  where l.task_id = h.task_id and h.worker_id is null
  returning l.task_id
),
finished as (
  update holdfast.task as t
  set status = 'cancelled', last_updated_at = greatest(now(), t.last_updated_at, h.progressed_at)
  from held as h
  inner join closed as c on c.task_id = h.task_id
  where t.id = h.task_id
),
noted as (
  insert into holdfast.task_event (task_id, kind, fencing_token, detail)
  select h.task_id, e.kind, e.fencing_token, jsonb_build_object('issuer', $2::text, 'subject', $3::text)
  from held as h
  inner join (
    select task_id, 'task.cancelled' as kind, null::int as fencing_token from closed
    union all
    select w.task_id, 'task.cancelRequested', k.fencing_token from wished as w inner join held as k on k.task_id = w.task_id
  ) as e on e.task_id = h.task_id
)
select task_id from held`,
  row: z.object({ task_id: taskIdSchema }),
};

/**
 * The task as it is afterwards, or null when this principal may not cancel it. Read by a second statement: the first one's
 * snapshot is older than the locks it may have waited for.
 */
export async function requestCancellation(database: Database, ref: TaskRef): Promise<Task | null> {
  const principal = principalParameters(ref.principal);
  if (principal === null) return null;
  await runStatement(database.pool, CANCEL, [ref.id, ...principal]);
  return await findSubmittedTask(database, ref);
}
