import { AppError, isTerminal, type Task } from "@holdfast/core";
import type { Watch } from "./hub.ts";

export interface SettlementWait {
  /** Opened before the task was created. */
  readonly watch: Watch;
  readonly read: () => Promise<Task | null>;
  /** What ends the wait; a terminal state unless told otherwise. */
  readonly isSettled?: (task: Task) => boolean;
  /** Told of every state on the way. */
  readonly onLook?: ((task: Task) => void) | undefined;
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
}

const FIRST_READ_MS = 500;
const LAST_READ_MS = 2000;

/**
 * The task as it was waited for, whichever worker brings it there (contract 1.7); null when it has gone; rejects with the
 * signal's reason, or with `AppError` "operation_timed_out" at the deadline. A hint only makes the next read come sooner: with
 * every hint lost, the answer is at most two seconds late. A database that is away for a moment ends no wait.
 */
export async function waitForSettlement(wait: SettlementWait): Promise<Task | null> {
  const { watch, read, isSettled = ({ status }) => isTerminal(status), onLook, signal, deadlineMs } = wait;
  const endsAt = performance.now() + deadlineMs;
  for (let timeoutMs = FIRST_READ_MS; ; timeoutMs = Math.min(timeoutMs * 2, LAST_READ_MS)) {
    const leftMs = endsAt - performance.now();
    if (leftMs <= 0) throw new AppError("operation_timed_out", `a call waited ${deadlineMs} ms for its task`);
    await watch.next({ timeoutMs: Math.min(timeoutMs, leftMs), signal });
    const task = await readThrough(read);
    if (task === "unknown") continue;
    if (task === null || isSettled(task)) return task;
    onLook?.(task);
  }
}

async function readThrough(read: () => Promise<Task | null>): Promise<Task | null | "unknown"> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof AppError && (error.code === "storage_unavailable" || error.code === "overloaded")) return "unknown";
    throw error;
  }
}
