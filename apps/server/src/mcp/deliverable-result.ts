import { AppError, toolResultSchema, type Task, type ToolResult } from "@holdfast/core";

const MEMBERS: readonly string[] = ["content", "structuredContent", "isError"] satisfies readonly (keyof ToolResult)[];

/**
 * The stored result of a completed task, checked once more (contract 1.6). What is delivered is the stored value itself and
 * not the parsed copy, so that its members keep their order and callers get the bytes that the operation gave (contract 1.2).
 * Throws `AppError` "internal" when something else was stored.
 */
export function deliverableResult(task: Task): ToolResult {
  const stored = task.outcome?.kind === "result" ? task.outcome.result : undefined;
  const parsed = toolResultSchema.safeParse(stored);
  if (!parsed.success || !isToolResult(stored))
    throw new AppError("internal", `the stored result of task ${task.id} is not a tool result`, { cause: parsed.error });
  return stored;
}

/** A member of another name would end up beside the protocol's own. */
function isToolResult(value: unknown): value is ToolResult {
  return typeof value === "object" && value !== null && Object.keys(value).every((member) => MEMBERS.includes(member));
}
