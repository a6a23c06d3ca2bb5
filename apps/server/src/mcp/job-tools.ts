import { AppError, isTerminal, toolResult, workspaceIdSchema, type JsonObject, type Task, type ToolResult } from "@holdfast/core";
import { z } from "zod";
import type { Caller } from "./caller.ts";
import { taskError } from "./client-error.ts";
import { deliverableResult } from "./deliverable-result.ts";
import type { TaskAddress } from "./handles.ts";
import type { NodeTool } from "./node-tool.ts";
import { objectSchema } from "./object-schema.ts";
import { parseArguments } from "./parse-arguments.ts";
import { annotationsOf } from "./tool-catalog.ts";
import type { ToolService } from "./tool-service.ts";

export interface JobToolsOptions {
  readonly service: Pick<ToolService, "findTask" | "cancelTask">;
  /** Null for everything that is no handle of this caller. */
  readonly openHandle: (caller: Caller, handle: string) => TaskAddress | null;
}

/**
 * The controls of a pack's jobs (contract 13.1), for clients that know tools and not tasks. They read or mark the task's row and
 * nothing else: no task is created, resumed or started by them.
 */
export function jobTools(pack: string, { service, openHandle }: JobToolsOptions): readonly NodeTool[] {
  /** A job that is unknown, foreign, expired, malformed or in another workspace: all alike (contract 2.4). */
  const addressOf = (caller: Caller, { workspaceId, jobId }: z.infer<typeof jobSchema>): TaskAddress => {
    const address = openHandle(caller, jobId);
    if (address === null || address.workspaceId !== workspaceId) throw new AppError("task_not_found", "not a job of this caller there");
    return address;
  };
  return [
    {
      description: {
        ...describe(`${pack}.job_inspect`, "Inspect a job"),
        description:
          "How far a job is, and why it ended; the original result itself once it has completed. Answers at once and starts nothing. jobId is the id of a task.",
        annotations: annotationsOf("Inspect a job", "read"),
      },
      run: async (caller, given) => {
        const job = parseArguments(jobSchema, given);
        const task = await service.findTask(caller, addressOf(caller, job));
        return task.status === "completed" ? deliverableResult(task) : statusResult(job.jobId, task);
      },
    },
    {
      description: {
        ...describe(`${pack}.job_cancel`, "Cancel a job"),
        description:
          "Asks for the end of a job and answers at once with how it stands. What has been committed stays committed; a job that is over stays as it is.",
        annotations: { ...annotationsOf("Cancel a job", "write"), idempotentHint: true },
      },
      run: async (caller, given) => {
        const job = parseArguments(jobSchema, given);
        return statusResult(job.jobId, await service.cancelTask(caller, addressOf(caller, job)));
      },
    },
  ];
}

const jobSchema = z.strictObject({
  workspaceId: workspaceIdSchema.default("current").describe("The workspace that the job works in, as in the call that started it."),
  jobId: z.string().describe("The id of the task."),
});

function describe(name: string, title: string): Pick<NodeTool["description"], "name" | "title" | "inputSchema"> {
  return { name, title, inputSchema: objectSchema(jobSchema, "input", name) };
}

function statusResult(jobId: string, task: Task): ToolResult {
  const structured: JsonObject = {
    jobId,
    status: jobStatus(task),
    tool: task.operation,
    createdAt: task.createdAt.toISOString(),
    updatedAt: task.lastUpdatedAt.toISOString(),
    // Of a job that is over, its status says what became of the wish.
    ...(isTerminal(task.status) ? {} : { cancelRequested: task.cancelRequested }),
    progress: task.progress === null ? null : { ...task.progress },
    ...(task.outcome?.kind === "error" ? { error: errorOf(task.outcome) } : {}),
  };
  return toolResult({ text: JSON.stringify(structured), structured });
}

/** `working` says whether a worker has it. */
function jobStatus(task: Task): string {
  if (task.status !== "working") return task.status;
  return task.attempt === null ? "queued" : "running";
}

function errorOf(outcome: Parameters<typeof taskError>[0]): JsonObject {
  const { code, message } = taskError(outcome);
  return { code, message, reference: outcome.reference };
}
