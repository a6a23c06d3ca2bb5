import type { TaskStatus } from "./status.ts";

/**
 * Where a task is in its life. Finer than the public status: `queued` and `running` are both `working`, told apart by
 * whether a lease is held. `parked` waits for its client's input, with no lease and no process.
 */
export type TaskPhase = "queued" | "running" | "parked" | "completed" | "failed" | "cancelled";

/**
 * What can happen to a task. `claim` starts an attempt; `complete`, `fail` and `stop` settle it for good; `requeue`
 * ends it and lets another one start (lost or crashed with budget left, or interrupted); `suspend` ends it to wait for input, and
 * `resume` is the answer to the last open question; `cancel` is the client's wish.
 */
export type TaskEvent = "claim" | "renew" | "complete" | "fail" | "stop" | "requeue" | "suspend" | "resume" | "cancel";

/** `refused`: the write changes nothing and its author is told. */
export type Transition = TaskPhase | "refused";

/**
 * The whole machine. It is total on purpose: a new phase or event does not compile until every cell is decided. The SQL
 * in `packages/db/src/writes` is this table as guards, the in-memory manager reads it.
 */
export const TRANSITIONS: Readonly<Record<TaskPhase, Readonly<Record<TaskEvent, Transition>>>> = {
  queued: {
    claim: "running",
    renew: "refused",
    complete: "refused",
    fail: "refused",
    stop: "refused",
    requeue: "refused",
    suspend: "refused",
    resume: "refused",
    cancel: "cancelled",
  },
  running: {
    claim: "refused",
    renew: "running",
    complete: "completed",
    fail: "failed",
    stop: "cancelled",
    requeue: "queued",
    suspend: "parked",
    resume: "refused",
    // Durable intent only: the attempt decides what really happened (contract 8.3, 8.4).
    cancel: "running",
  },
  parked: {
    claim: "refused",
    renew: "refused",
    complete: "refused",
    fail: "refused",
    stop: "refused",
    requeue: "refused",
    suspend: "refused",
    resume: "queued",
    cancel: "cancelled",
  },
  completed: settled("completed"),
  failed: settled("failed"),
  cancelled: settled("cancelled"),
};

export const STATUS_OF_PHASE: Readonly<Record<TaskPhase, TaskStatus>> = {
  queued: "working",
  running: "working",
  parked: "input_required",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
};

/** A terminal status never changes; cancelling it is accepted and changes nothing (contract 5.1, 8.1). */
function settled(phase: "completed" | "failed" | "cancelled"): Record<TaskEvent, Transition> {
  return {
    claim: "refused",
    renew: "refused",
    complete: "refused",
    fail: "refused",
    stop: "refused",
    requeue: "refused",
    suspend: "refused",
    resume: "refused",
    cancel: phase,
  };
}
