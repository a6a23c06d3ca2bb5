import { setTimeout as delay } from "node:timers/promises";
import type { TaskId, TaskManager, TaskRef, Telemetry } from "@holdfast/core";

/** Records that somebody no longer wants a task. */
export interface Cancellations {
  /** Whether the task was in reach. The intent is durable when this returns. */
  now(task: TaskRef, requestId: string): Promise<boolean>;
  /** For callers that have gone: tried in the background, several times, and given up with a line in the log. */
  request(task: TaskRef, requestId: string): void;
  /** Resolves when no background attempt is left. */
  idle(): Promise<void>;
}

export interface CancellationsOptions {
  readonly manager: TaskManager;
  readonly telemetry: Telemetry;
  /** Tells other nodes and the worker to look at the task. */
  readonly publish: (taskId: TaskId) => void;
}

const RETRY_AFTER_MS: readonly number[] = [200, 1000, 5000];

export function createCancellations({ manager, telemetry, publish }: CancellationsOptions): Cancellations {
  const pending = new Set<Promise<void>>();

  async function now(task: TaskRef, requestId: string): Promise<boolean> {
    if ((await manager.requestCancellation(task)) === null) return false;
    telemetry.emit("task.cancelRequested", { requestId, taskId: task.id });
    publish(task.id);
    return true;
  }

  async function persist(task: TaskRef, requestId: string): Promise<void> {
    for (const waitMs of [...RETRY_AFTER_MS, null]) {
      try {
        await now(task, requestId);
        return;
      } catch (error) {
        if (waitMs === null) telemetry.emit("task.cancelRequested", { requestId, taskId: task.id }, error);
        else await delay(waitMs);
      }
    }
  }

  return {
    now,
    request: (task, requestId) => {
      const work = persist(task, requestId).finally(() => pending.delete(work));
      pending.add(work);
    },
    idle: async () => {
      await Promise.all(pending);
    },
  };
}
