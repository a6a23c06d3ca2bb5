import {
  AppError,
  DEFAULT_TTL_MS,
  negotiateTtl,
  type InputRequests,
  type JsonObject,
  type JsonValue,
  type Operation,
  type OperationRegistry,
  type Seals,
  type Task,
  type TaskId,
  type TaskManager,
  type ToolResult,
} from "@holdfast/core";
import { createAdmission, type Admission, type AdmissionOptions } from "./admission.ts";
import { askWhatIsMissing, requireCapabilities } from "./ask-rounds.ts";
import { requireScopes, type Caller } from "./caller.ts";
import type { Cancellations } from "./cancellations.ts";
import { missingCapabilities, missingForMethods } from "./client-capabilities.ts";
import { deliverableResult } from "./deliverable-result.ts";
import type { TaskAddress } from "./handles.ts";
import { readAnswers } from "./input-answers.ts";
import { deliverableRequests } from "./input-requests.ts";
import { createOrdinaryCalls, type OrdinaryCall, type OrdinaryCallsOptions } from "./ordinary-call.ts";
import { invalidArguments, parseArgumentObject, parseStoredInput, refuseUnstorableText } from "./parse-arguments.ts";
import { takeRequestKey } from "./request-key.ts";
import { createRequestStates, ROUND_MS, type RequestSubject } from "./request-state.ts";

export interface ToolCall {
  readonly name: string;
  readonly arguments: JsonValue;
  /** For how long the caller wants to find the result, in milliseconds; not checked yet. */
  readonly ttlMs: unknown;
  /** Answers to what an earlier round asked, by key, and the state that came with the questions. */
  readonly responses: Readonly<Record<string, JsonValue>>;
  readonly requestState: string | null;
  /** Aborted when the caller is gone: nobody will read the answer of an ordinary call. */
  readonly signal: AbortSignal;
  /** Told of the states of an ordinary call's task on its way. */
  readonly onLook?: OrdinaryCall["onLook"];
  readonly onAdmitted?: OrdinaryCall["onAdmitted"];
}

/** `inputRequired`: the same call is expected again, with answers and with this state. */
export type CallAnswer =
  | { readonly kind: "task"; readonly task: Task }
  | { readonly kind: "result"; readonly result: ToolResult }
  | { readonly kind: "failed"; readonly outcome: Extract<Task["outcome"], { kind: "error" }> }
  | { readonly kind: "cancelled" }
  | { readonly kind: "inputRequired"; readonly requests: InputRequests; readonly requestState: string };

/**
 * What every protocol generation offers, in words of the domain. All methods reject with `AppError` for what a caller or an
 * operator can do something about.
 */
export interface ToolService {
  call(caller: Caller, call: ToolCall): Promise<CallAnswer>;
  findTask(caller: Caller, address: TaskAddress): Promise<Task>;
  /** Takes the answers that fit what the task asks, and ignores the others (contract 9.2). */
  updateTask(caller: Caller, address: TaskAddress, responses: Readonly<Record<string, JsonValue>>): Promise<void>;
  /** Answers with the task as it is after the wish was recorded. */
  cancelTask(caller: Caller, address: TaskAddress): Promise<Task>;
}

export interface ToolServiceOptions extends AdmissionOptions, Omit<OrdinaryCallsOptions, "maxWaitMs"> {
  readonly registry: OperationRegistry;
  readonly manager: TaskManager;
  readonly cancellations: Cancellations;
  readonly seals: Seals;
  readonly newTaskId: () => TaskId;
  /** Milliseconds since 1970, for the time that clients have to answer. */
  readonly now: () => number;
  /** What a client must declare to be given tasks, as its protocol spells it. */
  readonly tasksCapability: JsonObject;
  readonly maxWaitMs?: number;
}

/** Longer than any client waits; it ends calls whose task nobody can run. */
const MAX_WAIT_MS = 15 * 60_000;

