import type { InputAnswer } from "./input.ts";
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
   * Takes the answers that fit open questions and ignores the others: unknown, answered already, of another kind (contract 9.2). The
   * answer to the last open question lets the task go on. Asks for the right to submit, as a cancellation does.
   */
  update(task: TaskRef, answers: readonly InputAnswer[]): Promise<Task | null>;
  /**
   * Durable intent, acknowledged without waiting for the work (contract 8.1). A queued task is cancelled when this
   * returns; a terminal one is returned unchanged.
   */
  requestCancellation(task: TaskRef): Promise<Task | null>;
  /**
   * An ordinary call has gone. Requests the cancellation of its task when no other call waits for it and no client holds a handle
   * (contract 8.5).
   */
  abandon(task: TaskRef): Promise<Task | null>;
}
