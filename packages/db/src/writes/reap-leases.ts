import { MAX_REPLACEMENTS, taskIdSchema, type ErrorCode, type TaskId } from "@holdfast/core";
import { z } from "zod";
import type { Database } from "../pool.ts";
import { runStatement, type Statement } from "../statement.ts";
import { VERDICT_QUERIES } from "../verdict-queries.ts";

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
    end as outcome,
    1 as cost
  from dead as d
),
${VERDICT_QUERIES},
ended as (
  update holdfast.attempt as a
  set state = 'lost', ended_at = now()
  from verdict as v
  where a.task_id = v.task_id and a.fencing_token = v.fencing_token
),
kept as (
  insert into holdfast.task_result (task_id, error_code, error_reference)
  select id, '${LOST}', gen_random_uuid() from finished where status = 'failed'
),
noted as (
  insert into holdfast.task_event (task_id, kind, fencing_token, detail)
  select task_id, 'task.' || outcome, fencing_token, jsonb_build_object('attempt', 'lost', 'worker', worker_id)
  from verdict
)
select v.task_id, (select count(*) from woken) as woken
from verdict as v`,
  row: z.object({ task_id: taskIdSchema, woken: z.coerce.number() }),
});

/** Which tasks changed. */
export async function reapLeases(database: Database, limit: number): Promise<readonly TaskId[]> {
  const rows = await runStatement(database.pool, reap(z.int().positive().parse(limit)), []);
  return rows.map((row) => row.task_id);
}
