import { pause } from "./pause.ts";

/** Work that is done again and again. */
export interface Repetition {
  /** Waits for the round under way. */
  stop(): Promise<void>;
}

/**
 * Repeats `work` about every `everyMs`, with jitter, so that processes that were started together do not meet in the database.
 * A round that answers "more" is followed at once by the next. A round that fails is reported and costs nothing but itself.
 */
export function repeat(options: {
  readonly everyMs: number;
  readonly work: () => Promise<"done" | "more">;
  readonly onError: (error: unknown) => void;
}): Repetition {
  const { everyMs, work, onError } = options;
  const stopping = new AbortController();
  const { signal } = stopping;

  async function loop(): Promise<void> {
    while (!signal.aborted) {
      const answer = await work().catch((error: unknown) => {
        onError(error);
        return "done" as const;
      });
      if (answer === "done") await pause(everyMs * (0.75 + Math.random() / 2), signal);
    }
  }

  const looping = loop();
  return {
    stop() {
      stopping.abort();
      return looping;
    },
  };
}
