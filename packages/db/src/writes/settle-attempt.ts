import { AppError, MAX_REPLACEMENTS, type AttemptRef, type Settlement, type SettlementAnswer } from "@holdfast/core";
import { z } from "zod";
import type { Database } from "../pool.ts";
import { quoteText, runStatement, type Statement } from "../statement.ts";
import { brokenConstraint } from "../storage-error.ts";
import { VERDICT_QUERIES } from "../verdict-queries.ts";

/**
 * Ends an attempt and decides what becomes of its task, in one statement.
 *
 * - The guard is the lock on `live_task` with token and worker: whoever was paused past its lease finds another token, no worker,
 *   or no row, and nothing at all is written.
 * - Settlement against reaping, and settlement against itself: the second one waits for the row, finds it changed or gone, and is
 *   refused. So a task has one terminal status and one terminal event.
 * - A cancellation that came first turns every ending that would start another attempt into "cancelled"; a result or a final
 *   failure stands as what really happened (contract 8.3, 8.4).
 * - An interrupted attempt leaves the budget as it was; a failed one that may be retried spends one.
 */
const SETTLE: Statement<SettledRow> = {
  purpose: "settle an attempt",
  prepared: true,
  text: `
with held as (
  select l.task_id, l.budget_spent, l.cancel_requested_at, l.progressed_at
  from holdfast.live_task as l
  where l.task_id = $1::uuid and l.fencing_token = $2::int and l.worker_id = $3::uuid
  for update
),
verdict as (
  select
    h.*,
    case
      when $4::text = 'completed' then 'completed'
      when $4::text = 'cancelled' then 'cancelled'
      when $4::text = 'failed' and not $5::boolean then 'failed'
      when h.cancel_requested_at is not null then 'cancelled'
      when $4::text = 'interrupted' then 'requeued'
      when h.budget_spent < ${MAX_REPLACEMENTS} then 'requeued'
      else 'failed'
    end as outcome,
    case when $4::text = 'failed' then 1 else 0 end as cost
  from held as h
),
${VERDICT_QUERIES},
ended as (
  update holdfast.attempt as a
  set
    state = case when $4::text = 'completed' then 'succeeded' else $4::text end,
    ended_at = now(),
    error_code = $7::text,
    error_detail = $9::json
  from verdict as v
  where a.task_id = v.task_id and a.fencing_token = $2::int
),
kept as (
  insert into holdfast.task_result (task_id, result, error_code, error_reference)
  select
    id,
    case when status = 'completed' then $6::json end,
    case when status = 'failed' then $7::text end,
    case when status = 'failed' then $8::uuid end
  from finished
  where status in ('completed', 'failed')
),
linked as (
  insert into holdfast.task_artifact (task_id, workspace_id, sha256, name)
  select f.id, f.workspace_id, decode(s.sha256, 'hex'), s.name
  from finished as f
  cross join unnest($10::text[], $11::text[]) as s (sha256, name)
  where f.status = 'completed'
  on conflict do nothing
),
noted as (
  insert into holdfast.task_event (task_id, kind, fencing_token, detail)
  select v.task_id, 'task.' || v.outcome, $2::int, jsonb_strip_nulls(jsonb_build_object('attempt', $4::text, 'error', $7::text))
  from verdict as v
)
select v.outcome, (select count(*) from woken) as woken
from verdict as v`,
  row: z.object({ outcome: z.enum(["completed", "failed", "cancelled", "requeued"]), woken: z.coerce.number() }),
};

interface SettledRow {
  readonly outcome: Exclude<SettlementAnswer, "refused">;
  readonly woken: number;
}

/** Rejects with "operation_output_invalid" for a result that names an artifact which was never stored; nothing is settled then. */
export async function settleAttempt(database: Database, attempt: AttemptRef, settlement: Settlement): Promise<SettlementAnswer> {
  try {
    const [row] = await runStatement(database.reserved, SETTLE, parametersOf(attempt, settlement));
    return row?.outcome ?? "refused";
  } catch (error) {
    if (brokenConstraint(error)?.startsWith("task_artifact_") !== true) throw error;
    throw new AppError("operation_output_invalid", `task ${attempt.taskId} completed with an artifact that was never stored`, {
      cause: error,
    });
  }
}

function parametersOf({ taskId, token, workerId }: AttemptRef, settlement: Settlement): readonly unknown[] {
  const { kind } = settlement;
  const failure = kind === "failed" ? settlement : null;
  const artifacts = kind === "completed" ? settlement.artifacts : [];
  return [
    taskId,
    token,
    workerId,
    kind,
    failure?.retry ?? false,
    // Exactly this text comes back: JSON.stringify escapes what Postgres could not keep, and `json` keeps its input.
    kind === "completed" ? JSON.stringify(settlement.result) : null,
    failure?.code ?? null,
    failure?.reference ?? null,
    quoteText(kind === "failed" || kind === "interrupted" ? settlement.detail : null),
    artifacts.map(({ sha256 }) => sha256),
    artifacts.map(({ name }) => name),
  ];
}
