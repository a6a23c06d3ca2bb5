import type { ErrorCode } from "../errors.ts";
import type { TaskId, WorkerId } from "../ids.ts";
import type { AttemptRef, StoredArtifact } from "./attempt.ts";
import type { ToolResult } from "../operations/tool-result.ts";
import type { Effect } from "../operations/operation.ts";
import type { KeepAnswer, SealedStep, SealedValue, StagedResult } from "./checkpoint.ts";
import type { InputRequests, TaskInput } from "./input.ts";
import type { TaskProgress } from "./task.ts";
import type { JournalState } from "./write-journal.ts";

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
  readonly effect: Effect;
  readonly input: unknown;
  readonly workspace: { readonly id: string; readonly root: string; readonly path: string };
  /** Whose work it is. */
  readonly owner: { readonly issuer: string; readonly subject: string };
  readonly cancelRequested: boolean;
  /** What earlier attempts have left. None of it may be believed before its seal was checked. */
  readonly checkpoint: SealedValue | null;
  readonly steps: readonly SealedStep[];
  readonly inputs: readonly TaskInput[];
  /** A result of this very task that only has to be published (contract 6.1). */
  readonly staged: StagedResult | null;
  /** The newest result of an identical read, good while the files are those that it was made from (contract 4.8). */
  readonly reusable: StagedResult | null;
  /** Where the journal of this task stands; its entry is read apart, because it holds files. */
  readonly journalState: JournalState | null;
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

/**
 * How an attempt ended. A wish to cancel that came first turns `interrupted`, `suspended` and a failure that asks for a retry into
 * `cancelled`; a result or a final failure stands (contract 8.3).
 *
 * An attempt dies when its lease expires or its failure asks for a retry. What becomes of the task is then the first of these that fits:
 * 1. its journal is unresolved: it fails as "write_unresolved";
 * 2. a cancellation was requested, and no journal is open or committed: it is cancelled;
 * 3. a journal is open or committed, or a result is staged: another attempt follows, at no cost, as there is nothing to run again;
 * 4. the attempt before was replaced after a death with the same checkpoint version, and that is not zero: it fails as "checkpoint_stuck";
 * 5. the budget lets another attempt follow, or the task fails with the reason of the last one.
 * An interrupted attempt is judged by the first two and followed by another at no cost.
 *
 * Endings that contradict the journal reject with "internal" and settle nothing: any but a replacement while it is open, any but
 * `completed` once it is committed, any but a failure as "write_unresolved" when it is unresolved. The lease then runs out, and another
 * attempt finds what there is to finish.
 */
export type Settlement =
  | { readonly kind: "completed"; readonly result: ToolResult; readonly artifacts: readonly StoredArtifact[] }
  /** Completed with the result that was staged; rejects with "internal" when there is none. */
  | { readonly kind: "published" }
  /** `retry` asks for a replacement, granted while the budget lasts; without budget it is a failure. */
  | { readonly kind: "failed"; readonly code: ErrorCode; readonly reference: string; readonly detail: string; readonly retry: boolean }
  | { readonly kind: "cancelled" }
  /** By drain or deploy: the task is queued again at no cost. */
  | { readonly kind: "interrupted"; readonly detail: string }
  /**
   * Waits for answers to these questions (contract 9.1). Rejects with "operation_output_invalid" when there is none, or when one of them was
   * asked or answered before; nothing is settled then.
   */
  | { readonly kind: "suspended"; readonly requests: InputRequests };

/** `refused`: a newer attempt or a terminal state stands, and nothing was changed. */
export type SettlementAnswer = "completed" | "failed" | "cancelled" | "requeued" | "parked" | "refused";

/** The worker's side of the task store. All guards are in the statements; the caller looks at what came back. */
export interface AttemptLedger {
  /** Null: terminal, leased to somebody, out of reach, or unknown. The wake was a hint and may be forgotten. */
  claim(request: ClaimRequest): Promise<ClaimedAttempt | null>;
  /** Answers in the order of the renewals. */
  renew(renewals: readonly Renewal[], leaseMs: number): Promise<readonly RenewalAnswer[]>;
  settle(attempt: AttemptRef, settlement: Settlement): Promise<SettlementAnswer>;
  /** Replaces the checkpoint of the attempt's task. */
  saveCheckpoint(attempt: AttemptRef, value: SealedValue): Promise<KeepAnswer>;
  /** Keeps the value of a step; one that was kept under this key before is replaced. */
  saveStep(attempt: AttemptRef, step: SealedStep): Promise<KeepAnswer>;
  /**
   * Stores the result of a read before it is published; `sourceRevision` null means that no other task may have it. Replaces one that was
   * staged before, and links the artifacts to this task. Rejects with "operation_output_invalid" for an artifact that is not stored, or
   * not any more: a reused result must be made again then.
   */
  stage(attempt: AttemptRef, result: Omit<StagedResult, "taskId">): Promise<KeepAnswer>;
  /** Removes a staged result that is not to be believed: while one stands, attempts are replaced without end (`Settlement`). */
  unstage(attempt: AttemptRef): Promise<KeepAnswer>;
  /** Turns expired leases into lost attempts, at most `limit`, and says which tasks changed. Safe on every worker at once. */
  reap(limit: number): Promise<readonly TaskId[]>;
}
