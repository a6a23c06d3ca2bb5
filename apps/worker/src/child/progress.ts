import type { ProgressReport } from "@holdfast/core";

/** Merges the reports of one run. */
export interface ProgressMerger {
  report(report: ProgressReport): void;
  /** Sends what waits and ignores whatever comes later. */
  close(): void;
}

export interface MergedProgress {
  readonly value: number;
  readonly total: number | null;
  readonly message: string | null;
}

const SEND_EVERY_MS = 100;
const MESSAGE_LENGTH = 1_000;

/**
 * Sends the first report at once and then the newest one at most every 100 ms, each with a greater value than the one
 * before (contract 11.1), so that a handler may report as often as it likes.
 */
export function mergeProgress(send: (progress: MergedProgress) => void): ProgressMerger {
  let highest = Number.NEGATIVE_INFINITY;
  let waiting: MergedProgress | null = null;
  let timer: NodeJS.Timeout | null = null;
  let closed = false;

  function flush(): void {
    if (waiting === null) return;
    send(waiting);
    waiting = null;
    timer = setTimeout(() => {
      timer = null;
      flush();
    }, SEND_EVERY_MS);
  }

  return {
    report({ value, total, message }) {
      if (closed || !Number.isFinite(value) || value <= highest) return;
      highest = value;
      waiting = {
        value,
        total: total !== undefined && Number.isFinite(total) ? total : null,
        message: message === undefined ? null : message.slice(0, MESSAGE_LENGTH),
      };
      if (timer === null) flush();
    },
    close() {
      closed = true;
      flush();
      if (timer !== null) clearTimeout(timer);
    },
  };
}
