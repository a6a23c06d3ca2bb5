import {
  AppError,
  DEFAULT_TTL_MS,
  findUnstorableText,
  isTerminal,
  POLL_INTERVAL_MS,
  type JsonValue,
  type Operation,
  type OperationRegistry,
  type Principal,
  type Task,
  type TaskId,
  type TaskManager,
  type Telemetry,
  type ToolResult,
} from "@holdfast/core";
import type { Hub } from "../live/hub.ts";
import { waitForSettlement } from "../live/wait-for-settlement.ts";
import type { Cancellations } from "./cancellations.ts";
import { deliverableResult } from "./deliverable-result.ts";
import type { TaskAddress } from "./handles.ts";
import { parseArguments } from "./parse-arguments.ts";

/** Who is calling, in which request, and whether it declared that it can take a task for an answer. */
export interface Caller {
  readonly principal: Principal;
  readonly requestId: string;
  readonly declaresTasks: boolean;
}

export interface ToolCall {
  readonly name: string;
  readonly arguments: JsonValue;
  /** Aborted when the caller is gone: nobody will read the answer of an ordinary call. */
  readonly signal: AbortSignal;
}

/** `taskRequired`: the operation only runs as a task and the caller cannot take one; each protocol says so in its own way. */
export type CallAnswer =
  | { readonly kind: "task"; readonly task: Task }
  | { readonly kind: "result"; readonly result: ToolResult }
  | { readonly kind: "failed"; readonly outcome: Extract<Task["outcome"], { kind: "error" }> }
  | { readonly kind: "cancelled" }
  | { readonly kind: "taskRequired" };

/**
 * What every protocol generation offers, in words of the domain. All methods reject with `AppError` for what a caller or an
 * operator can do something about.
 */
export interface ToolService {
  call(caller: Caller, call: ToolCall): Promise<CallAnswer>;
  findTask(caller: Caller, address: TaskAddress): Promise<Task>;
  cancelTask(caller: Caller, address: TaskAddress): Promise<void>;
}

export interface ToolServiceOptions {
  readonly registry: OperationRegistry;
  readonly manager: TaskManager;
  readonly hub: Hub;
  readonly cancellations: Cancellations;
  readonly telemetry: Telemetry;
  readonly newTaskId: () => TaskId;
  /** Names of the workspaces in which the principal may do anything at all. */
  readonly workspacesOf: (principal: Principal) => Promise<readonly string[]>;
  /** Aborted when the node gives up waiting because it is about to end. */
  readonly stopping: AbortSignal;
  readonly maxWaitMs?: number;
}

/** Longer than any client waits; it ends calls whose task nobody can run. */
const MAX_WAIT_MS = 15 * 60_000;

