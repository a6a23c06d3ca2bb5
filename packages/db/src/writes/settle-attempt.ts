import { AppError, JOURNAL_STATES, type AttemptRef, type Settlement, type SettlementAnswer } from "@holdfast/core";
import { z } from "zod";
import { artifactParameters, linkQuery, missingArtifact } from "../artifact-links.ts";
import type { Database } from "../pool.ts";
import { quoteText, runStatement, type Statement } from "../statement.ts";
import { brokenConstraint } from "../storage-error.ts";
import { DEATH_QUERIES, ENDING_QUERIES, HELD_COLUMNS, REPLACE_STAGED, VERDICT_QUERIES } from "../verdict-queries.ts";

const HELD = `
held as (
  select ${HELD_COLUMNS}
  from holdfast.live_task as l
  where l.task_id = $1::uuid and l.fencing_token = $2::int and l.worker_id = $3::uuid
  for update
),
${DEATH_QUERIES}`;

const rowSchema = z.object({
  obstacle: z.enum(["stale", "unstaged", "journal"]).nullable(),
  journal: z.enum(JOURNAL_STATES).nullable(),
  outcome: z.enum(["completed", "failed", "cancelled", "requeued", "parked"]).nullable(),
  woken: z.coerce.number(),
});
type SettledRow = z.infer<typeof rowSchema>;

/**
 * For "completed" and "published", without the queries that only other endings need: results are by far the most, and each query costs
 * time though it finds nothing.
 */
const SUCCEED: Statement<SettledRow> = {
  purpose: "settle an attempt with a result",
  prepared: true,
  text: `
with ${HELD},
ruled as (
  select
    j.*,
    case
      when j.is_stale then 'stale'
      when $4::text = 'published' and not j.is_staged then 'unstaged'
      when j.is_open or j.journal = 'unresolved' then 'journal'
    end as obstacle
  from judged as j
),
verdict as (
  select r.*, 'completed' as outcome from ruled as r where r.obstacle is null
),
${ENDING_QUERIES},
ended as (
  update holdfast.attempt as a
  set state = 'succeeded', ended_at = now()
  from verdict as v
  where a.task_id = v.task_id and a.fencing_token = $2::int
),
kept as (
  insert into holdfast.task_result (task_id, result)
  select v.task_id, $5::json from verdict as v where $4::text = 'completed'
  ${REPLACE_STAGED}
),
linked as (${linkQuery("restated", "$6", "$7")}),
noted as (
  insert into holdfast.task_event (task_id, kind, fencing_token, detail)
  select v.task_id, 'task.completed', $2::int, jsonb_build_object('attempt', $4::text) from verdict as v
)
select r.obstacle, r.journal, v.outcome, 0 as woken
from ruled as r
left join verdict as v on v.task_id = r.task_id`,
  row: rowSchema,
};

/** For every other ending. */
const END: Statement<SettledRow> = {
  purpose: "settle an attempt without a result",
  prepared: true,
  text: `
with ${HELD},
ruled as (
  select
    j.*,
    case
      when j.is_stale then 'stale'
      when $4::text in ('cancelled', 'suspended') and (j.is_bound or j.journal = 'unresolved') then 'journal'
      when $4::text = 'failed' and not $5::boolean and (j.is_bound or j.journal = 'unresolved' and $6::text <> 'write_unresolved')
        then 'journal'
    end as obstacle
  from judged as j
),
verdict as (
  select
    r.*,
    case
      when $4::text = 'cancelled' then 'cancelled'
      when $4::text = 'failed' then case when $5::boolean then r.fate else 'failed' end
      when r.journal = 'unresolved' then 'failed'
      when r.cancel_requested_at is not null and not r.is_bound then 'cancelled'
      when $4::text = 'suspended' then 'parked'
      else 'requeued'
    end as outcome,
    case when $4::text = 'failed' and not $5::boolean then $6::text else coalesce(r.fate_code, $6::text) end as code,
    case when $4::text = 'failed' and not r.fate_is_free then 1 else 0 end as cost
  from ruled as r
  where r.obstacle is null
),
${VERDICT_QUERIES},
ended as (
  update holdfast.attempt as a
  set state = $4::text, ended_at = now(), error_code = $6::text, error_detail = $8::json
  from verdict as v
  where a.task_id = v.task_id and a.fencing_token = $2::int
),
kept as (
  insert into holdfast.task_result (task_id, error_code, error_reference)
  select v.task_id, v.code, coalesce($7::uuid, gen_random_uuid()) from verdict as v where v.outcome = 'failed'
  ${REPLACE_STAGED}
),
asked as (
  insert into holdfast.task_input (task_id, key, method, params)
  select v.task_id, q.key, q.method, q.params
  from verdict as v
  cross join rows from (unnest($9::text[], $10::text[]), json_array_elements($11::json)) as q (key, method, params)
  where v.outcome = 'parked'
),
noted as (
  insert into holdfast.task_event (task_id, kind, fencing_token, detail)
  select
    v.task_id, 'task.' || v.outcome, $2::int,
    jsonb_strip_nulls(
      jsonb_build_object('attempt', $4::text, 'error', case when v.outcome = 'failed' then v.code else $6::text end)
    )
  from verdict as v
)
select r.obstacle, r.journal, v.outcome, (select count(*) from woken) as woken
from ruled as r
left join verdict as v on v.task_id = r.task_id`,
  row: rowSchema,
};

