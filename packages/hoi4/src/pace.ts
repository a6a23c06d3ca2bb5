import { setImmediate } from "node:timers/promises";
import type { OperationContext } from "@holdfast/core";

/** Lets messages of the worker in, such as a cancellation, and throws its reason once the attempt is aborted. */
export type Pace = () => Promise<void>;

/** A pause is only taken when the last one is some milliseconds ago, so that calling it after each small step costs nothing. */
export function keepPace(signal: OperationContext["signal"]): Pace {
  let pausedAt = performance.now();
  return async () => {
    if (performance.now() - pausedAt >= PAUSE_EVERY_MS) {
      await setImmediate();
      pausedAt = performance.now();
    }
    if (signal.aborted) throw signal.reason;
  };
}

const PAUSE_EVERY_MS = 20;
