import type { Task, TaskRef } from "@holdfast/core";
import { cancellationStatement, cancelUnwanted } from "../cancellation-queries.ts";
import type { Database } from "../pool.ts";
import { findSubmittedTask } from "../reads/find-task.ts";

/**
 * One ordinary call less waits for the task. With the last one, and no handle at a client, the task is unwanted (contract 8.5).
 *
 * - Two calls that go at once: the count is judged under the lock on `live_task`, so that exactly one of them is the last.
 * - Against a call or a client that joins: whoever joined before the lock is counted; whoever comes later finds no address. A repeat of
 *   a keyed request still finds its task, cancelled or about to be, as the receipt says.
 */
const ABANDON = cancellationStatement({
  purpose: "abandon a call",
  isUnwanted: "l.callers <= 1 and not l.has_handle",
  queries: `,
uncounted as (
  update holdfast.live_task as l
  set callers = greatest(l.callers - 1, 0)
  from held as h
  where l.task_id = h.task_id and not h.is_unwanted and h.task_id not in (select task_id from stale)
)`,
});

/** The task as it is afterwards, or null when this principal may not cancel it: then nothing changes, and the task goes on. */
export async function abandonCall(database: Database, ref: TaskRef): Promise<Task | null> {
  await cancelUnwanted(database, ABANDON, ref);
  return await findSubmittedTask(database, ref);
}
