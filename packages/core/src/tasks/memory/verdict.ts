import type { ErrorCode } from "../../errors.ts";
import type { SettlementAnswer } from "../attempt-ledger.ts";
import { ttlAtEnd } from "../retention.ts";
import { mayReplace } from "../retry-budget.ts";
import { isBound, isUnresolved, transit, type Entry, type StoredOutcome } from "./entry.ts";

/** How an attempt ended that did not end its task, and what the task fails with if it fails by that. */
export interface Ending {
  readonly kind: "died" | "interrupted";
  readonly at: number;
  readonly code: ErrorCode;
  readonly reference: string;
}

/** What becomes of the task: the first that fits, in the order that `Settlement` gives. */
export function judge(entry: Entry, { kind, at, code, reference }: Ending): Exclude<SettlementAnswer, "refused" | "completed" | "parked"> {
  const fail = (reason: ErrorCode) => finish(entry, "fail", { at, outcome: { kind: "error", code: reason, reference } });
  if (isUnresolved(entry)) return fail("write_unresolved");
  if (entry.cancelRequested && !isBound(entry)) return finish(entry, "stop", { at });
  if (kind === "interrupted" || isBound(entry) || entry.staged !== null) return leave(entry, "requeue", at);
  if (entry.checkpointVersion > 0 && entry.checkpointVersion === entry.retriedVersion) return fail("checkpoint_stuck");
  if (!mayReplace(entry.budgetSpent)) return fail(code);
  entry.budgetSpent += 1;
  entry.retriedVersion = entry.checkpointVersion;
  return leave(entry, "requeue", at);
}

const ANSWERS = {
  complete: "completed",
  fail: "failed",
  stop: "cancelled",
  cancel: "cancelled",
  requeue: "requeued",
  suspend: "parked",
} as const;

/** Ends the task for good. A result that was staged goes, unless it is the one that is published. */
export function finish<Event extends "complete" | "fail" | "stop" | "cancel">(
  entry: Entry,
  event: Event,
  {
    at,
    outcome = null,
    staged = null,
  }: { readonly at: number; readonly outcome?: StoredOutcome | null; readonly staged?: Entry["staged"] },
): (typeof ANSWERS)[Event] {
  entry.cancelRequested = false;
  entry.outcome = outcome;
  entry.staged = staged;
  entry.ttlMs = ttlAtEnd(entry.ttlMs, at - entry.createdAt);
  return leave(entry, event, at);
}

/** No attempt has it any more, and how far the last one was is no longer true. */
export function leave<Event extends keyof typeof ANSWERS>(entry: Entry, event: Event, at: number): (typeof ANSWERS)[Event] {
  transit(entry, event);
  entry.workerId = null;
  entry.progress = null;
  entry.lastUpdatedAt = at;
  return ANSWERS[event];
}
