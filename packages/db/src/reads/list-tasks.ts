import { taskIdSchema, type Principal, type Task, type TaskId } from "@holdfast/core";
import { z } from "zod";
import { grantPredicate, principalParameters } from "../grant-predicate.ts";
import type { Database } from "../pool.ts";
import { runStatement, type Statement } from "../statement.ts";
import { IS_UNEXPIRED, TASK_COLUMNS, taskOf, taskRowSchema, type TaskRow } from "./find-task.ts";

export interface TaskPage {
  readonly principal: Principal;
  /** Only tasks that come after this one; null for the first page. */
  readonly after: TaskId | null;
  readonly limit: number;
}

/** Results stay where they are: a list shows how tasks stand. */
const JOINS = `
left join holdfast.live_task as l on l.task_id = t.id
left join (select null::uuid as task_id, null::json as result, null::text as error_code, null::uuid as error_reference) as r
  on r.task_id = t.id`;

/**
 * Newest first by id, which begins with the time of creation. A page begins behind the last task of the one before, whatever was created
 * or has gone meanwhile: no task is shown twice, and none that stays is left out.
 */
const LIST: Statement<TaskRow> = {
  purpose: "list tasks",
  prepared: true,
  text: `
select ${TASK_COLUMNS}
from holdfast.task as t ${JOINS}
where t.issuer = $1::text
  and t.subject = $2::text
  and ($4::uuid is null or t.id < $4::uuid)
  and ${IS_UNEXPIRED}
  and ${grantPredicate({ workspaceId: "t.workspace_id", issuer: "$1::text", subject: "$2::text", groups: "$3::jsonb", action: "'read'" })}
order by t.id desc
limit $5::integer`,
  row: taskRowSchema,
};

/** The principal's tasks without their outcomes, the newest first, at most `limit`. */
export async function listTasks(database: Database, { principal, after, limit }: TaskPage): Promise<readonly Task[]> {
  const parameters = principalParameters(principal);
  if (parameters === null) return [];
  return (await runStatement(database.pool, LIST, [...parameters, after, limit])).map((row) => ({ ...taskOf(row), outcome: null }));
}

const idSchema = z.object({ id: taskIdSchema, stream_epoch: z.number() });

/** Which of its tasks a session's stream tells of: those that are open, and those that have changed since. */
const LIST_OF_SESSION: Statement<{ id: TaskId | null; stream_epoch: number }> = {
  purpose: "list tasks of a session",
  prepared: true,
  text: `
select s.stream_epoch, t.id
from holdfast.session as s
left join (
  holdfast.session_call as c
  inner join holdfast.task as t on t.id = c.task_id
) on c.session_id = s.id
  and c.as_task
  and (t.status in ('working', 'input_required') or t.last_updated_at >= $2::timestamptz)
where s.id = $1::uuid
order by t.id`,
  row: idSchema.extend({ id: taskIdSchema.nullable() }),
};

/** Null when the session has ended. Ids only: what they show is read with the rights of the owner. */
export async function listSessionTasks(
  database: Database,
  sessionId: TaskId,
  since: Date,
): Promise<{ readonly streamEpoch: number; readonly taskIds: readonly TaskId[] } | null> {
  const rows = await runStatement(database.pool, LIST_OF_SESSION, [sessionId, since]);
  const [first] = rows;
  if (first === undefined) return null;
  return { streamEpoch: first.stream_epoch, taskIds: [...new Set(rows.flatMap(({ id }) => id ?? []))] };
}
