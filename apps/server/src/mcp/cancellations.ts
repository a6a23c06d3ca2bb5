import { setTimeout as delay } from "node:timers/promises";
import type { Task, TaskId, TaskManager, TaskRef, Telemetry } from "@holdfast/core";

/** Records that somebody no longer wants a task. */
export interface Cancellations {
  /** The task as it is then, null when it is out of reach. The intent is durable when this returns. */
  now(task: TaskRef, requestId: string): Promise<Task | null>;
  /**
   * For an ordinary call whose caller has gone: its task is cancelled unless somebody else waits for it (contract 8.5). Tried in the
   * background, several times, and given up with a line in the log.
   */
  abandon(task: TaskRef, requestId: string): void;
  /** Resolves when no background attempt is left. */
  idle(): Promise<void>;
}

export interface CancellationsOptions {
  readonly manager: Pick<TaskManager, "requestCancellation" | "abandon">;
  readonly telemetry: Telemetry;
  /** Tells other nodes and the worker to look at the task. */
  readonly publish: (taskId: TaskId) => void;
}

const RETRY_AFTER_MS: readonly number[] = [200, 1000, 5000];

export function createCancellations({ manager, telemetry, publish }: CancellationsOptions): Cancellations {
  const pending = new Set<Promise<void>>();

  function report(task: Task | null, requestId: string): Task | null {
    if (task === null) return null;
    if (task.cancelRequested || task.status === "cancelled") telemetry.emit("task.cancelRequested", { requestId, taskId: task.id });
    publish(task.id);
    return task;
  }

  async function persist(task: TaskRef, requestId: string): Promise<void> {
    for (const waitMs of [...RETRY_AFTER_MS, null]) {
      try {
        report(await manager.abandon(task), requestId);
        return;
      } catch (error) {
        if (waitMs === null) telemetry.emit("task.cancelRequested", { requestId, taskId: task.id }, error);
        else await delay(waitMs);
      }
    }
  }

  return {
    now: async (task, requestId) => report(await manager.requestCancellation(task), requestId),
    abandon: (task, requestId) => {
      const work = persist(task, requestId).finally(() => pending.delete(work));
      pending.add(work);
    },
    idle: async () => {
      await Promise.all(pending);
    },
  };
}
