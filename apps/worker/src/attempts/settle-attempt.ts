import { AppError, type AttemptLedger, type AttemptRef, type Settlement, type SettlementAnswer } from "@holdfast/core";
import { pause } from "@holdfast/process";

export interface SettleOptions {
  readonly ledger: Pick<AttemptLedger, "settle">;
  readonly attempt: AttemptRef;
  readonly settlement: Settlement;
  /** For the failure that a completion becomes when the store rejects what it says. */
  readonly reference: string;
  readonly onRetry: (error: unknown) => void;
  readonly firstDelayMs?: number;
}

const TRIES = 8;
const FIRST_DELAY_MS = 200;
const LONGEST_DELAY_MS = 5_000;

/**
 * Settles an attempt, trying again after growing, jittered pauses while the database is out of reach or overloaded: the
 * statement is guarded by the token, so a try whose answer was lost is refused the second time, and nothing happens twice.
 * Rejects when all tries failed; the lease then expires and the reaper decides.
 */
export async function settleAttempt(options: SettleOptions): Promise<SettlementAnswer> {
  const { ledger, attempt, settlement, reference, onRetry, firstDelayMs = FIRST_DELAY_MS } = options;
  for (let tries = 1; ; tries += 1) {
    try {
      return await ledger.settle(attempt, settlement);
    } catch (error) {
      // Rejected for what it says, and so it would be for ever.
      if (!isTransient(error) && settlement.kind === "completed")
        return settleAttempt({ ...options, settlement: rejected(error, reference) });
      if (!isTransient(error) || tries === TRIES) throw error;
      onRetry(error);
      await pause(Math.min(LONGEST_DELAY_MS, firstDelayMs * 2 ** (tries - 1)) * (0.5 + Math.random() / 2));
    }
  }
}

function isTransient(error: unknown): boolean {
  return error instanceof AppError && (error.code === "storage_unavailable" || error.code === "overloaded");
}

function rejected(error: unknown, reference: string): Settlement {
  const detail = `the result could not be stored: ${error instanceof Error ? error.message : String(error)}`;
  return { kind: "failed", code: "operation_output_invalid", reference, detail, retry: false };
}