export function createToolService(options: ToolServiceOptions): ToolService {
  const { registry, manager, hub, cancellations, telemetry, newTaskId, workspacesOf, stopping, maxWaitMs = MAX_WAIT_MS } = options;

  async function create(caller: Caller, operation: Operation, call: ToolCall, id: TaskId): Promise<Task> {
    const input = parseArguments(operation, call.arguments);
    call.signal.throwIfAborted();
    const outcome = await manager.create({
      id,
      principal: caller.principal,
      workspaceId: input.workspaceId,
      operation,
      input,
      ttlMs: DEFAULT_TTL_MS,
      pollIntervalMs: POLL_INTERVAL_MS,
    });
    if (outcome.kind === "denied")
      throw new AppError("workspace_not_found", `no grant in workspace "${input.workspaceId}"`, {
        // The caller's own, whatever was asked for, so that this tells nothing of the workspace that was.
        data: { workspaceId: input.workspaceId, workspaces: await workspacesOf(caller.principal) },
      });
    telemetry.emit("task.created", {
      requestId: caller.requestId,
      taskId: id,
      operation: operation.name,
      workspaceId: outcome.task.workspaceId,
    });
    return outcome.task;
  }

  async function callAndWait(caller: Caller, operation: Operation, call: ToolCall): Promise<CallAnswer> {
    const ref = { id: newTaskId(), principal: caller.principal };
    using watch = hub.watch(ref.id);
    try {
      await create(caller, operation, call, ref.id);
    } catch (error) {
      // The statement may have been committed all the same, and then nobody would ever look at its result.
      if (error instanceof AppError && error.code === "storage_unavailable") cancellations.request(ref, caller.requestId);
      throw error;
    }
    try {
      const settled = await waitForSettlement({
        watch,
        read: () => manager.find(ref),
        signal: AbortSignal.any([call.signal, stopping]),
        deadlineMs: maxWaitMs,
      });
      // The owner lost the grant while waiting.
      if (settled === null) throw new AppError("workspace_not_found", `task ${ref.id} is out of its owner's reach`);
      return answerOf(settled);
    } catch (error) {
      if (stopping.aborted) throw new AppError("overloaded", `the node stopped while a call waited for task ${ref.id}`, { cause: error });
      // Its caller is gone or has waited too long, so the result would reach nobody (contract 8.5).
      cancellations.request(ref, caller.requestId);
      throw error;
    }
  }

  async function findOwn(caller: Caller, { workspaceId, taskId }: TaskAddress): Promise<Task> {
    const task = await manager.find({ id: taskId, principal: caller.principal });
    if (task === null || task.workspaceId !== workspaceId) throw new AppError("task_not_found", `task ${taskId} is out of reach`);
    return task;
  }

  return {
    call: async (caller, call) => {
      const operation = registry.get(call.name);
      if (operation === undefined) throw new AppError("tool_not_found", "no operation of that name", { data: { name: call.name } });
      requireScopes(caller, operation.scopes);
      refuseUnstorableText(call.arguments);
      switch (modeOf(operation, caller)) {
        case "task":
          return { kind: "task", task: await create(caller, operation, call, newTaskId()) };
        case "ordinary":
          return await callAndWait(caller, operation, call);
        case "taskRequired":
          return { kind: "taskRequired" };
      }
    },
    findTask: async (caller, address) => {
      const task = await findOwn(caller, address);
      const operation = registry.get(task.operation);
      // A credential that may only read can still look at its earlier writes (contract 2.5).
      if (operation?.effect === "read") requireScopes(caller, operation.scopes);
      return task;
    },
    cancelTask: async (caller, address) => {
      const task = await findOwn(caller, address);
      requireScopes(caller, registry.get(task.operation)?.scopes ?? []);
      if (!(await cancellations.now({ id: task.id, principal: caller.principal }, caller.requestId)))
        throw new AppError("task_not_found", `task ${task.id} is out of reach`);
    },
  };
}

function modeOf(operation: Operation, caller: Caller): "task" | "ordinary" | "taskRequired" {
  switch (operation.tasks) {
    case "required":
      return caller.declaresTasks ? "task" : "taskRequired";
    case "forbidden":
      return "ordinary";
    case "optional":
      // Declaring the extension alone sends no write into the background (contract 4.1).
      return caller.declaresTasks && operation.effect === "read" ? "task" : "ordinary";
  }
}

function requireScopes({ principal }: Caller, scopes: readonly string[]): void {
  if (scopes.every((scope) => principal.scopes.includes(scope))) return;
  throw new AppError("insufficient_scope", `the token carries [${principal.scopes.join(" ")}], needed are [${scopes.join(" ")}]`, {
    data: { scopes },
  });
}

function refuseUnstorableText(value: JsonValue): void {
  const path = findUnstorableText(value);
  if (path === null) return;
  throw new AppError("invalid_arguments", "text that Postgres cannot keep", {
    data: { issues: [{ path: path.join("."), message: "Text with NUL or half of a surrogate pair cannot be kept." }] },
  });
}

function answerOf(task: Task): CallAnswer {
  if (task.status === "cancelled") return { kind: "cancelled" };
  if (task.outcome?.kind === "error") return { kind: "failed", outcome: task.outcome };
  if (isTerminal(task.status)) return { kind: "result", result: deliverableResult(task) };
  throw new Error(`task ${task.id} is ${task.status} and has no outcome`);
}
