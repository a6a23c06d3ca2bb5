import { wakeQuery } from "./wake-query.ts";

/**
 * What becomes of tasks whose attempts end, however they ended: it is over and leaves `live_task`, or it is queued again without owner
 * and progress, and a job wakes somebody for it. The statement around it holds the rows of `live_task` locked and has a query `verdict`
 * with the columns `task_id`, `outcome` ('requeued' or the final status), `cost` (of the budget), `progressed_at` and
 * `cancel_requested_at`. It gets `finished` (`id`, `workspace_id`, `status`) and must read `woken`, or no job is added.
 */
export const VERDICT_QUERIES = `
closed as (
  delete from holdfast.live_task as l
  using verdict as v
  where l.task_id = v.task_id and v.outcome <> 'requeued'
),
requeued as (
  update holdfast.live_task as l
  set
    worker_id = null,
    lease_expires_at = null,
    budget_spent = l.budget_spent + v.cost,
    wake_at = default,
    progress_value = null,
    progress_total = null,
    progress_message = null,
    progressed_at = now()
  from verdict as v
  where l.task_id = v.task_id and v.outcome = 'requeued'
  returning l.task_id
),
finished as (
  update holdfast.task as t
  set status = v.outcome, last_updated_at = greatest(now(), t.last_updated_at, v.progressed_at, v.cancel_requested_at)
  from verdict as v
  where t.id = v.task_id and v.outcome <> 'requeued'
  returning t.id, t.workspace_id, t.status
),
woken as (${wakeQuery("(select t.id, t.pool, t.root from requeued as q inner join holdfast.task as t on t.id = q.task_id)")})`;
