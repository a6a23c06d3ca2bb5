import type { InputAnswer } from "./input.ts";
import type { CreateOutcome, CreateTask, Task, TaskRef } from "./task.ts";

/**
 * The seam both protocol adapters use (contract 15.1). Every method re-checks ownership and grants in the statement that
 * reads or writes the row; what the principal may not see is null, as if it did not exist. Rejects with
 * `AppError` "storage_unavailable" or "overloaded" when it cannot tell.
 */
export interface TaskManager {
  /**
   * Answers after the task is committed: any node finds it at once (contract 1.3). Whoever joins or repeats waits for the task like the
   * one who created it; neither moves its times. A repeat of a task that has ended and is no longer visible shows it again, for the
   * `ttlMs` of the repeat from now (contract 4.5). Rejects with "overloaded" also when what stands in the way came and went many times.
   */
  create(request: CreateTask): Promise<CreateOutcome>;
  find(task: TaskRef): Promise<Task | null>;
  /**
   * Takes the answers that fit open questions and ignores the others: unknown, answered already, of another kind (contract 9.2). The
   * answer to the last open question lets the task go on. Of several answers to one key the first that fits counts; one that is taken
   * moves `lastUpdatedAt`. Asks for the right to submit, as a cancellation does.
   */
  update(task: TaskRef, answers: readonly InputAnswer[]): Promise<Task | null>;
  /**
   * Durable intent, acknowledged without waiting for the work (contract 8.1). A queued or parked task is cancelled when this
   * returns, unless its journal is open or committed: then it stays a wish until an attempt says what really happened (contract 8.4). A
   * terminal task is returned unchanged.
   */
  requestCancellation(task: TaskRef): Promise<Task | null>;
  /**
   * An ordinary call has gone. Requests the cancellation of its task when no other call waits for it and no client holds a handle
   * (contract 8.5). Once for each call that a create has counted, whatever the outcome was; while others wait nothing changes.
   */
  abandon(task: TaskRef): Promise<Task | null>;
}
