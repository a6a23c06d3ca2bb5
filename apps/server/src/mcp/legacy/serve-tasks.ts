import { ProtocolError } from "@modelcontextprotocol/server";
import { AppError, ERRORS, isTerminal, type OperationRegistry, type Principal, type Task } from "@holdfast/core";
import type { SessionStore } from "@holdfast/db";
import { z } from "zod";
import type { Hub } from "../../live/hub.ts";
import { waitForSettlement } from "../../live/wait-for-settlement.ts";
import { requireCapabilities } from "../ask-rounds.ts";
import { missingCapabilities } from "../client-capabilities.ts";
import { taskError } from "../client-error.ts";
import { deliverableResult } from "../deliverable-result.ts";
import type { TaskAddress, TaskHandles } from "../handles.ts";
import { deliverableRequests } from "../input-requests.ts";
import { Released } from "../ordinary-call.ts";
import { invalidArguments } from "../parse-arguments.ts";
import type { Serve } from "../serve.ts";
import type { ToolService } from "../tool-service.ts";
import type { LegacyRequest } from "./legacy-request.ts";
import { requestMessage } from "./messages.ts";
import { FEATURES } from "./revisions.ts";
import type { TaskCursors } from "./task-cursor.ts";
import { legacyTaskJson, relatedTask } from "./task-json.ts";
import { resultName, taskQuestionName } from "./wire-names.ts";

export interface LegacyTasksOptions {
  readonly registry: OperationRegistry;
  readonly service: ToolService;
  readonly handles: TaskHandles;
  readonly hub: Hub;
  readonly store: Pick<SessionStore, "listTasks">;
  readonly cursors: TaskCursors;
}

const PAGE_SIZE = 100;
/** How long a cancellation waits for a running attempt to end: clients of this revision expect to be told `cancelled`. */
const CANCEL_WAIT_MS = 3_000;
/** A stream that waits for a result is begun anew after so long. */
const RESULT_WAIT_MS = 15 * 60_000;

/** The methods for tasks of revision 2025-11-25; earlier ones do not know them. */
export function serveLegacyTasks(serve: Serve<LegacyRequest>, options: LegacyTasksOptions): void {
  const { registry, service, handles, hub, store, cursors } = options;

  function addressOf(principal: Principal, handle: string): TaskAddress {
    const address = handles.open({ generation: "l", principal }, handle);
    if (address === null) throw new AppError("task_not_found", "not a handle of this principal");
    return address;
  }

  serve("tasks/get", taskParamsSchema, async ({ taskId: handle }, request) => {
    requireTasks(request);
    return legacyTaskJson(handle, await service.findTask(request.caller, addressOf(request.caller.principal, handle)));
  });

  serve("tasks/list", z.object({ cursor: z.string().optional() }), async ({ cursor }, request) => {
    requireTasks(request);
    const { principal } = request.caller;
    const after = cursor === undefined ? null : cursors.open(principal, cursor);
    const page = await store.listTasks({ principal, after, limit: PAGE_SIZE });
    const last = page.length < PAGE_SIZE ? undefined : page.at(-1);
    return {
      tasks: page
        .filter((task) => mayLookAt(registry, task, principal))
        .map((task) =>
          legacyTaskJson(handles.sign({ generation: "l", principal }, { workspaceId: task.workspaceId, taskId: task.id }), task),
        ),
      ...(last === undefined ? {} : { nextCursor: cursors.close(principal, last.id) }),
    };
  });

  serve("tasks/cancel", taskParamsSchema, async ({ taskId: handle }, request) => {
    requireTasks(request);
    const { caller, signal } = request;
    const address = addressOf(caller.principal, handle);
    using watch = hub.watch(address.taskId);
    if (isTerminal((await service.findTask(caller, address)).status)) throw overAlready();
    const task = await service.cancelTask(caller, address);
    if (task.status === "cancelled") return legacyTaskJson(handle, task);
    const read = (): Promise<Task> => service.findTask(caller, address);
    const settled = isTerminal(task.status)
      ? task
      : await waitForSettlement({ watch, read, signal, deadlineMs: CANCEL_WAIT_MS }).catch((error: unknown) => {
          if (error instanceof AppError && error.code === "operation_timed_out") return task;
          throw error;
        });
    // The work was done before the wish reached it.
    if (settled !== null && settled.status !== "cancelled" && isTerminal(settled.status)) throw overAlready();
    return legacyTaskJson(handle, settled ?? task);
  });

  serve("tasks/result", taskParamsSchema, async ({ taskId: handle }, request) => {
    requireTasks(request);
    const { caller, reply, signal } = request;
    const address = addressOf(caller.principal, handle);
    const known = new Set(request.asked);
    const from = (): string => resultName(handle, request.id, [...known]);
    const ask = (task: Task): void => {
      if (task.status !== "input_required") return;
      const questions = deliverableRequests(task.inputRequests);
      requireCapabilities(missingCapabilities(questions, caller.capabilities));
      for (const [key, { method, params }] of Object.entries(questions)) {
        if (known.has(key)) continue;
        known.add(key);
        const meta = { ...metaSchema.parse(params["_meta"]), ...relatedTask(handle) };
        reply.send(requestMessage(taskQuestionName(handle, key), method, { ...params, _meta: meta }), from());
      }
    };
    const read = (): Promise<Task> => service.findTask(caller, address);
    using watch = hub.watch(address.taskId);
    const first = await read();
    if (!isTerminal(first.status)) {
      reply.resumeFrom(from());
      reply.open();
      ask(first);
    }
    const task = isTerminal(first.status)
      ? first
      : await waitForSettlement({ watch, read, onLook: ask, signal, deadlineMs: RESULT_WAIT_MS }).catch((error: unknown) => {
          if (error instanceof AppError && error.code === "operation_timed_out")
            throw new Released("the client asks again", { cause: error });
          throw error;
        });
    if (task === null) throw new AppError("task_not_found", "the task went while its result was waited for");
    return { ...outcomeOf(task), _meta: relatedTask(handle) };
  });
}

const taskParamsSchema = z.object({ taskId: z.string() });
const metaSchema = z.record(z.string(), z.json()).default({});

function requireTasks({ session }: LegacyRequest): void {
  if (!FEATURES[session.revision].tasks) throw new ProtocolError(-32_601, "Method not found");
}

function overAlready(): Error {
  return invalidArguments([{ path: "taskId", message: "the task is over already" }]);
}

function outcomeOf(task: Task): Record<string, unknown> {
  if (task.status === "completed") return { ...deliverableResult(task) };
  if (task.outcome?.kind !== "error") throw new ProtocolError(ERRORS.task_cancelled.rpcCode, ERRORS.task_cancelled.message);
  const { code, message, data } = taskError(task.outcome);
  throw new ProtocolError(code, message, data);
}

/** A credential that may only read can still look at its earlier writes (contract 2.5). */
export function mayLookAt(registry: OperationRegistry, task: Pick<Task, "operation">, { scopes }: Principal): boolean {
  const operation = registry.get(task.operation);
  return operation?.effect !== "read" || operation.scopes.every((scope) => scopes.includes(scope));
}
