import type { AttemptLedger, AttemptRef, Settlement, SettlementAnswer } from "@holdfast/core";
import { isTransient, retryWhileUnavailable, type RetryOptions } from "./retry-while-unavailable.ts";

export interface SettleOptions extends RetryOptions {
  readonly ledger: Pick<AttemptLedger, "settle">;
  readonly attempt: AttemptRef;
  readonly settlement: Settlement;
  /** For the failure that an ending becomes when the store rejects what it says. */
  readonly reference: string;
}

/**
 * Settles an attempt, trying again while the store is away: the statement is guarded by the token, so a try whose answer was lost
 * is refused the second time, and nothing happens twice. Rejects when all tries failed; the lease then expires and the reaper decides.
 */
export async function settleAttempt(options: SettleOptions): Promise<SettlementAnswer> {
  const { ledger, attempt, settlement, reference } = options;
  try {
    return await retryWhileUnavailable(() => ledger.settle(attempt, settlement), options);
  } catch (error) {
    // Rejected for what it says, and so it would be for ever.
    const saysSomething = settlement.kind === "completed" || settlement.kind === "published" || settlement.kind === "suspended";
    if (isTransient(error) || !saysSomething) throw error;
    return await settleAttempt({ ...options, settlement: rejected(error, reference) });
  }
}

function rejected(error: unknown, reference: string): Settlement {
  const detail = `what the operation answered could not be stored: ${error instanceof Error ? error.message : String(error)}`;
  return { kind: "failed", code: "operation_output_invalid", reference, detail, retry: false };
}
