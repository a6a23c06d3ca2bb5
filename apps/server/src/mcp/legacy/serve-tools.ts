import { ProtocolError, type Result } from "@modelcontextprotocol/server";
import { AppError, ERRORS, negotiateTtl, type JsonValue, type Operation, type OperationRegistry, type Task } from "@holdfast/core";
import { z } from "zod";
import { startCallProgress } from "../call-progress.ts";
import { taskError } from "../client-error.ts";
import type { TaskHandles } from "../handles.ts";
import { listParamsSchema } from "../modern/list-params.ts";
import { inputRequiredResult } from "../modern/serve-tools.ts";
import type { NodeTool } from "../node-tool.ts";
import { invalidArguments, parseArgumentObject } from "../parse-arguments.ts";
import type { Serve } from "../serve.ts";
import type { ToolDescription } from "../tool-catalog.ts";
import type { CallAnswer, ToolService } from "../tool-service.ts";
import type { LegacyRequest } from "./legacy-request.ts";
import { notificationMessage } from "./messages.ts";
import { FEATURES } from "./revisions.ts";
import { legacyTaskJson } from "./task-json.ts";

export interface LegacyToolsOptions {
  readonly registry: OperationRegistry;
  readonly tools: readonly ToolDescription[];
  readonly nodeTools: ReadonlyMap<string, NodeTool>;
  readonly service: ToolService;
  readonly handles: TaskHandles;
}

/** An ordinary answer is what the modern protocol gives too; a task is given to whoever asked for one with the request (2025-11-25). */
export function serveLegacyTools(serve: Serve<LegacyRequest>, options: LegacyToolsOptions): void {
  const { registry, tools, nodeTools, service, handles } = options;
  const withTaskSupport = tools.map((tool) => ({ ...tool, execution: { taskSupport: registry.get(tool.name)?.tasks ?? "forbidden" } }));
  serve("tools/list", listParamsSchema, async (_params, { session }) => ({
    tools: FEATURES[session.revision].tasks ? withTaskSupport : tools,
  }));
  serve("tools/call", callParamsSchema, async ({ name, arguments: given, task, _meta }, request) => {
    const { session, responses, requestState, signal, onAdmitted } = request;
    const wish = FEATURES[session.revision].tasks ? task : undefined;
    const nodeTool = nodeTools.get(name);
    if (nodeTool !== undefined) {
      if (wish !== undefined) throw unsupported("This tool does not run as a task.");
      return { ...(await nodeTool.run(request.caller, parseArgumentObject(given))) };
    }
    const operation = registry.get(name);
    if (operation !== undefined) refuseUnsupported(operation, given, wish !== undefined);
    const caller = { ...request.caller, declaresTasks: wish !== undefined };
    const call = {
      name,
      arguments: given,
      ttlMs: wish === undefined ? undefined : ttlOf(wish.ttl),
      responses: responses ?? {},
      requestState,
      signal,
      onAdmitted,
    };
    const log = logOf(name, request);
    const answer = await withReports(request, wish === undefined ? _meta?.progressToken : undefined, (report) =>
      service.call(caller, {
        ...call,
        onLook: (state) => {
          log(state);
          report(state);
        },
      }),
    );
    if (answer.kind === "task") await request.onAccepted(answer.task);
    return callResult(answer, ({ workspaceId, id }) =>
      handles.sign({ generation: "l", principal: caller.principal }, { workspaceId, taskId: id }),
    );
  });
}

/** What a call that was answered with a task says. */
export function createTaskResult(taskId: string, task: Task): Result {
  return { task: legacyTaskJson(taskId, task) };
}

const callParamsSchema = z.object({
  name: z.string(),
  arguments: z.record(z.string(), z.json(), { error: "expected an object of arguments" }).default({}),
  task: z.object({ ttl: z.unknown().optional() }).optional(),
  _meta: z.object({ progressToken: z.union([z.string(), z.number()]).optional() }).optional(),
});

function refuseUnsupported(operation: Operation, given: JsonValue, isTask: boolean): void {
  if (isTask && operation.tasks === "forbidden") throw unsupported("This tool does not run as a task.");
  if (!isTask && operation.tasks === "required") throw unsupported("This tool runs as a task only.");
  if (isTask && operation.effect === "write" && parseArgumentObject(given)["requestKey"] === undefined)
    throw new AppError("request_key_required", `a task of ${operation.name} without a requestKey`);
}

/** The code that 2025-11-25 names for a call that does not heed a tool's task support. */
function unsupported(message: string): ProtocolError {
  return new ProtocolError(-32_601, message);
}

function ttlOf(requested: unknown): unknown {
  if (negotiateTtl(requested) !== null) return requested;
  throw invalidArguments([{ path: "task.ttl", message: "expected a whole positive number of milliseconds, or null for the longest" }]);
}

/** The words of an operation's progress are its log, for clients that asked for logs. */
function logOf(logger: string, { session, reply }: LegacyRequest): (task: Task) => void {
  if (session.logLevel !== "debug" && session.logLevel !== "info") return () => undefined;
  let last: string | null = null;
  return ({ progress }) => {
    const data = progress?.message ?? null;
    if (data === null || data === last || reply.isFull) return;
    last = data;
    reply.send(notificationMessage("notifications/message", { level: "info", logger, data }));
  };
}

async function withReports(
  { reply }: LegacyRequest,
  token: string | number | undefined,
  work: (report: (task: Task) => void) => Promise<CallAnswer>,
): Promise<CallAnswer> {
  if (token === undefined) return await work(() => undefined);
  const progress = startCallProgress({
    token,
    // Reports that its reader has no room for are made good by the next.
    notify: async (report) => {
      if (!reply.isFull) reply.send(notificationMessage("notifications/progress", { ...report }));
    },
  });
  try {
    return await work((task) => {
      if (task.progress !== null) progress.report(task.progress);
    });
  } finally {
    await progress.stop();
  }
}

function callResult(answer: CallAnswer, sign: (task: Task) => string): Result {
  switch (answer.kind) {
    case "task":
      return createTaskResult(sign(answer.task), answer.task);
    case "result":
      return { ...answer.result };
    case "inputRequired":
      return inputRequiredResult(answer);
    case "failed": {
      const { code, message, data } = taskError(answer.outcome);
      throw new ProtocolError(code, message, data);
    }
    case "cancelled":
      throw new ProtocolError(ERRORS.task_cancelled.rpcCode, ERRORS.task_cancelled.message);
  }
}
