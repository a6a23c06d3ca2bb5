import { taskIdSchema } from "@holdfast/core";
import { z } from "zod";
import type { Database } from "../pool.ts";
import { runStatement, type Statement } from "../statement.ts";

const rowSchema = z
  .object({
    task_id: taskIdSchema,
    workspace_id: z.string(),
    operation: z.string(),
    pool: z.string(),
    root: z.string(),
    created_at: z.date(),
  })
  .transform((row) => ({
    taskId: row.task_id,
    workspaceId: row.workspace_id,
    operation: row.operation,
    pool: row.pool,
    root: row.root,
    createdAt: row.created_at,
  }));

/** A queued task that no live worker can claim, and the place that a worker would have to serve. */
export type UnclaimableTask = Readonly<z.infer<typeof rowSchema>>;

const LIST: Statement<UnclaimableTask> = {
  purpose: "list unclaimable tasks",
  prepared: true,
  text: `
select task_id, workspace_id, operation, pool, root, created_at
from ops.unclaimable_task
order by created_at, task_id
limit 100`,
  row: rowSchema,
};

/** The oldest hundred, for operators. */
export async function listUnclaimableTasks(database: Database): Promise<readonly UnclaimableTask[]> {
  return await runStatement(database.pool, LIST, []);
}
