import type { CreateOutcome, CreateTask, Task, TaskRef } from "./task.ts";

/**
 * The seam both protocol adapters use (contract 15.1). Every method re-checks ownership and grants in the statement that
 * reads or writes the row; what the principal may not see is null, as if it did not exist. Rejects with
 * `AppError` "storage_unavailable" or "overloaded" when it cannot tell.
 */
export interface TaskManager {
  /** Answers after the task is committed: any node finds it at once (contract 1.3). */
  create(request: CreateTask): Promise<CreateOutcome>;
  find(task: TaskRef): Promise<Task | null>;
  /**
   * Durable intent, acknowledged without waiting for the work (contract 8.1). A queued task is cancelled when this
   * returns; a terminal one is returned unchanged.
   */
  requestCancellation(task: TaskRef): Promise<Task | null>;
}
