import { actionByEffect, grantPredicate } from "./grant-predicate.ts";

/**
 * Locks the row of `live_task` of an open task, for its owner who may submit such a task. The parameters of the statement around it are
 * the task's id and what `principalParameters` gives, from $1 to $4.
 *
 * Ownership and grant are conditions of the statement that writes (contract 2.2), and answering and cancelling need what submitting
 * needed (contract 2.5).
 */
export function ownTaskQuery(columns: string): string {
  return `
  select ${columns}
  from holdfast.live_task as l
  inner join holdfast.task as t on t.id = l.task_id
  where l.task_id = $1::uuid
    and t.issuer = $2::text
    and t.subject = $3::text
    and ${grantPredicate({
      workspaceId: "t.workspace_id",
      issuer: "$2::text",
      subject: "$3::text",
      groups: "$4::jsonb",
      action: actionByEffect("t.effect"),
    })}
  for update of l
`;
}
