import { taskIdSchema, type AttemptRef, type KeepAnswer, type SealedValue, type TaskId } from "@holdfast/core";
import { z } from "zod";
import type { Database } from "../pool.ts";
import { runStatement, type Statement } from "../statement.ts";

/**
 * Replaces the checkpoint of the attempt's task.
 *
 * - The guard is the update of `live_task` with token and worker: an older attempt changes no row and so keeps nothing. Against a
 *   settlement or the reaper: the second one waits for the row and finds it changed, or gone.
 * - The version grows only with a checkpoint that is another one: a handler that saves where it began, and dies, stands where it stood.
 */
const SAVE: Statement<{ task_id: TaskId }> = {
  purpose: "save a checkpoint",
  prepared: true,
  text: `
with held as (
  update holdfast.live_task as l
  set checkpoint_version = l.checkpoint_version + case when exists (
    select
    from holdfast.task_checkpoint as k
    where k.task_id = l.task_id and k.value::text = $4::text and k.source_revision is not distinct from $5::text
  ) then 0 else 1 end
  where l.task_id = $1::uuid and l.fencing_token = $2::int and l.worker_id = $3::uuid
  returning l.task_id, l.fencing_token
),
kept as (
  insert into holdfast.task_checkpoint (task_id, fencing_token, value, source_revision, seal)
  select task_id, fencing_token, $4::text::json, $5::text, $6::text from held
  on conflict (task_id) do update
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

export async function saveCheckpoint(database: Database, attempt: AttemptRef, value: SealedValue): Promise<KeepAnswer> {
  const { taskId, token, workerId } = attempt;
  const rows = await runStatement(database.pool, SAVE, [taskId, token, workerId, value.text, value.sourceRevision, value.seal]);
  return rows.length === 0 ? "refused" : "kept";
}