export function createToolService(options: ToolServiceOptions): ToolService {
  const { registry, manager, cancellations, newTaskId, now, publish, tasksCapability, maxWaitMs = MAX_WAIT_MS } = options;
  const admit = createAdmission(options);
  const ordinaryCalls = createOrdinaryCalls({ ...options, maxWaitMs });
  const states = createRequestStates({ seals: options.seals, now });

  async function callOperation(caller: Caller, operation: Operation, call: ToolCall): Promise<CallAnswer> {
    const given = parseArgumentObject(call.arguments);
    const { key, input: own } = operation.effect === "write" ? takeRequestKey(given) : { key: null, input: given };
    const input = parseStoredInput(operation.input, own);
    const wantedMs = retention(call.ttlMs);
    refuseUnstorableText(call.responses);
    requireCapabilities(missingForMethods(operation.asks, caller.capabilities));
    const waiter = waiterOf(operation, caller, key, tasksCapability);
    // Whoever waits itself must find the outcome however long it took: a lifetime counts from the creation and may be over by then.
    const ttlMs = waiter === "call" ? Math.max(wantedMs, DEFAULT_TTL_MS) : wantedMs;

    const subject: RequestSubject = { principal: caller.principal, method: "tools/call", name: call.name, arguments: given };
    const state = call.requestState === null ? null : states.open(subject, call.requestState);
    const responses = readAnswers(call.responses);
    const ordinary: OrdinaryCall = {
      principal: caller.principal,
      requestId: caller.requestId,
      hasKey: key !== null,
      signal: call.signal,
      onLook: call.onLook,
      onAdmitted: call.onAdmitted,
    };
    if (state?.kind === "parked") {
      call.signal.throwIfAborted();
      return answerOf(caller, subject, await ordinaryCalls.resume(ordinary, state.taskId, responses));
    }
    const { answers, requests } = askWhatIsMissing({
      ask: (round) => operation.askFirst?.(input, round) ?? null,
      known: state?.answers ?? [],
      given: responses,
      capabilities: caller.capabilities,
    });
    if (requests !== null) {
      const requestState = states.close(subject, { kind: "asking", answers }, new Date(now() + ROUND_MS));
      return { kind: "inputRequired", requests, requestState };
    }
    call.signal.throwIfAborted();
    const admission: Admission = { id: newTaskId(), operation, input, key, ttlMs, waiter, answers };
    if (waiter === "client") return { kind: "task", task: (await admit(caller, admission)).task };
    return answerOf(caller, subject, await ordinaryCalls.begin(ordinary, admission.id, () => admit(caller, admission)));
  }

  /** What an ordinary call says of the task that it waited for. */
  function answerOf(caller: Caller, subject: RequestSubject, task: Task): CallAnswer {
    switch (task.status) {
      case "cancelled":
        return { kind: "cancelled" };
      case "failed":
      case "completed":
        return task.outcome?.kind === "error"
          ? { kind: "failed", outcome: task.outcome }
          : { kind: "result", result: deliverableResult(task) };
      case "input_required":
        return askCaller(caller, subject, task);
      case "working":
        throw new Error(`a call stopped waiting for task ${task.id}, which is at work`);
    }
  }

  /**
   * The task stays parked between the rounds and the call stays one of those that wait for it: the state is worth a handle, for as long
   * as an unanswered task is kept. Whoever cannot be asked will never answer, so its call ends here.
   */
  function askCaller(caller: Caller, subject: RequestSubject, task: Task): CallAnswer {
    const requests = deliverableRequests(task.inputRequests);
    const missing = missingCapabilities(requests, caller.capabilities);
    if (missing !== null) cancellations.abandon({ id: task.id, principal: caller.principal }, caller.requestId);
    requireCapabilities(missing);
    // By this node's clock alone: how long the task really lives is the database's to say.
    const expiresAt = new Date(now() + Math.max(ROUND_MS, task.ttlMs));
    return { kind: "inputRequired", requests, requestState: states.close(subject, { kind: "parked", taskId: task.id }, expiresAt) };
  }

  async function findOwn(caller: Caller, { workspaceId, taskId }: TaskAddress): Promise<Task> {
    const task = await manager.find({ id: taskId, principal: caller.principal });
    if (task === null || task.workspaceId !== workspaceId) throw outOfReach(taskId);
    return task;
  }

  /** For what changes a task: its operation's scopes are needed as they were to submit it (contract 2.5). */
  async function findToChange(caller: Caller, address: TaskAddress): Promise<Task> {
    const task = await findOwn(caller, address);
    requireScopes(caller, registry.get(task.operation)?.scopes ?? []);
    return task;
  }

  return {
    call: async (caller, call) => {
      const operation = registry.get(call.name);
      if (operation === undefined) throw new AppError("tool_not_found", "no operation of that name", { data: { name: call.name } });
      requireScopes(caller, operation.scopes);
      return await callOperation(caller, operation, call);
    },
    findTask: async (caller, address) => {
      const task = await findOwn(caller, address);
      const operation = registry.get(task.operation);
      // A credential that may only read can still look at its earlier writes (contract 2.5).
      if (operation?.effect === "read") requireScopes(caller, operation.scopes);
      return task;
    },
    updateTask: async (caller, address, responses) => {
      const { id } = await findToChange(caller, address);
      refuseUnstorableText(responses);
      if ((await manager.update({ id, principal: caller.principal }, readAnswers(responses))) === null) throw outOfReach(id);
      publish(id);
    },
    cancelTask: async (caller, address) => {
      const { id } = await findToChange(caller, address);
      const task = await cancellations.now({ id, principal: caller.principal }, caller.requestId);
      if (task === null) throw outOfReach(id);
      return task;
    },
  };
}

/** Whether the caller gets a task or waits itself. Throws where it has to have a task and cannot. */
function waiterOf(operation: Operation, caller: Caller, key: string | null, tasksCapability: JsonObject): Admission["waiter"] {
  const mayBeTask = caller.declaresTasks && operation.tasks !== "forbidden";
  if (operation.tasks === "required") {
    if (!caller.declaresTasks) requireCapabilities(tasksCapability);
    if (operation.effect === "write" && key === null)
      throw new AppError("request_key_required", `a call of ${operation.name} without a requestKey`);
  }
  // Declaring the extension alone sends no write into the background (contract 4.1).
  return mayBeTask && (operation.effect === "read" || key !== null) ? "client" : "call";
}

function retention(requested: unknown): number {
  const ttlMs = negotiateTtl(requested);
  if (ttlMs !== null) return ttlMs;
  throw invalidArguments([
    { path: "_meta.holdfast/ttlMs", message: "expected a whole positive number of milliseconds, or null for the longest" },
  ]);
}

function outOfReach(taskId: TaskId): AppError {
  return new AppError("task_not_found", `task ${taskId} is out of reach`);
}
