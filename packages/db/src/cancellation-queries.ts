import { AppError, type TaskRef } from "@holdfast/core";
import { z } from "zod";
import { principalParameters } from "./grant-predicate.ts";
import { ownTaskQuery } from "./own-task-query.ts";
import type { Database } from "./pool.ts";
import { runStatement, type Statement } from "./statement.ts";
import { DEATH_QUERIES, HELD_COLUMNS, TTL_AT_END } from "./verdict-queries.ts";

/**
 * What goes with tasks that are cancelled without an attempt: open questions, a staged result and the bytes of a restored plan. The
 * statement around it has a query `closed` with their `task_id`.
 */
export const LEFT_BEHIND_QUERIES = `
unasked as (
  delete from holdfast.task_input as i
  using closed as c
  where i.task_id = c.task_id and i.answer is null
),
unstaged as (
  delete from holdfast.task_result as r
  using closed as c
  where r.task_id = c.task_id
),
emptied as (
  update holdfast.journal_file as f
  set before_bytes = null, after_bytes = null
  from closed as c
  where f.task_id = c.task_id
)`;

const rowSchema = z.object({ is_stale: z.boolean() });

/**
 * A statement that cancels an open task of a principal, or wishes it, where `isUnwanted` holds: SQL over its row `l` of `live_task`, judged
 * under the lock. `queries` may read `decided` and `stale`, and `held` with that condition as `is_unwanted`.
 *
 * - An attempt that runs learns of the wish at its next heartbeat.
 * - Without one, the task is cancelled here and now, parked or not (contract 8.2), with what it has left behind. Only where the journal
 *   says that files are changed, or may be, it stays a wish: the next attempt finds it and reports what really happened (contract 8.4).
 *   No parked task has such a journal, so that attempt comes.
 * - The address of a read goes with the wish, so that nobody joins what is about to stop.
 * - An attempt may have left something after this statement took its snapshot and before it had the lock. Such a row is in `stale`: it is
 *   not changed, and the statement is to be repeated.
 */
export function cancellationStatement(of: { purpose: string; isUnwanted: string; queries?: string }): Statement<z.infer<typeof rowSchema>> {
  return {
    purpose: of.purpose,
    prepared: true,
    text: `
with held as (${ownTaskQuery(`${HELD_COLUMNS}, ${of.isUnwanted} as is_unwanted`)}),
${DEATH_QUERIES},
stale as (
  select task_id from judged where worker_id is null and is_stale
),
decided as (
  select j.*, j.worker_id is null and not j.is_bound as is_over
  from judged as j
  where j.is_unwanted and j.task_id not in (select task_id from stale)
),
wished as (
  update holdfast.live_task as l
  set cancel_requested_at = now(), content_address = null
  from decided as d
  where l.task_id = d.task_id and not d.is_over and d.cancel_requested_at is null
  returning l.task_id
),
closed as (
  delete from holdfast.live_task as l
  using decided as d
  where l.task_id = d.task_id and d.is_over
  returning l.task_id
),
finished as (
  update holdfast.task as t
  set
    status = 'cancelled',
    ttl_ms = ${TTL_AT_END},
    last_updated_at = greatest(now(), t.last_updated_at, d.progressed_at, d.cancel_requested_at)
  from decided as d
  inner join closed as c on c.task_id = d.task_id
  where t.id = d.task_id
),
${LEFT_BEHIND_QUERIES},
noted as (
  insert into holdfast.task_event (task_id, kind, fencing_token, detail)
  select e.task_id, e.kind, e.fencing_token, jsonb_build_object('issuer', $2::text, 'subject', $3::text)
  from (
    select task_id, 'task.cancelled' as kind, null::int as fencing_token from closed
    union all
    select d.task_id, 'task.cancelRequested', d.fencing_token from wished as w inner join decided as d on d.task_id = w.task_id
  ) as e
)
${of.queries ?? ""}
select exists (select from stale) as is_stale`,
    row: rowSchema,
  };
}

/** A row is stale when an attempt ends in this very moment: rarely once, and again only if the next attempt does so too. */
const MAX_TRIES = 5;

/** Carries it out, as often as it takes to see what it decides about. */
export async function cancelUnwanted(database: Database, statement: Statement<z.infer<typeof rowSchema>>, ref: TaskRef): Promise<void> {
  const principal = principalParameters(ref.principal);
  if (principal === null) return;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const [row] = await runStatement(database.pool, statement, [ref.id, ...principal]);
    if (row?.is_stale !== true) return;
  }
  throw new AppError("overloaded", `could not ${statement.purpose}: attempts of task ${ref.id} ended all the time`);
}
