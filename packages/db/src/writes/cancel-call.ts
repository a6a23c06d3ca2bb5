import { taskIdSchema, type TaskId } from "@holdfast/core";
import { z } from "zod";
import type { Database } from "../pool.ts";
import { runStatement, type Statement } from "../statement.ts";

/** A call that its client no longer wants. `taskId` is null while it has none, and for one that is answered with the task itself. */
export interface CancelledCall {
  readonly id: TaskId;
  readonly taskId: TaskId | null;
}

const rowSchema = z.object({ id: taskIdSchema, task_id: taskIdSchema.nullable() });

/** Exactly one of many wishes finds the call; one that is answered stays as it is. */
const CANCEL: Statement<z.infer<typeof rowSchema>> = {
  purpose: "cancel calls of a session",
  prepared: true,
  text: `
update holdfast.session_call as c
set cancelled_at = now()
where c.session_id = $1::uuid and c.request_id = $2::text and c.answered_at is null and c.cancelled_at is null
returning c.id, case when not c.as_task then c.task_id end as task_id`,
  row: rowSchema,
};

/** All that wait under this id, as JSON text: a client that uses one twice means both. */
export async function cancelCalls(database: Database, sessionId: TaskId, requestId: string): Promise<readonly CancelledCall[]> {
  const rows = await runStatement(database.pool, CANCEL, [sessionId, requestId]);
  return rows.map(({ id, task_id: taskId }) => ({ id, taskId }));
}
