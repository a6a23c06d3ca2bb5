import {
  AppError,
  POLL_INTERVAL_MS,
  type CreateOutcome,
  type CreateTask,
  type InputAnswer,
  type JsonObject,
  type Operation,
  type Principal,
  type Seals,
  type Task,
  type TaskId,
  type TaskManager,
  type Telemetry,
} from "@holdfast/core";
import type { Caller } from "./caller.ts";
import { contentAddress, isGenuineReceipt, receiptFor, type TaskRequest } from "./request-identity.ts";

/** A request that may become a task: everything about it has been checked but the right to work in its workspace. */
export interface Admission {
  readonly id: TaskId;
  readonly operation: Operation;
  readonly input: JsonObject & { readonly workspaceId: string };
  /** The caller's name for it, null for none. */
  readonly key: string | null;
  readonly ttlMs: number;
  readonly waiter: CreateTask["waiter"];
  /** What the client answered before. */
  readonly answers: readonly InputAnswer[];
}

/** `isNew` false for the task of an identical request before this one (contract 4.3, 4.8). */
export interface Admitted {
  readonly task: Task;
  readonly isNew: boolean;
}

export interface AdmissionOptions {
  readonly manager: Pick<TaskManager, "create">;
  readonly seals: Seals;
  readonly telemetry: Telemetry;
  /** Names of the workspaces in which the principal may do anything at all. */
  readonly workspacesOf: (principal: Principal) => Promise<readonly string[]>;
}

export type Admit = (caller: Caller, admission: Admission) => Promise<Admitted>;

/**
 * Makes the task of a request, or finds the one it has. Throws `AppError` "workspace_not_found", "request_key_conflict", or
 * "internal" for a receipt that none of us has written.
 */
export function createAdmission({ manager, seals, telemetry, workspacesOf }: AdmissionOptions): Admit {
  async function refused(caller: Caller, workspaceId: string): Promise<AppError> {
    return new AppError("workspace_not_found", `no grant in workspace "${workspaceId}"`, {
      // The caller's own, whatever was asked for, so that this tells nothing of the workspace that was.
      data: { workspaceId, workspaces: await workspacesOf(caller.principal) },
    });
  }

  return async (caller, { id, operation, input, key, ttlMs, waiter, answers }) => {
    const request: TaskRequest = { principal: caller.principal, workspaceId: input.workspaceId, operation, input };
    const outcome = await manager.create({
      ...request,
      operation,
      id,
      ttlMs,
      pollIntervalMs: POLL_INTERVAL_MS,
      waiter,
      contentAddress: isShared(operation) ? contentAddress(request, answers.map(asJson)) : null,
      receipt: key === null ? null : receiptFor(seals, request, key, id),
      answers,
    });
    switch (outcome.kind) {
      case "denied":
        throw await refused(caller, input.workspaceId);
      case "conflict":
        throw new AppError("request_key_conflict", `the requestKey of a call of ${operation.name} stands for another request`);
      case "created":
        report(telemetry, caller, operation, outcome);
        return { task: outcome.task, isNew: true };
      case "joined":
        return { task: outcome.task, isNew: false };
      case "repeated":
        if (key === null || !isGenuineReceipt(seals, request, key, outcome.receipt) || outcome.task.id !== outcome.receipt.taskId)
          throw new AppError("internal", `the receipt of task ${outcome.receipt.taskId} was written by none of us`);
        return { task: outcome.task, isNew: false };
    }
  };
}

function isShared({ effect, contentAddressed }: Operation): boolean {
  return effect === "read" && contentAddressed;
}

function asJson({ key, method, answer }: InputAnswer): JsonObject {
  return { key, method, answer };
}

function report(telemetry: Telemetry, caller: Caller, operation: Operation, { task }: Extract<CreateOutcome, { kind: "created" }>): void {
  telemetry.emit("task.created", {
    requestId: caller.requestId,
    taskId: task.id,
    operation: operation.name,
    workspaceId: task.workspaceId,
  });
}
