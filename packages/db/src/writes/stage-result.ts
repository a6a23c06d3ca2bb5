import { taskIdSchema, type AttemptRef, type KeepAnswer, type StagedResult, type TaskId } from "@holdfast/core";
import { z } from "zod";
import { artifactParameters, artifactsText, linkQuery, missingArtifact } from "../artifact-links.ts";
import type { Database } from "../pool.ts";
import { runStatement, type Statement } from "../statement.ts";

/**
 * Stores the result of an attempt before it is published (contract 6.1), under the guard of a checkpoint (`saveCheckpoint`). The status of
 * the task decides who sees it; a task that is still open has no other row here than a staged one, which the newer replaces.
 *
 * The artifacts are linked now: a result that was taken over from an earlier read names artifacts that no attempt of this task stored,
 * and the sweep may take them once that read has expired. If it was quicker, the foreign key says so and nothing is staged.
 */
const STAGE: Statement<{ task_id: TaskId }> = {
  purpose: "stage a result",
  prepared: true,
  text: `
with held as (
  update holdfast.live_task as l
  set checkpoint_version = l.checkpoint_version + 1
  where l.task_id = $1::uuid and l.fencing_token = $2::int and l.worker_id = $3::uuid
  returning l.task_id
),
staged as (
  insert into holdfast.task_result (task_id, result, source_revision, seal, artifacts)
  select task_id, $4::text::json, $5::text, $6::text, $7::json from held
  on conflict (task_id) do update
  set
    result = excluded.result,
    source_revision = excluded.source_revision,
    seal = excluded.seal,
    artifacts = excluded.artifacts,
    created_at = default
),
linked as (
  ${linkQuery("(select t.id, t.workspace_id from held as h inner join holdfast.task as t on t.id = h.task_id)", "$8", "$9")}
)
select task_id from held`,
  row: z.object({ task_id: taskIdSchema }),
};

/** Rejects with "operation_output_invalid" when an artifact is not stored, or not any more. */
export async function stageResult(database: Database, attempt: AttemptRef, result: Omit<StagedResult, "taskId">): Promise<KeepAnswer> {
  const { taskId, token, workerId } = attempt;
  const { text, sourceRevision, seal, artifacts } = result;
  const values = [taskId, token, workerId, text, sourceRevision, seal, artifactsText(artifacts), ...artifactParameters(artifacts)];
  try {
    const rows = await runStatement(database.pool, STAGE, values);
    return rows.length === 0 ? "refused" : "kept";
  } catch (error) {
    throw missingArtifact(error, taskId);
  }
}
