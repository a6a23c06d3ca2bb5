import { AppError } from "@holdfast/core";
import { pause } from "@holdfast/process";

export interface RetryOptions {
  readonly onRetry: (error: unknown) => void;
  readonly firstDelayMs?: number;
}

const TRIES = 8;
const FIRST_DELAY_MS = 200;
const LONGEST_DELAY_MS = 5_000;

/**
 * Tries again, after growing, jittered pauses, while the database is out of reach or overloaded; about a quarter of a minute in all.
 * Only for what may be done twice. Rejects with the last error, and at once with every other one.
 */
export async function retryWhileUnavailable<Answer>(work: () => Promise<Answer>, options: RetryOptions): Promise<Answer> {
  const { onRetry, firstDelayMs = FIRST_DELAY_MS } = options;
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || tries === TRIES) throw error;
      onRetry(error);
      await pause(Math.min(LONGEST_DELAY_MS, firstDelayMs * 2 ** (tries - 1)) * (0.5 + Math.random() / 2));
    }
  }
}

export function isTransient(error: unknown): boolean {
  return error instanceof AppError && (error.code === "storage_unavailable" || error.code === "overloaded");
}
