import type { Principal } from "../access/principal.ts";
import type { ErrorCode } from "../errors.ts";
import type { TaskId } from "../ids.ts";
import type { JsonObject } from "../json.ts";
import type { Operation } from "../operations/operation.ts";
import type { InputAnswer, InputRequests } from "./input.ts";
import type { ReceiptRequest, StoredReceipt } from "./receipt.ts";
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
  /** The token of the attempt that is at it; null while none is, be it queued, parked or over. */
  readonly attempt: number | null;
  /** The questions that no one has answered yet, by key; empty unless the status is `input_required`. */
  readonly inputRequests: InputRequests;
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
  /** Whether a client gets a handle, or one call waits for the outcome and may go away (contract 8.5). */
  readonly waiter: "client" | "call";
  /**
   * Names the request of a read, with its principal, its workspace and all that its answer depends on, as lower-case hexadecimal SHA-256;
   * null for one that is never shared. Not heeded for a request with a receipt.
   */
  readonly contentAddress: string | null;
  /** Null for a request without a key. */
  readonly receipt: ReceiptRequest | null;
  /** Answers that the client gave before there was a task. */
  readonly answers: readonly InputAnswer[];
}

/**
 * `joined`: an identical read of the same principal was open, and this is it (contract 4.8). `repeated`: the key was used for the
 * same request before, and this is its task. `conflict`: the key stands for another request. `denied` for an unknown workspace and
 * for a missing grant alike.
 */
export type CreateOutcome =
  | { readonly kind: "created"; readonly task: Task }
  | { readonly kind: "joined"; readonly task: Task }
  | { readonly kind: "repeated"; readonly task: Task; readonly receipt: StoredReceipt }
  | { readonly kind: "conflict" }
  | { readonly kind: "denied" };

/** Addresses a task of a principal. */
export interface TaskRef {
  readonly id: TaskId;
  readonly principal: Principal;
}
