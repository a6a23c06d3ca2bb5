import { taskIdSchema, type AttemptRef, type KeepAnswer, type SealedStep, type TaskId } from "@holdfast/core";
import { z } from "zod";
import type { Database } from "../pool.ts";
import { runStatement, type Statement } from "../statement.ts";

/**
 * Keeps the value of a step, under the guard of a checkpoint (`saveCheckpoint`). A step that is done again from other files replaces its
 * value; with the value that it had, the next attempt begins where this one did.
 */
const SAVE: Statement<{ task_id: TaskId }> = {
  purpose: "save a step",
  prepared: true,
  text: `
with held as (
  update holdfast.live_task as l
  set checkpoint_version = l.checkpoint_version + case when exists (
    select
    from holdfast.task_step as k
    where k.task_id = l.task_id and k.key = $4::text and k.value::text = $5::text and k.source_revision is not distinct from $6::text
  ) then 0 else 1 end
  where l.task_id = $1::uuid and l.fencing_token = $2::int and l.worker_id = $3::uuid
  returning l.task_id, l.fencing_token
),
kept as (
  insert into holdfast.task_step (task_id, key, fencing_token, value, source_revision, seal)
  select task_id, $4::text, fencing_token, $5::text::json, $6::text, $7::text from held
  on conflict (task_id, key) do update
  set
    fencing_token = excluded.fencing_token,
    value = excluded.value,
    source_revision = excluded.source_revision,
    seal = excluded.seal,
    saved_at = default
)
select task_id from held`,
  row: z.object({ task_id: taskIdSchema }),
};

export async function saveStep(database: Database, attempt: AttemptRef, step: SealedStep): Promise<KeepAnswer> {
  const { taskId, token, workerId } = attempt;
  const values = [taskId, token, workerId, step.key, step.text, step.sourceRevision, step.seal];
  const rows = await runStatement(database.pool, SAVE, values);
  return rows.length === 0 ? "refused" : "kept";
}
