import type { Task } from "@holdfast/core";
import { statusMessageOf } from "../modern/task-json.ts";

/** A task as revision 2025-11-25 spells it. */
export function legacyTaskJson(taskId: string, task: Task): Record<string, unknown> {
  const statusMessage = statusMessageOf(task);
  return {
    taskId,
    status: task.status,
    ...(statusMessage === null ? {} : { statusMessage }),
    createdAt: task.createdAt.toISOString(),
    lastUpdatedAt: task.lastUpdatedAt.toISOString(),
    ttl: task.ttlMs,
    pollInterval: task.pollIntervalMs,
  };
}

/** Ties a message to the task that it belongs to. */
export function relatedTask(taskId: string): Record<string, { readonly taskId: string }> {
  return { [RELATED_TASK_META_KEY]: { taskId } };
}

const RELATED_TASK_META_KEY = "io.modelcontextprotocol/related-task";
