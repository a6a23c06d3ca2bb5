import type { Principal } from "../access/principal.ts";
import type { ErrorCode } from "../errors.ts";
import type { TaskId } from "../ids.ts";
import type { JsonObject } from "../json.ts";
import type { Operation } from "../operations/operation.ts";
import type { TaskStatus } from "./status.ts";

/** A task as its owner may see it, from one authorized read. Times are the database's. */
export interface Task {
  readonly id: TaskId;
  readonly workspaceId: string;
  readonly operation: string;
  readonly operationVersion: number;
  readonly status: TaskStatus;
  readonly statusMessage: string | null;
  readonly progress: TaskProgress | null;
  readonly cancelRequested: boolean;
  readonly createdAt: Date;
  readonly lastUpdatedAt: Date;
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
  /** Null until the task is completed or failed. */
  readonly outcome: TaskOutcome | null;
}

export interface TaskProgress {
  readonly value: number;
  readonly total: number | null;
  readonly message: string | null;
}

/** `result` is the stored tool result, not yet validated again for delivery (contract 1.6). */
export type TaskOutcome =
  | { readonly kind: "result"; readonly result: unknown }
  | { readonly kind: "error"; readonly code: ErrorCode; readonly reference: string };

export interface CreateTask {
  /** Chosen by the caller of the manager, so that managers stay free of randomness. */
  readonly id: TaskId;
  readonly principal: Principal;
  readonly workspaceId: string;
  readonly operation: Pick<Operation, "name" | "version" | "effect" | "pool">;
  /** Parsed and storable: no NUL, no lone surrogate. */
  readonly input: JsonObject;
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
}

/** `denied` for an unknown workspace and for a missing grant alike. */
export type CreateOutcome = { readonly kind: "created"; readonly task: Task } | { readonly kind: "denied" };

/** Addresses a task of a principal. */
export interface TaskRef {
  readonly id: TaskId;
  readonly principal: Principal;
}
