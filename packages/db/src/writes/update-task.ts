import { isStorableText, type InputAnswer, type Task, type TaskRef } from "@holdfast/core";
import { z } from "zod";
import { principalParameters } from "../grant-predicate.ts";
import { ownTaskQuery } from "../own-task-query.ts";
import type { Database } from "../pool.ts";
import { findSubmittedTask } from "../reads/find-task.ts";
import { runStatement, type Statement } from "../statement.ts";
import { wakeQuery } from "../wake-query.ts";

const rowSchema = z.object({ woken: z.coerce.number() });

/**
 * Takes the answers that fit open questions of a parked task; the last one queues the task again (contract 9.2).
 *
 * - Two nodes at once: the second waits for the lock on `live_task`. Its snapshot still shows as open what the first one has answered, so
 *   the questions are locked too, which reads them as they are now: each key is answered once, and whoever answers the last of them sees
 *   that it is the last. If it was the first one, the task is parked no more and the second changes nothing.
 * - Against the settlement that parks the task: before it, no answer can be taken, since its questions are nobody's to know. A statement
 *   that waited for it finds the task parked and not one of the new questions in its snapshot; it takes nothing, and without an answer
 *   that is taken no task goes on.
 * - Only a parked task has open questions, and all of them come from one settlement: a snapshot shows all or none of them.
 * - Against a cancellation: whichever comes second finds no row, or a queued task.
 * - The budget is nobody's business here: waiting costs nothing.
 */
const UPDATE: Statement<z.infer<typeof rowSchema>> = {
  purpose: "take answers",
  prepared: true,
  text: `
with held as (${ownTaskQuery("l.task_id, l.progressed_at, t.pool, t.root")}),
asked as (
  select i.task_id, i.key, i.method
  from held as h
  inner join holdfast.task_input as i on i.task_id = h.task_id
  where i.answer is null
  order by i.key
  for update of i
),
given as (
  select distinct on (q.key) q.task_id, q.key, g.answer
  from asked as q
  inner join rows from (unnest($5::text[], $6::text[]), json_array_elements($7::json))
    with ordinality as g (key, method, answer, position) on g.key = q.key and g.method = q.method
  order by q.key, g.position
),
taken as (
  update holdfast.task_input as i
  set answer = g.answer, answered_at = now()
  from given as g
  where i.task_id = g.task_id and i.key = g.key
  returning i.task_id, i.key
),
counted as (
  select h.*, (select count(*) from asked) = (select count(*) from taken) as is_last
  from held as h
  where (select count(*) from taken) > 0
),
resumed as (
  update holdfast.live_task as l
  set parked = false, wake_at = default
  from counted as c
  where l.task_id = c.task_id and c.is_last
  returning l.task_id
),
restated as (
  update holdfast.task as t
  set
    status = case when c.is_last then 'working' else t.status end,
    last_updated_at = greatest(now(), t.last_updated_at, c.progressed_at)
  from counted as c
  where t.id = c.task_id
),
noted as (
  insert into holdfast.task_event (task_id, kind, detail)
  select c.task_id, e.kind, e.detail
  from counted as c
  cross join lateral (
    select 'input.answered' as kind, jsonb_build_object('keys', (select jsonb_agg(key order by key) from taken)) as detail
    union all
    select 'task.resumed', null where c.is_last
  ) as e
),
woken as (${wakeQuery("(select c.task_id as id, c.pool, c.root from resumed as r inner join counted as c on c.task_id = r.task_id)")})
select (select count(*) from woken) as woken
from counted`,
  row: rowSchema,
};

/** The task as it is afterwards, or null when this principal may not answer it. */
export async function updateTask(database: Database, ref: TaskRef, answers: readonly InputAnswer[]): Promise<Task | null> {
  const principal = principalParameters(ref.principal);
  if (principal === null) return null;
  // A key that Postgres cannot keep was never asked for, and must not reach the driver, which would make another key of it.
  const known = answers.filter(({ key }) => isStorableText(key));
  if (known.length > 0) {
    await runStatement(database.pool, UPDATE, [
      ref.id,
      ...principal,
      known.map(({ key }) => key),
      known.map(({ method }) => method),
      JSON.stringify(known.map(({ answer }) => answer)),
    ]);
  }
  return await findSubmittedTask(database, ref);
}
