/** Public state of a task, exactly MCP's (contract 5.1). */
export const TASK_STATUSES = ["working", "input_required", "completed", "failed", "cancelled"] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];
export type TerminalStatus = Extract<TaskStatus, "completed" | "failed" | "cancelled">;

export function isTerminal(status: TaskStatus): status is TerminalStatus {
  return status === "completed" || status === "failed" || status === "cancelled";
}

/** State of one attempt; the public status never grows for its sake. */
export const ATTEMPT_STATES = ["running", "succeeded", "failed", "cancelled", "suspended", "interrupted", "lost"] as const;
export type AttemptState = (typeof ATTEMPT_STATES)[number];
