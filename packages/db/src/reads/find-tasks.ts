import { AppError, type Task, type TaskRef } from "@holdfast/core";
import { z } from "zod";
import { grantPredicate, principalParameters } from "../grant-predicate.ts";
import { createLane } from "../lane.ts";
import type { Database } from "../pool.ts";
import { runStatement, type Statement } from "../statement.ts";
import { IS_UNEXPIRED, TASK_COLUMNS, TASK_JOINS, taskOf, taskRowSchema } from "./find-task.ts";

/** One batch of results is in memory at a time. */
const BATCH_SIZE = 32;

/**
 * Reads tasks for everything on a node that watches some, as `TaskManager.find` would: what is asked while one read is in flight goes
 * together in the next, whoever asks. A thousand streams that are told of a change cost some dozens of round trips and one connection.
 */
export function createTaskReader(database: Database): (ref: TaskRef) => Promise<Task | null> {
  const lane = createLane<TaskRef, Task | null>({
    run: (refs) => findTasks(database, refs),
    batchSize: BATCH_SIZE,
    // A stored value that cannot be read fails the look at its own task only (contract 1.6); a read may always be repeated.
    blamesOneItem: (error) => error instanceof AppError && error.code === "internal",
    // More streams than this ask at once only when all of them look again, after the node's listener was away.
    queueLimit: 100_000,
  });
  return (ref) => lane.submit(ref);
}

const rowSchema = taskRowSchema.extend({ position: z.coerce.number() });

const FIND_TASKS: Statement<z.infer<typeof rowSchema>> = {
  purpose: "find tasks",
  prepared: true,
  text: `
select asked.position, ${TASK_COLUMNS}
from unnest($1::uuid[], $2::text[], $3::text[], $4::jsonb[]) with ordinality as asked (id, issuer, subject, groups, position)
inner join holdfast.task as t on t.id = asked.id and t.issuer = asked.issuer and t.subject = asked.subject ${TASK_JOINS}
where ${IS_UNEXPIRED}
  and ${grantPredicate({ workspaceId: "t.workspace_id", issuer: "asked.issuer", subject: "asked.subject", groups: "asked.groups", action: "'read'" })}`,
  row: rowSchema,
};

/** Each task that its principal may see, in the order of the question; null for every other. All of them from one snapshot. */
export async function findTasks(database: Database, refs: readonly TaskRef[]): Promise<readonly (Task | null)[]> {
  const asked = refs.flatMap(({ id, principal }, index) => {
    const parameters = principalParameters(principal);
    return parameters === null ? [] : [{ id, parameters, index }];
  });
  const found: (Task | null)[] = refs.map(() => null);
  if (asked.length === 0) return found;
  const rows = await runStatement(database.pool, FIND_TASKS, [
    asked.map(({ id }) => id),
    ...[0, 1, 2].map((part) => asked.map(({ parameters }) => parameters[part])),
  ]);
  for (const row of rows) {
    const index = asked[row.position - 1]?.index;
    if (index !== undefined) found[index] = taskOf(row);
  }
  return found;
}
