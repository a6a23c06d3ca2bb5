import type { ServerContext } from "@modelcontextprotocol/server";
import type { Task } from "@holdfast/core";
import { startCallProgress } from "../call-progress.ts";

/**
 * Does the work of one call and, when its request carries a progress token, reports every state of its task that `work` is shown
 * (contract 11.1). The reports end before the answer leaves, whatever it is: also when it is a task, which has its own messages.
 */
export async function withProgress<Answer>(
  { mcpReq }: ServerContext,
  work: (onLook: ((task: Task) => void) | undefined) => Promise<Answer>,
): Promise<Answer> {
  const token = mcpReq._meta?.progressToken;
  if (token === undefined) return await work(undefined);
  const progress = startCallProgress({
    token,
    notify: (report) => mcpReq.notify({ method: "notifications/progress", params: { ...report } }),
  });
  try {
    return await work((task) => {
      if (task.progress !== null) progress.report(task.progress);
    });
  } finally {
    await progress.stop();
  }
}
