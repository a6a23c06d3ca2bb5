import { AppError, type TaskId } from "@holdfast/core";

/** Fans out the hints of the node's one listener to everything that waits for a task on this node. */
export interface Hub {
  /** Begin before the first read of the task, or a change between the two is missed. Throws `AppError` "overloaded" when full. */
  watch(taskId: TaskId): Watch;
  /**
   * The same for many tasks and without an end: `onHint` is called for each that may have changed, at once and for all who asked, so it
   * must only take note. Whoever subscribes bounds how many do.
   */
  subscribe(taskIds: readonly TaskId[], onHint: (taskId: TaskId) => void): Subscription;
  /** `all` when hints may have been missed. A hint says only: look again. */
  hint(changed: readonly TaskId[] | "all"): void;
  /** How many watches are open; subscriptions are not counted. */
  readonly size: number;
}

/** Disposing ends all of it. */
export interface Subscription extends Disposable {
  /** Ends it for one task. */
  drop(taskId: TaskId): void;
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
  const listeners = new Map<TaskId, Set<(taskId: TaskId) => void>>();
  let size = 0;

  const add = (taskId: TaskId, listener: (taskId: TaskId) => void): void => {
    const ofTask = listeners.get(taskId) ?? new Set();
    listeners.set(taskId, ofTask.add(listener));
  };
  const remove = (taskId: TaskId, listener: (taskId: TaskId) => void): boolean => {
    const ofTask = listeners.get(taskId);
    if (ofTask?.delete(listener) !== true) return false;
    if (ofTask.size === 0) listeners.delete(taskId);
    return true;
  };
  return {
    watch: (taskId) => {
      if (size >= maxWatches) throw new AppError("overloaded", `this node already waits for ${maxWatches} tasks`);
      const waiter: Waiter = { hinted: false, wake: null };
      const listener = (): void => give(waiter);
      add(taskId, listener);
      size += 1;
      return {
        next: (options) => nextHint(waiter, options),
        [Symbol.dispose]: () => {
          if (remove(taskId, listener)) size -= 1;
        },
      };
    },
    subscribe: (taskIds, onHint) => {
      // A function of its own, so that two subscriptions with the same callback stay two.
      const listener = (taskId: TaskId): void => onHint(taskId);
      const open = new Set(taskIds);
      for (const taskId of open) add(taskId, listener);
      const drop = (taskId: TaskId): void => {
        if (open.delete(taskId)) remove(taskId, listener);
      };
      return {
        drop,
        [Symbol.dispose]: () => open.forEach(drop),
      };
    },
    hint: (changed) => {
      for (const taskId of changed === "all" ? [...listeners.keys()] : changed) listeners.get(taskId)?.forEach((tell) => tell(taskId));
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
