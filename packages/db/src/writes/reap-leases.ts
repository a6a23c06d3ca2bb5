import { MAX_REPLACEMENTS, taskIdSchema, type ErrorCode, type TaskId } from "@holdfast/core";
import { z } from "zod";
import type { Database } from "../pool.ts";
import { runStatement, type Statement } from "../statement.ts";
import { wakeQuery } from "../wake-query.ts";

const LOST: ErrorCode = "worker_lost";

/**
 * Turns attempts whose lease has expired into lost ones, at most `limit`, and decides what becomes of their tasks.
 *
 * - Reap against renewal and settlement: the expiry is judged again under the row's lock, so a heartbeat that committed in
 *   between keeps its lease and a settlement stands. A row that somebody holds at the moment is left for the next round.
 * - Many reapers at once: `skip locked` gives each row to one of them. A reaper that dies leaves nothing half done.
 * - It reads leases, not jobs, and adds a fresh job: graphile-worker's own lock of a dead worker never delays a task.
 */
const reap = (limit: number): Statement<{ task_id: TaskId; woken: number }> => ({
  purpose: "reap leases",
  prepared: false,
  text: `
with dead as (
  select l.task_id, l.fencing_token, l.worker_id, l.budget_spent, l.cancel_requested_at, l.progressed_at
  from holdfast.live_task as l
  where l.worker_id is not null and l.lease_expires_at < now()
  order by l.lease_expires_at, l.task_id
  limit ${limit}
  for update skip locked
),
verdict as (
  select
    d.*,
    case
      when d.cancel_requested_at is not null then 'cancelled'
      when d.budget_spent < ${MAX_REPLACEMENTS} then 'requeued'
      else 'failed'
    end as outcome
  from dead as d
),
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
    budget_spent = l.budget_spent + 1,
    wake_at = default,
    progress_value = null,
    progress_total = null,
    progress_message = null,
    progressed_at = now()
  from verdict as v
  where l.task_id = v.task_id and v.outcome = 'requeued'
  returning l.task_id
),
ended as (
  update holdfast.attempt as a
  set state = 'lost', ended_at = now()
  from verdict as v
  where a.task_id = v.task_id and a.fencing_token = v.fencing_token
),
finished as (
  update holdfast.task as t
  set status = v.outcome, last_updated_at = greatest(now(), t.last_updated_at, v.progressed_at, v.cancel_requested_at)
  from verdict as v
  where t.id = v.task_id and v.outcome <> 'requeued'
  returning t.id, t.status
),
kept as (
  insert into holdfast.task_result (task_id, error_code, error_reference)
  select id, '${LOST}', gen_random_uuid() from finished where status = 'failed'
),
noted as (
  insert into holdfast.task_event (task_id, kind, fencing_token, detail)
  select task_id, 'task.' || outcome, fencing_token, jsonb_build_object('attempt', 'lost', 'worker', worker_id)
  from verdict
),
woken as (${wakeQuery("(select t.id, t.pool, t.root from requeued as q inner join holdfast.task as t on t.id = q.task_id)")})
select v.task_id, (select count(*) from woken) as woken
from verdict as v`,
  row: z.object({ task_id: taskIdSchema, woken: z.coerce.number() }),
});

/** Which tasks changed. */
export async function reapLeases(database: Database, limit: number): Promise<readonly TaskId[]> {
  const rows = await runStatement(database.pool, reap(z.int().positive().parse(limit)), []);
  return rows.map((row) => row.task_id);
}
