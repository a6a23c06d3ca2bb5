import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  type Result,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { AppError, ARTIFACT_URI_TEMPLATE, ERRORS, type JsonValue } from "@holdfast/core";
import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { ArtifactRange, ArtifactService } from "../artifact-service.ts";
import { clientError, taskError } from "../client-error.ts";
import type { Exchange } from "../exchange.ts";
import type { TaskAddress, TaskHandles } from "../handles.ts";
import type { ToolDescription } from "../tool-catalog.ts";
import type { CallAnswer, Caller, ToolService } from "../tool-service.ts";
import { ExactServer } from "./exact-server.ts";
import { detailedTaskJson, taskJson } from "./task-json.ts";

const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

export interface ModernServerOptions {
  readonly version: string;
  readonly tools: readonly ToolDescription[];
  readonly service: ToolService;
  readonly artifacts: ArtifactService;
  readonly handles: TaskHandles;
}

const INSTRUCTIONS =
  "Operations run in a workspace, `current` unless workspaceId names another. Long operations answer with a task when the client declares the tasks extension; large results are linked as artifacts, readable in byte ranges.";

/** Tools and templates change with a release only; an artifact never changes, but the right to read it may be withdrawn. */
const CACHE_HINTS = {
  "tools/list": { ttlMs: 60_000, cacheScope: "private" },
  "resources/templates/list": { ttlMs: 60_000, cacheScope: "private" },
  "resources/read": { ttlMs: 60_000, cacheScope: "private" },
} as const;

/** Serves one request of revision 2026-07-28: wire shapes around the service, which knows nothing of them. */
export function createModernServer(options: ModernServerOptions, exchange: Exchange): ExactServer {
  const { version, tools, service, artifacts, handles } = options;
  const server = new ExactServer(
    { name: "holdfast", title: "Holdfast", version },
    {
      capabilities: { tools: {}, resources: {}, extensions: { [TASKS_EXTENSION]: {} } },
      instructions: INSTRUCTIONS,
      cacheHints: CACHE_HINTS,
    },
  );
  const scope = { generation: "m" as const, principal: exchange.principal };

  /** Only what is thrown here reaches the caller: the SDK would send the text of any other exception. */
  function serve<Params>(
    method: string,
    params: z.ZodType<Params>,
    handler: (params: Params, context: ServerContext) => Promise<Result>,
  ): void {
    server.setRequestHandler(method, { params }, async (given, context) => {
      try {
        return await handler(given, context);
      } catch (error) {
        throw toProtocolError(error, exchange, context);
      }
    });
  }

  function openHandle(handle: string): TaskAddress {
    const address = handles.open(scope, handle);
    if (address === null) throw new AppError("task_not_found", "not a handle of this principal");
    return address;
  }

  /** Methods of the extension belong to requests that declared it. */
  function serveTask(method: string, handler: (caller: Caller, handle: string, address: TaskAddress) => Promise<Result>): void {
    serve(method, taskParamsSchema, async ({ taskId }, context) => {
      const caller = callerOf(exchange, context);
      if (!caller.declaresTasks) throw tasksExtensionRequired();
      return await handler(caller, taskId, openHandle(taskId));
    });
  }

  serve("tools/list", listParamsSchema, async () => ({ tools: [...tools] }));
  serve("tools/call", callParamsSchema, async (params, context) => {
    const caller = callerOf(exchange, context);
    const answer = await service.call(caller, { name: params.name, arguments: params.arguments, signal: context.mcpReq.signal });
    return callResult(answer, (task) => handles.sign(scope, { workspaceId: task.workspaceId, taskId: task.id }));
  });

  serveTask("tasks/get", async (caller, handle, address) => detailedTaskJson(handle, await service.findTask(caller, address)));
  serveTask("tasks/cancel", async (caller, _handle, address) => {
    await service.cancelTask(caller, address);
    return {};
  });
  // Answers to questions that nobody asked are ignored (contract 9.2), but only the owner of a task may send any.
  serveTask("tasks/update", async (caller, _handle, address) => {
    await service.findTask(caller, address);
    return {};
  });

  // Artifacts are named by the results that made them; listing all of a workspace would be its whole history.
  serve("resources/list", listParamsSchema, async () => ({ resources: [] }));
  serve("resources/templates/list", listParamsSchema, async () => ({ resourceTemplates: [ARTIFACT_TEMPLATE] }));
  serve("resources/read", readParamsSchema, async ({ uri }) => readResult(await artifacts.read(exchange.principal, uri)));
  return server;
}

const ARTIFACT_TEMPLATE = {
  name: "artifact",
  title: "Artifact of a workspace",
  description: "Output of an operation, named by its SHA-256. offset and length select bytes; one read returns at most 1 MiB.",
  uriTemplate: ARTIFACT_URI_TEMPLATE,
};

const listParamsSchema = z.object({
  // No list is longer than one page, so no cursor was ever given out.
  cursor: z.never({ error: "unknown cursor" }).optional(),
});
/** Parsed from JSON text as part of the body, so it can hold nothing else; the operation's own schema says what it must be. */
const argumentsSchema = z.custom<JsonValue>((value) => value !== undefined);
const callParamsSchema = z.object({ name: z.string(), arguments: argumentsSchema.default({}) });
const taskParamsSchema = z.object({ taskId: z.string() });
const readParamsSchema = z.object({ uri: z.string() });

const declarationSchema = z.object({
  [CLIENT_CAPABILITIES_META_KEY]: z.object({ extensions: z.object({ [TASKS_EXTENSION]: z.looseObject({}) }) }),
});

function callerOf(exchange: Exchange, context: ServerContext): Caller {
  return {
    principal: exchange.principal,
    requestId: exchange.requestId,
    declaresTasks: declarationSchema.safeParse(context.mcpReq.envelope).success,
  };
}

function tasksExtensionRequired(): MissingRequiredClientCapabilityError {
  return new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } });
}

function callResult(answer: CallAnswer, sign: (task: Extract<CallAnswer, { kind: "task" }>["task"]) => string): Result {
  switch (answer.kind) {
    case "task":
      return { resultType: "task", ...taskJson(sign(answer.task), answer.task) };
    case "result":
      return { ...answer.result };
    case "failed": {
      const { code, message, data } = taskError(answer.outcome);
      throw new ProtocolError(code, message, data);
    }
    case "cancelled":
      throw new ProtocolError(ERRORS.task_cancelled.rpcCode, ERRORS.task_cancelled.message);
    case "taskRequired":
      throw tasksExtensionRequired();
  }
}

function readResult(range: ArtifactRange): Result {
  const { uri, mediaType, text, bytes, offset, totalBytes, next } = range;
  const body = text === null ? { blob: Buffer.from(bytes).toString("base64") } : { text };
  return {
    contents: [{ uri, mimeType: mediaType, ...body }],
    _meta: {
      "holdfast/range": { offset, length: bytes.byteLength },
      "holdfast/totalBytes": totalBytes,
      "holdfast/continuationUri": next,
    },
  };
}

function toProtocolError(error: unknown, exchange: Exchange, context: ServerContext): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (error instanceof AppError && error.code !== "internal") {
    exchange.refusal = error;
    const { code, message, data } = clientError(error);
    return new ProtocolError(code, message, data);
  }
  const reference = randomUUID();
  // A caller that has gone made the handler end early; that is no fault of ours.
  if (!context.mcpReq.signal.aborted) exchange.fault = new Error(`a request failed, reference ${reference}`, { cause: error });
  const { code, message } = clientError({ code: "internal", data: undefined });
  return new ProtocolError(code, message, { reference });
}
