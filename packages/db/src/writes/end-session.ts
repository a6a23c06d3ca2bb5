import { taskIdSchema, type TaskId } from "@holdfast/core";
import { z } from "zod";
import { principalParameters } from "../grant-predicate.ts";
import type { Database } from "../pool.ts";
import { runStatement, type Statement } from "../statement.ts";
import { SESSION_IDLE, type SessionRef } from "./meet-session.ts";

/** What ended with a session. */
export interface EndedSession {
  readonly id: TaskId;
  /** Calls that had no answer yet, for nodes that hold one. */
  readonly calls: readonly TaskId[];
  /** Tasks of those calls that wanted the result and not the task: nobody waits for them on their behalf any more. */
  readonly abandoned: readonly TaskId[];
}

const rowSchema = z.object({
  id: taskIdSchema,
  call_id: taskIdSchema.nullable(),
  task_id: taskIdSchema.nullable(),
});

/** Of two that end it at once, the second finds nothing. */
const END: Statement<z.infer<typeof rowSchema>> = {
  purpose: "end a session",
  prepared: true,
  text: `
with ended as (
  delete from holdfast.session as s
  where s.token_sha256 = $1::bytea
    and s.issuer = $2::text
    and s.subject = $3::text
    and s.seen_at > now() - ${SESSION_IDLE}
  returning s.id
)
select e.id, c.id as call_id, case when not c.as_task then c.task_id end as task_id
from ended as e
left join holdfast.session_call as c on c.session_id = e.id and c.answered_at is null and c.cancelled_at is null`,
  row: rowSchema,
};

/** Null for a session that this principal does not have. */
export async function endSession(database: Database, ref: SessionRef): Promise<EndedSession | null> {
  const principal = principalParameters(ref.principal);
  if (principal === null) return null;
  const [issuer, subject] = principal;
  const rows = await runStatement(database.pool, END, [Buffer.from(ref.tokenSha256), issuer, subject]);
  const [first] = rows;
  if (first === undefined) return null;
  return {
    id: first.id,
    calls: rows.flatMap(({ call_id: call }) => call ?? []),
    abandoned: rows.flatMap(({ task_id: task }) => task ?? []),
  };
}
