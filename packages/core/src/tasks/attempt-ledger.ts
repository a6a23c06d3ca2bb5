import type { ErrorCode } from "../errors.ts";
import type { TaskId, WorkerId } from "../ids.ts";
import type { ToolResult } from "../operations/tool-result.ts";
import type { TaskProgress } from "./task.ts";

/** The attempt that presents a write: only the holder of the newest token of a task may change anything (contract 5.2). */
export interface AttemptRef {
  readonly taskId: TaskId;
  readonly token: number;
  readonly workerId: WorkerId;
}

/** What a worker can run and reach; a claim outside of it finds nothing. */
export interface WorkerReach {
  readonly pools: readonly string[];
  readonly roots: readonly string[];
  readonly operations: readonly string[];
}

export interface ClaimRequest {
  readonly taskId: TaskId;
  readonly workerId: WorkerId;
  readonly leaseMs: number;
  readonly reach: WorkerReach;
}

export interface ClaimedAttempt extends AttemptRef {
  readonly operation: string;
  readonly operationVersion: number;
  readonly input: unknown;
  readonly workspace: { readonly id: string; readonly root: string; readonly path: string };
  /** Whose work it is. */
  readonly owner: { readonly issuer: string; readonly subject: string };
}

export interface Renewal {
  readonly attempt: AttemptRef;
  /** Null when nothing new was reported since the last heartbeat. */
  readonly progress: TaskProgress | null;
}

/**
 * `renewed`: the lease runs `leaseMs` from the database's now. `busy`: somebody holds the row; nothing is known to be
 * lost. `refused`: another attempt or a terminal state has taken over; the child must be stopped.
 */
export type RenewalAnswer =
  | { readonly kind: "renewed"; readonly cancelRequested: boolean }
  | { readonly kind: "busy" }
  | { readonly kind: "refused" };

/** How an attempt ended. */
export type Settlement =
  | { readonly kind: "completed"; readonly result: ToolResult; readonly artifacts: readonly StoredArtifact[] }
  /** `retry` asks for a replacement, granted while the budget lasts; without budget it is a failure. */
  | { readonly kind: "failed"; readonly code: ErrorCode; readonly reference: string; readonly detail: string; readonly retry: boolean }
  | { readonly kind: "cancelled" }
  /** By drain or deploy: the task is queued again at no cost. */
  | { readonly kind: "interrupted"; readonly detail: string };

export interface StoredArtifact {
  readonly sha256: string;
  readonly name: string;
}

/** `refused`: a newer attempt or a terminal state stands, and nothing was changed. */
export type SettlementAnswer = "completed" | "failed" | "cancelled" | "requeued" | "refused";

/** The worker's side of the task store. All guards are in the statements; the caller looks at what came back. */
export interface AttemptLedger {
  /** Null: terminal, leased to somebody, out of reach, or unknown. The wake was a hint and may be forgotten. */
  claim(request: ClaimRequest): Promise<ClaimedAttempt | null>;
  /** Answers in the order of the renewals. */
  renew(renewals: readonly Renewal[], leaseMs: number): Promise<readonly RenewalAnswer[]>;
  settle(attempt: AttemptRef, settlement: Settlement): Promise<SettlementAnswer>;
  /** Turns expired leases into lost attempts, at most `limit`, and says which tasks changed. Safe on every worker at once. */
  reap(limit: number): Promise<readonly TaskId[]>;
}
