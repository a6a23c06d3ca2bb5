import { taskIdSchema, type CreateTask, type TaskId } from "@holdfast/core";
import { z } from "zod";
import { actionByEffect, grantPredicate, principalParameters } from "../grant-predicate.ts";
import type { Database } from "../pool.ts";
import { countSchema, runStatement, type Statement } from "../statement.ts";
import { waitingQueries } from "../waiting-queries.ts";

const rowSchema = z.object({ position: countSchema, task_id: taskIdSchema.nullable() });

/**
 * Lets requests that met an open read of the same address wait for it too (contract 4.8).
 *
 * - Against a settlement: the row of `live_task` is locked, or it is gone and the request may create a task of its own. A read that was
 *   joined may be over by the time its joiner looks; its outcome is there then.
 * - Against a cancellation: one that came first has taken the address away, so nobody joins what is about to stop.
 * - Against the last caller who leaves: if the joiner came first, it is counted and the task goes on; else the address is gone.
 * - The grant is a condition here again: between the two statements it may have been revoked.
 */
const JOIN: Statement<z.infer<typeof rowSchema>> = {
  purpose: "join open tasks",
  prepared: true,
  text: `
with request as (
  select *
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
    with ordinality as r (workspace_id, issuer, subject, groups, effect, waiter, content_address, position)
),
permitted as (
  select r.*
  from request as r
  where ${grantPredicate({
    workspaceId: "r.workspace_id",
    issuer: "r.issuer",
    subject: "r.subject",
    groups: "r.groups::jsonb",
    action: actionByEffect("r.effect"),
  })}
),
met as (
  select p.position, p.waiter, l.task_id
  from permitted as p
  inner join holdfast.live_task as l on l.content_address = decode(p.content_address, 'hex')
  inner join holdfast.task as t on t.id = l.task_id
  where t.workspace_id = p.workspace_id and t.issuer = p.issuer and t.subject = p.subject
),
${waitingQueries("l.content_address is not null")}
select p.position, c.task_id
from permitted as p
left join met as m on m.position = p.position
left join counted as c on c.task_id = m.task_id`,
  row: rowSchema,
};

/** `gone`: it is over or was cancelled meanwhile. */
export type JoinAnswer = { readonly kind: "joined"; readonly taskId: TaskId } | { readonly kind: "gone" } | { readonly kind: "denied" };

/** Answers in the order of the requests, all of which have a content address. */
export async function joinTasks(database: Database, requests: readonly CreateTask[]): Promise<readonly JoinAnswer[]> {
  const principals = requests.map(({ principal }) => principalParameters(principal) ?? [null, null, null]);
  const rows = await runStatement(database.pool, JOIN, [
    requests.map(({ workspaceId }) => workspaceId),
    ...[0, 1, 2].map((part) => principals.map((parameters) => parameters[part])),
    requests.map(({ operation }) => operation.effect),
    requests.map(({ waiter }) => waiter),
    requests.map(({ contentAddress }) => contentAddress),
  ]);
  const found = new Map(rows.map((row) => [row.position, row.task_id]));
  return requests.map((_, index) => {
    const taskId = found.get(index + 1);
    if (taskId === undefined) return { kind: "denied" };
    return taskId === null ? { kind: "gone" } : { kind: "joined", taskId };
  });
}
