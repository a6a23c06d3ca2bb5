import { taskIdSchema, type TaskId } from "@holdfast/core";
import { z } from "zod";
import { LEFT_BEHIND_QUERIES } from "../cancellation-queries.ts";
import type { Database } from "../pool.ts";
import { runStatement, type Statement } from "../statement.ts";
import { TTL_AT_END } from "../verdict-queries.ts";

/**
 * Cancels tasks that have waited for their client's answers for the whole time that their results would have been kept, at most `limit`.
 * An ordinary call gets no handle: if its client never comes back with the answers, nobody else knows the task. So everything that a
 * parked task needs goes with it, and nothing is parked for ever (contract 9.4).
 *
 * - Against an answer: it wants the same lock on `live_task`. If it came first, the task is not parked or has just changed, which is
 *   judged again with both rows locked; if it comes second, it finds no row and is ignored.
 * - On all nodes at once: `skip locked` gives each task to one of them.
 * - A parked task has no attempt, and no plan of it is under way.
 */
const endUnansweredStatement = (limit: number): Statement<{ task_id: TaskId }> => ({
  purpose: "end unanswered tasks",
  prepared: false,
  text: `
with due as (
  select l.task_id
  from holdfast.live_task as l
  inner join holdfast.task as t on t.id = l.task_id
  where l.parked and t.last_updated_at + t.ttl_ms * interval '1 millisecond' < now()
  order by l.task_id
  limit ${limit}
  for update of l, t skip locked
),
closed as (
  delete from holdfast.live_task as l
  using due as d
  where l.task_id = d.task_id and l.parked
  returning l.task_id
),
finished as (
  update holdfast.task as t
  set status = 'cancelled', ttl_ms = ${TTL_AT_END}, last_updated_at = now()
  from closed as c
  where t.id = c.task_id
),
${LEFT_BEHIND_QUERIES},
noted as (
  insert into holdfast.task_event (task_id, kind, detail)
  select c.task_id, 'task.cancelled', jsonb_build_object('reason', 'unanswered')
  from closed as c
)
select task_id from closed`,
  row: z.object({ task_id: taskIdSchema }),
});

/** Says which tasks ended. */
export async function endUnanswered(database: Database, limit: number): Promise<readonly TaskId[]> {
  const rows = await runStatement(database.pool, endUnansweredStatement(z.int().positive().parse(limit)), []);
  return rows.map((row) => row.task_id);
}
