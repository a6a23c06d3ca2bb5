import { isTerminal, type Task } from "@holdfast/core";
import { clientError, taskError } from "../client-error.ts";
import { deliverableResult } from "../deliverable-result.ts";
import { deliverableRequests } from "../input-requests.ts";

/** The members that a task has in every answer of the Tasks extension (SEP-2663). */
export function taskJson(taskId: string, task: Task): Record<string, unknown> {
  const statusMessage = statusMessageOf(task);
  return {
    taskId,
    status: task.status,
    ...(statusMessage === null ? {} : { statusMessage }),
    createdAt: task.createdAt.toISOString(),
    lastUpdatedAt: task.lastUpdatedAt.toISOString(),
    ttlMs: task.ttlMs,
    pollIntervalMs: task.pollIntervalMs,
  };
}

/**
 * The same with the outcome, or with all open questions, as `tasks/get` shows it; whether the client can be asked them is for the caller
 * to know. Throws `AppError` "internal" when what was stored cannot be delivered (contract 1.6).
 */
export function detailedTaskJson(taskId: string, task: Task): Record<string, unknown> {
  const json = taskJson(taskId, task);
  switch (task.status) {
    case "completed":
      return { ...json, result: deliverableResult(task) };
    case "failed":
      return {
        ...json,
        error: task.outcome?.kind === "error" ? taskError(task.outcome) : clientError({ code: "internal", data: undefined }),
      };
    case "working":
    case "cancelled":
      return json;
    case "input_required":
      return { ...json, inputRequests: deliverableRequests(task.inputRequests) };
  }
}

export function statusMessageOf(task: Task): string | null {
  if (task.statusMessage !== null || isTerminal(task.status)) return task.statusMessage;
  if (task.cancelRequested) return "cancellation requested";
  if (task.progress === null) return null;
  const { value, total, message } = task.progress;
  const count = total === null ? null : `${value} of ${total}`;
  if (message === null) return count;
  return count === null ? message : `${message} (${count})`;
}
