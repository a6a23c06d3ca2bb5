import { ProtocolError, type Result } from "@modelcontextprotocol/server";
import { ERRORS, type InputRequests, type JsonValue } from "@holdfast/core";
import { z } from "zod";
import { taskError } from "../client-error.ts";
import type { TaskHandles } from "../handles.ts";
import type { NodeTool } from "../node-tool.ts";
import { parseArgumentObject } from "../parse-arguments.ts";
import type { CheckParamHeaders } from "../param-headers.ts";
import type { ToolDescription } from "../tool-catalog.ts";
import type { CallAnswer, ToolService } from "../tool-service.ts";
import { listParamsSchema } from "./list-params.ts";
import type { Serve } from "../serve.ts";
import type { ModernRequest } from "./serving.ts";
import { taskJson } from "./task-json.ts";
import { withProgress } from "./with-progress.ts";

export interface ServeToolsOptions {
  /** All of them, in the order in which they are shown. */
  readonly tools: readonly ToolDescription[];
  /** Those that this node answers itself, by name. */
  readonly nodeTools: ReadonlyMap<string, NodeTool>;
  readonly service: ToolService;
  readonly handles: TaskHandles;
  readonly checkParamHeaders: CheckParamHeaders;
}

/** `headers` are those of the request. */
export function serveTools(serve: Serve<ModernRequest>, options: ServeToolsOptions, headers: Headers): void {
  const { tools, nodeTools, service, handles, checkParamHeaders } = options;
  serve("tools/list", listParamsSchema, async () => ({ tools }));
  serve("tools/call", callParamsSchema, async ({ name, arguments: given, _meta }, { caller, context, responses, requestState }) => {
    checkParamHeaders(name, given, headers);
    const nodeTool = nodeTools.get(name);
    if (nodeTool !== undefined) return { ...(await nodeTool.run(caller, parseArgumentObject(given))) };
    const call = {
      name,
      arguments: given,
      ttlMs: _meta?.[TTL_KEY],
      responses: responses ?? {},
      requestState,
      signal: context.mcpReq.signal,
    };
    const answer = await withProgress(context, (onLook) => service.call(caller, { ...call, onLook }));
    const scope = { generation: "m" as const, principal: caller.principal };
    return callResult(answer, (task) => handles.sign(scope, { workspaceId: task.workspaceId, taskId: task.id }));
  });
}

/** Where a caller says for how many milliseconds it wants to find the result. */
const TTL_KEY = "holdfast/ttlMs";

/** Parsed from JSON text as part of the body, so it can hold nothing else; the operation's own schema says what it must be. */
const argumentsSchema = z.custom<JsonValue>((value) => value !== undefined);
const callParamsSchema = z.object({
  name: z.string(),
  arguments: argumentsSchema.default({}),
  _meta: z.record(z.string(), z.unknown()).optional(),
});

/** How the client is asked: the same request is expected again, with `inputResponses` and this state. */
export function inputRequiredResult(asked: { readonly requests: InputRequests; readonly requestState: string }): Result {
  return { resultType: "input_required", inputRequests: asked.requests, requestState: asked.requestState };
}

function callResult(answer: CallAnswer, sign: (task: Extract<CallAnswer, { kind: "task" }>["task"]) => string): Result {
  switch (answer.kind) {
    case "task":
      return { resultType: "task", ...taskJson(sign(answer.task), answer.task) };
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
