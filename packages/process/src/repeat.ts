import { pause } from "./pause.ts";

/** Work that is done again and again. */
export interface Repetition {
  /** Waits for the round under way. */
  stop(): Promise<void>;
}

/**
 * Repeats `work` about every `everyMs`, with jitter, so that processes that were started together do not meet in the database.
 * A round that answers "more" is followed at once by the next. A round that fails costs nothing but itself; it is reported unless the
 * one before failed in the same way, so that a database that is away for an hour is one line.
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
    let lastFailure: string | null = null;
    while (!signal.aborted) {
      let answer: "done" | "more" = "done";
      try {
        answer = await work();
        lastFailure = null;
      } catch (error) {
        if (String(error) !== lastFailure) onError(error);
        lastFailure = String(error);
      }
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
