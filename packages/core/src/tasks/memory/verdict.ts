import type { ErrorCode } from "../../errors.ts";
import type { SettlementAnswer } from "../attempt-ledger.ts";
import { mayReplace } from "../retry-budget.ts";
import { isBound, transit, type Entry, type StoredOutcome } from "./entry.ts";

/** How an attempt ended that did not end its task. */
export interface Ending {
  readonly kind: "died" | "interrupted" | "suspended";
  readonly at: number;
  /** What the task fails with when the attempt died and is not replaced. */
  readonly failure: { readonly code: ErrorCode; readonly reference: string };
}

/**
 * What becomes of the task. A wish to cancel comes first, unless the journal has the word. What is decided already only has to be told,
 * and another attempt costs nothing. An attempt that died is replaced when it had come further than the last one that was replaced, and
 * the budget lasts (contract 5.5).
 */
export function judge(entry: Entry, { kind, at, failure }: Ending): Exclude<SettlementAnswer, "refused" | "completed"> {
  if (entry.cancelRequested && !isBound(entry)) return finish(entry, "stop", { at });
  if (isBound(entry) || entry.staged !== null) return requeue(entry, at);
  switch (kind) {
    case "interrupted":
      return requeue(entry, at);
    case "suspended":
      transit(entry, "suspend");
      letGo(entry, at);
      return "parked";
    case "died": {
      const { checkpointVersion, retriedVersion } = entry;
      if (checkpointVersion > 0 && checkpointVersion === retriedVersion)
        return finish(entry, "fail", { at, outcome: { kind: "error", ...failure, code: "checkpoint_stuck" } });
      if (!mayReplace(entry.budgetSpent)) return finish(entry, "fail", { at, outcome: { kind: "error", ...failure } });
      entry.budgetSpent += 1;
      entry.retriedVersion = checkpointVersion;
      return requeue(entry, at);
    }
  }
}

const STATUS_AFTER = { complete: "completed", fail: "failed", stop: "cancelled", cancel: "cancelled" } as const;

/** Ends the task for good. A result that was staged goes, unless it is the one that is published. */
export function finish<Event extends keyof typeof STATUS_AFTER>(
  entry: Entry,
  event: Event,
  {
    at,
    outcome = null,
    staged = null,
  }: { readonly at: number; readonly outcome?: StoredOutcome | null; readonly staged?: Entry["staged"] },
): (typeof STATUS_AFTER)[Event] {
  transit(entry, event);
  letGo(entry, at);
  entry.cancelRequested = false;
  entry.outcome = outcome;
  entry.staged = staged;
  return STATUS_AFTER[event];
}

function requeue(entry: Entry, at: number): "requeued" {
  transit(entry, "requeue");
  letGo(entry, at);
  return "requeued";
}

/** No attempt has it any more, and how far the last one was is no longer true. */
function letGo(entry: Entry, at: number): void {
  entry.workerId = null;
  entry.progress = null;
  entry.lastUpdatedAt = at;
}
