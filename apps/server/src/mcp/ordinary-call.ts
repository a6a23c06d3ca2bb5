import { AppError, isTerminal, type InputAnswer, type Principal, type Task, type TaskId, type TaskManager } from "@holdfast/core";
import type { Hub, Watch } from "../live/hub.ts";
import { waitForSettlement } from "../live/wait-for-settlement.ts";
import type { Admitted } from "./admission.ts";
import type { Cancellations } from "./cancellations.ts";

/** One ordinary call on its way. */
export interface OrdinaryCall {
  readonly principal: Principal;
  readonly requestId: string;
  /** Whether its caller can name it again, and so find what it has begun (contract 4.3). */
  readonly hasKey: boolean;
  /** Aborted when the caller is gone: nobody will read the answer. */
  readonly signal: AbortSignal;
  /** Told of every state of the task on its way. */
  readonly onLook?: ((task: Task) => void) | undefined;
  /** Told of the task that is waited for, before anything else is done with it. What it throws ends the call. */
  readonly onAdmitted?: ((task: Task) => Promise<void>) | undefined;
}

/** Ends the waiting of a call and leaves its task alone: somebody else goes on with the call, or has let go of the task already. */
export class Released extends Error {
  override readonly name = "Released";
}

export interface OrdinaryCallsOptions {
  readonly manager: Pick<TaskManager, "find" | "update">;
  readonly hub: Hub;
  readonly cancellations: Cancellations;
  readonly publish: (taskId: TaskId) => void;
  /** Aborted when the node gives up waiting because it is about to end. */
  readonly stopping: AbortSignal;
  readonly maxWaitMs: number;
}

/** Both resolve with a task that is terminal or waits for its client's input. */
export interface OrdinaryCalls {
  /** Waits for the task that `admit` makes under the id, or for the one that it finds instead. */
  begin(call: OrdinaryCall, id: TaskId, admit: () => Promise<Admitted>): Promise<Task>;
  /** Answers the questions of a parked task and waits on. Rejects with "request_state_invalid" when it is out of reach. */
  resume(call: OrdinaryCall, id: TaskId, answers: readonly InputAnswer[]): Promise<Task>;
}

export function createOrdinaryCalls(options: OrdinaryCallsOptions): OrdinaryCalls {
  const { manager, hub, cancellations, publish, stopping, maxWaitMs } = options;

  async function settled(call: OrdinaryCall, id: TaskId, watch: Watch): Promise<Task> {
    const task = await waitForSettlement({
      watch,
      read: () => manager.find({ id, principal: call.principal }),
      isSettled: isAnswer,
      onLook: call.onLook,
      signal: AbortSignal.any([call.signal, stopping]),
      deadlineMs: maxWaitMs,
    });
    // The owner lost the grant while waiting.
    if (task === null) throw new AppError("workspace_not_found", `task ${id} is out of its owner's reach`);
    return task;
  }

  /** Lets go of the task when its caller is gone or has waited too long, so that the result would reach nobody (contract 8.5). */
  async function owning(call: OrdinaryCall, id: TaskId, wait: () => Promise<Task>): Promise<Task> {
    try {
      return await wait();
    } catch (error) {
      if (error instanceof Released) throw error;
      if (stopping.aborted) throw new AppError("overloaded", `the node stopped while a call waited for task ${id}`, { cause: error });
      cancellations.abandon({ id, principal: call.principal }, call.requestId);
      throw error;
    }
  }

  return {
    begin: async (call, id, admit) => {
      using watch = hub.watch(id);
      const admitted = await admit().catch((error: unknown) => {
        // The statement may have been committed all the same. A caller with a key asks again and finds its task; without one, nobody
        // would ever look at the result.
        if (error instanceof AppError && error.code === "storage_unavailable" && !call.hasKey)
          cancellations.abandon({ id, principal: call.principal }, call.requestId);
        throw error;
      });
      const other = admitted.task.id;
      return await owning(call, other, async () => {
        await call.onAdmitted?.(admitted.task);
        if (isAnswer(admitted.task)) return admitted.task;
        if (other === id) return await settled(call, id, watch);
        using watchOther = hub.watch(other);
        // It may have changed before anybody here listened.
        const task = await manager.find({ id: other, principal: call.principal });
        return task !== null && isAnswer(task) ? task : await settled(call, other, watchOther);
      });
    },
    resume: async (call, id, answers) => {
      using watch = hub.watch(id);
      const task = await manager.update({ id, principal: call.principal }, answers);
      if (task === null) throw new AppError("request_state_invalid", `the parked task ${id} of a call is out of reach`);
      publish(id);
      return isAnswer(task) ? task : await owning(call, id, () => settled(call, id, watch));
    },
  };
}

/** What ends the waiting: the outcome, or a question that only the caller can answer. */
function isAnswer({ status }: Task): boolean {
  return isTerminal(status) || status === "input_required";
}