/** How often it is tried again because the attempt itself was still writing: each time, one of a few writes has come to its end. */
const MAX_STALE = 5;

/**
 * Ends an attempt and decides what becomes of its task, in one statement.
 *
 * - The guard is the lock on `live_task` with token and worker: whoever was paused past its lease finds another token, no worker,
 *   or no row, and nothing at all is written.
 * - Settlement against reaping, and settlement against itself: the second one waits for the row, finds it changed or gone, and is
 *   refused. So a task has one terminal status and one terminal event.
 * - A cancellation that came first turns every ending that would go on later into "cancelled"; a result or a final failure stands as
 *   what really happened (contract 8.3, 8.4). A cancellation that comes second finds a parked task, and ends it.
 * - An interrupted attempt leaves the budget as it was; a failed one that may be retried spends one.
 * - Endings that the journal of a write contradicts are an obstacle and change nothing. Against a bind of the same attempt that is still
 *   under way, its connection lost: the settlement waits for it, is `stale`, and is tried again with the plan in sight.
 *
 * Rejects with "operation_output_invalid" for a result that names an artifact which is not stored and for questions that cannot be
 * asked, and with "internal" for an ending that contradicts the journal or publishes nothing; nothing is settled then.
 */
export async function settleAttempt(database: Database, attempt: AttemptRef, settlement: Settlement): Promise<SettlementAnswer> {
  const { taskId } = attempt;
  const { kind } = settlement;
  if (kind === "suspended" && Object.keys(settlement.requests).length === 0)
    throw new AppError("operation_output_invalid", `task ${taskId} would wait for an answer to no question`);
  for (let tries = 0; tries < MAX_STALE; tries += 1) {
    const row = await settleOnce(database, attempt, settlement);
    if (row === undefined) return "refused";
    switch (row.obstacle) {
      case "stale":
        continue;
      case "unstaged":
        throw new AppError("internal", `task ${taskId} cannot be published: nothing is staged`);
      case "journal":
        throw new AppError("internal", `task ${taskId} cannot end as ${kind}: its journal stands at ${row.journal}`);
      case null:
        return row.outcome ?? "refused";
    }
  }
  throw new AppError("storage_unavailable", `task ${taskId} was written to by its own attempt whenever it was to be settled`);
}

async function settleOnce(database: Database, attempt: AttemptRef, settlement: Settlement): Promise<SettledRow | undefined> {
  const { taskId, token, workerId } = attempt;
  const who = [taskId, token, workerId, settlement.kind];
  try {
    const [row] =
      settlement.kind === "completed" || settlement.kind === "published"
        ? await runStatement(database.reserved, SUCCEED, [...who, ...resultParameters(settlement)])
        : await runStatement(database.reserved, END, [...who, ...endParameters(settlement)]);
    return row;
  } catch (error) {
    if (brokenConstraint(error) === "task_input_pkey")
      throw new AppError("operation_output_invalid", `task ${taskId} asked under a key that was used before`, { cause: error });
    throw missingArtifact(error, taskId);
  }
}

type Success = Extract<Settlement, { kind: "completed" | "published" }>;

function resultParameters(settlement: Success): readonly unknown[] {
  // Published is what is there, linked when it was staged.
  if (settlement.kind === "published") return [null, ...artifactParameters([])];
  // Exactly this text comes back: JSON.stringify escapes what Postgres could not keep, and `json` keeps its input.
  return [JSON.stringify(settlement.result), ...artifactParameters(settlement.artifacts)];
}

function endParameters(settlement: Exclude<Settlement, Success>): readonly unknown[] {
  const { kind } = settlement;
  const failure = kind === "failed" ? settlement : null;
  const requests = Object.entries(kind === "suspended" ? settlement.requests : {});
  return [
    failure?.retry ?? false,
    failure?.code ?? null,
    failure?.reference ?? null,
    quoteText(kind === "failed" || kind === "interrupted" ? settlement.detail : null),
    requests.map(([key]) => key),
    requests.map(([, { method }]) => method),
    JSON.stringify(requests.map(([, { params }]) => params)),
  ];
}
