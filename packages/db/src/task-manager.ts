import { AppError, type CreateOutcome, type CreateTask, type TaskManager } from "@holdfast/core";
import { createLane } from "./lane.ts";
import type { Database } from "./pool.ts";
import { findTask } from "./reads/find-task.ts";
import { sqlStateOf } from "./storage-error.ts";
import { createTasks } from "./writes/create-tasks.ts";
import { requestCancellation } from "./writes/request-cancellation.ts";

const BATCH_CHARACTERS = 4 * 1024 * 1024;

/** The production task manager: one per process, since creates that arrive together share a statement. */
export function createPostgresTaskManager(database: Database): TaskManager {
  const creates = createLane<CreateTask, CreateOutcome>({
    run: (requests) => createTasks(database, requests),
    // Else the inputs of a few could hold up, or time out, the creates of everybody.
    weigh: ({ input }) => JSON.stringify(input).length,
    batchWeight: BATCH_CHARACTERS,
    // A connection that broke may have committed; repeating would then report ids that are taken.
    blamesOneItem: (error) => error instanceof AppError && error.code === "internal" && sqlStateOf(error) !== null,
  });
  return {
    create: (request) => creates.submit(request),
    find: (task) => findTask(database, task),
    requestCancellation: (task) => requestCancellation(database, task),
  };
}
