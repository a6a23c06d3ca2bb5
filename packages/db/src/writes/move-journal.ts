import { OPEN_JOURNAL_STATES, type AttemptRef, type MoveAnswer, type WriteJournal } from "@holdfast/core";
import { z } from "zod";
import { grantPredicate } from "../grant-predicate.ts";
import type { Database } from "../pool.ts";
import { quoteText, runStatement, type Statement } from "../statement.ts";

const OPEN = OPEN_JOURNAL_STATES.map((state) => `'${state}'`).join(", ");

/**
 * Moves the journal of the attempt's task on.
 *
 * - The guard is the lock on `live_task` with token and worker, then the one on the entry with the states it may come from. A stale
 *   attempt holds neither (contract 7.4), and one that was paused in the middle of a plan learns it before it replaces the next file.
 * - Against another move of the same attempt, whose answer was lost: the second waits, and finds what the first has done.
 * - What is decided stays decided, whatever the caller takes it for.
 * - A plan may have waited for another attempt since it was bound, so the owner's grant to write is asked for once more before its first file
 *   changes (contract 2.6). After that it comes to an end in any case.
 */
const MOVE: Statement<{ answer: Exclude<MoveAnswer, "refused"> }> = {
  purpose: "move a journal",
  prepared: true,
  text: `
with held as (
  select l.task_id
  from holdfast.live_task as l
  where l.task_id = $1::uuid and l.fencing_token = $2::int and l.worker_id = $3::uuid
  for update
),
stood as (
  select j.task_id, j.state, j.fencing_token
  from holdfast.journal_entry as j
  inner join held as h on h.task_id = j.task_id
  for update of j
),
reachable as (
  select s.*
  from stood as s
  where s.state = any($4::text[])
      and (s.state = $5::text or s.state in (${OPEN}) or s.state = 'committed' and $5::text = 'unresolved')
    or s.state = $5::text and s.fencing_token = $2::int
),
movable as (
  select r.*
  from reachable as r
  inner join holdfast.task as t on t.id = r.task_id
  where r.state <> 'planned' or $5::text <> 'applying' or ${grantPredicate({
    workspaceId: "t.workspace_id",
    issuer: "t.issuer",
    subject: "t.subject",
    groups: "t.groups",
    action: "'write'",
  })}
),
moved as (
  update holdfast.journal_entry as j
  set
    state = $5::text,
    fencing_token = $2::int,
    detail = coalesce($6::json, j.detail),
    recoveries = j.recoveries + case when $7::boolean and m.fencing_token <> $2::int then 1 else 0 end,
    moved_at = now()
  from movable as m
  where j.task_id = m.task_id
  returning j.task_id
),
noted as (
  insert into holdfast.task_event (task_id, kind, fencing_token, detail)
  select task_id, 'journal.' || $5::text, $2::int, jsonb_build_object('from', state, 'recovered', $7::boolean)
  from movable
  where state <> $5::text
)
select case when m.task_id is null then 'denied' else 'moved' end as answer
from reachable as r
left join moved as m on m.task_id = r.task_id`,
  row: z.object({ answer: z.enum(["moved", "denied"]) }),
};

type Move = Parameters<WriteJournal["move"]>[1];

export async function moveJournal(database: Database, attempt: AttemptRef, step: Move): Promise<MoveAnswer> {
  const { taskId, token, workerId } = attempt;
  const values = [taskId, token, workerId, step.from, step.to, quoteText(step.detail ?? null), step.recovered ?? false];
  const [row] = await runStatement(database.pool, MOVE, values);
  return row?.answer ?? "refused";
}
