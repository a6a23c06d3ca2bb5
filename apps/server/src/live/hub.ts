import { AppError, type TaskId } from "@holdfast/core";

/** Fans out the hints of the node's one listener to everything that waits for a task on this node. */
export interface Hub {
  /** Begin before the first read of the task, or a change between the two is missed. Throws `AppError` "overloaded" when full. */
  watch(taskId: TaskId): Watch;
  /** `all` when hints may have been missed. A hint says only: look again. */
  hint(changed: readonly TaskId[] | "all"): void;
  /** How many watches are open. */
  readonly size: number;
}

/** One waiter's view of one task. */
export interface Watch extends Disposable {
  /**
   * Resolves at the first hint since the last call, at once if it has come already, or after `timeoutMs` without one, because
   * every hint may be lost. Rejects with the signal's reason when it is aborted.
   */
  next(options: { readonly timeoutMs: number; readonly signal: AbortSignal }): Promise<void>;
}

interface Waiter {
  hinted: boolean;
  wake: (() => void) | null;
}

export function createHub({ maxWatches }: { readonly maxWatches: number }): Hub {
  const waiters = new Map<TaskId, Set<Waiter>>();
  let size = 0;
  return {
    watch: (taskId) => {
      if (size >= maxWatches) throw new AppError("overloaded", `this node already waits for ${maxWatches} tasks`);
      const waiter: Waiter = { hinted: false, wake: null };
      const ofTask = waiters.get(taskId) ?? new Set();
      waiters.set(taskId, ofTask.add(waiter));
      size += 1;
      return {
        next: (options) => nextHint(waiter, options),
        [Symbol.dispose]: () => {
          if (!ofTask.delete(waiter)) return;
          size -= 1;
          if (ofTask.size === 0) waiters.delete(taskId);
        },
      };
    },
    hint: (changed) => {
      for (const taskId of changed === "all" ? waiters.keys() : changed) waiters.get(taskId)?.forEach(give);
    },
    get size() {
      return size;
    },
  };
}

function give(waiter: Waiter): void {
  waiter.hinted = true;
  waiter.wake?.();
}

async function nextHint(waiter: Waiter, { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal }): Promise<void> {
  signal.throwIfAborted();
  if (!waiter.hinted) {
    await new Promise<void>((resolve) => {
      const finish = (): void => {
        waiter.wake = null;
        clearTimeout(timer);
        signal.removeEventListener("abort", finish);
        resolve();
      };
      const timer = setTimeout(finish, timeoutMs);
      waiter.wake = finish;
      signal.addEventListener("abort", finish);
    });
    signal.throwIfAborted();
  }
  waiter.hinted = false;
}
