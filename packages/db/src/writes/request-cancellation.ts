import type { Task, TaskRef } from "@holdfast/core";
import { cancellationStatement, cancelUnwanted } from "../cancellation-queries.ts";
import type { Database } from "../pool.ts";
import { findSubmittedTask } from "../reads/find-task.ts";

/**
 * Records the owner's wish to cancel. A queued or parked task is cancelled by it; a running one learns of it at its next heartbeat.
 *
 * - Against a claim: both want the lock on `live_task`. If the claim came first, this statement judges the row again under the
 *   lock, sees a worker and leaves the wish; if it came second, the row is gone and the claim finds nothing. Either way the wish
 *   is not lost, and no attempt starts after the task was called cancelled.
 * - Against the last answer to a parked task: whichever comes second finds no row, or a queued task that it may cancel.
 * - Against a settlement that came first: the row is gone and nothing changes; the terminal status stands.
 */
const CANCEL = cancellationStatement({ purpose: "request a cancellation", isUnwanted: "true" });

/**
 * The task as it is afterwards, or null when this principal may not cancel it. Read by a second statement: the first one's
 * snapshot is older than the locks it may have waited for.
 */
export async function requestCancellation(database: Database, ref: TaskRef): Promise<Task | null> {
  await cancelUnwanted(database, CANCEL, ref);
  return await findSubmittedTask(database, ref);
}
