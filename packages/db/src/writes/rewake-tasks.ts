import { OPEN_JOURNAL_STATES, taskIdSchema, type TaskId } from "@holdfast/core";
import { z } from "zod";
import type { Database } from "../pool.ts";
import { runStatement, type Statement } from "../statement.ts";
import { wakeQuery } from "../wake-query.ts";

const OPEN = OPEN_JOURNAL_STATES.map((state) => `'${state}'`).join(", ");

/**
 * Adds a job again for queued tasks whose wake seems lost, oldest first, at most `limit`.
 *
 * - It starts from `live_task`: with every row of the queue deleted, all work is still found.
 * - A job that can be fetched now is left alone, so a long backlog is not rewritten over and over. A job that is locked is no
 *   reason to wait, because its worker may be dead for hours: `add_jobs` takes the key from it and inserts a new one. If that
 *   worker lives, it and the new wake meet at the claim, where one of them wins.
 * - A parked task is nobody's to claim, and its last answer adds a job itself.
 * - Many re-wakers at once: `skip locked` and the pushed `wake_at` give each task to one of them.
 */
const rewakeStatement = (limit: number): Statement<{ id: TaskId; woken: number }> => ({
  purpose: "wake tasks again",
  prepared: false,
  text: `
with due as (
  select l.task_id
  from holdfast.live_task as l
  where l.worker_id is null and not l.parked and l.wake_at <= now()
  order by l.wake_at
  limit ${limit}
  for update skip locked
),
pushed as (
  update holdfast.live_task as l
  set wake_at = now() + $1::double precision * interval '1 millisecond'
  from due as d
  where l.task_id = d.task_id
  returning l.task_id
),
asleep as (
  select t.id, t.pool, t.root, j.task_id is not null as is_open
  from pushed as p
  inner join holdfast.task as t on t.id = p.task_id
  left join holdfast.journal_entry as j on j.task_id = t.id and j.state in (${OPEN})
  where not exists (
    select 1
    from graphile_worker.jobs as j
    where j.key = t.id::text and j.locked_at is null and j.attempts < j.max_attempts and j.run_at <= now()
  )
),
woken as (${wakeQuery("asleep", "t.is_open")})
select a.id, (select count(*) from woken) as woken
from asleep as a`,
  row: z.object({ id: taskIdSchema, woken: z.coerce.number() }),
});

/** Says which tasks got a job. `afterMs`: how long from now until a task that stays queued is looked at again. */
export async function rewake(
  database: Database,
  options: { readonly limit: number; readonly afterMs: number },
): Promise<readonly TaskId[]> {
  const rows = await runStatement(database.pool, rewakeStatement(z.int().positive().parse(options.limit)), [options.afterMs]);
  return rows.map((row) => row.id);
}
