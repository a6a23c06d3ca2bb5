import { taskIdSchema, type TaskId } from "@holdfast/core";
import type { Task } from "graphile-worker";
import { z } from "zod";

/** All that a job says: which task to look at. */
const payloadSchema = z.object({ taskId: taskIdSchema });

/**
 * The job that wakes a worker for a task. It starts the attempt when the job starts, not when it was fetched, so no lease
 * runs while the job waits. A payload that is none is forgotten: trying it again would not make it one.
 */
export function createRunTask(options: {
  readonly runAttempt: (taskId: TaskId) => Promise<void>;
  /** Waits until operations can be run at all; a worker that cannot must leave tasks to others. */
  readonly whenReady: () => Promise<void>;
  readonly onBadPayload: (error: Error) => void;
}): Task {
  const { runAttempt, whenReady, onBadPayload } = options;
  return async (payload: unknown) => {
    const parsed = payloadSchema.safeParse(payload);
    if (!parsed.success) return onBadPayload(parsed.error);
    await whenReady();
    await runAttempt(parsed.data.taskId);
  };
}
