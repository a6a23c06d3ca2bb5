import { taskIdSchema, type AttemptRef, type KeepAnswer, type TaskId } from "@holdfast/core";
import { z } from "zod";
import type { Database } from "../pool.ts";
import { runStatement, type Statement } from "../statement.ts";

/**
 * Removes what is staged for the attempt's task. The guard is the lock on `live_task` with token and worker, so that a stale attempt takes
 * nothing away from the one after it. The version does not grow: nothing was left for the next attempt. An ending that waited for the lock
 * still sees the result in its snapshot, and replaces the attempt once more.
 */
const UNSTAGE: Statement<{ task_id: TaskId }> = {
  purpose: "unstage a result",
  prepared: true,
  text: `
with held as (
  select l.task_id
  from holdfast.live_task as l
  where l.task_id = $1::uuid and l.fencing_token = $2::int and l.worker_id = $3::uuid
  for update
),
unstaged as (
  delete from holdfast.task_result as r
  using held as h
  where r.task_id = h.task_id
)
select task_id from held`,
  row: z.object({ task_id: taskIdSchema }),
};

export async function unstageResult(database: Database, { taskId, token, workerId }: AttemptRef): Promise<KeepAnswer> {
  const rows = await runStatement(database.pool, UNSTAGE, [taskId, token, workerId]);
  return rows.length === 0 ? "refused" : "kept";
}
