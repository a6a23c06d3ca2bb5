import { taskIdSchema, type ErrorCode, type TaskId } from "@holdfast/core";
import { z } from "zod";
import type { Database } from "../pool.ts";
import { runStatement, type Statement } from "../statement.ts";
import { DEATH_QUERIES, HELD_COLUMNS, REPLACE_STAGED, VERDICT_QUERIES } from "../verdict-queries.ts";

const LOST: ErrorCode = "worker_lost";

/**
 * Turns attempts whose lease has expired into lost ones, at most `limit`, and decides what becomes of their tasks.
 *
 * - Reap against renewal and settlement: the expiry is judged again under the row's lock, so a heartbeat that committed in
 *   between keeps its lease and a settlement stands. A row that somebody holds at the moment is left for the next round, and so is
 *   one whose attempt has left something in between.
 * - Many reapers at once: `skip locked` gives each row to one of them. A reaper that dies leaves nothing half done.
 * - It reads leases, not jobs, and adds a fresh job: graphile-worker's own lock of a dead worker never delays a task.
 */
const reap = (limit: number): Statement<{ task_id: TaskId; woken: number }> => ({
  purpose: "reap leases",
  prepared: false,
  text: `
with held as (
  select ${HELD_COLUMNS}
  from holdfast.live_task as l
  where l.worker_id is not null and l.lease_expires_at < now()
  order by l.lease_expires_at, l.task_id
  limit ${limit}
  for update skip locked
),
${DEATH_QUERIES},
verdict as (
  select j.*, j.fate as outcome, coalesce(j.fate_code, '${LOST}') as code, case when j.fate_is_free then 0 else 1 end as cost
  from judged as j
  where not j.is_stale
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
  select task_id, code, gen_random_uuid() from verdict where outcome = 'failed'
  ${REPLACE_STAGED}
),
noted as (
  insert into holdfast.task_event (task_id, kind, fencing_token, detail)
  select
    task_id, 'task.' || outcome, fencing_token,
    jsonb_strip_nulls(
      jsonb_build_object('attempt', 'lost', 'worker', worker_id, 'error', case when outcome = 'failed' then code end)
    )
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
