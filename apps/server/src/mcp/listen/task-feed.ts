import { createHash } from "node:crypto";
import { AppError, isTerminal, type Task, type TaskId, type TaskStatus } from "@holdfast/core";
import type { Hub } from "../../live/hub.ts";

/** Where a feed's states go: a stream that may be slow, or over. */
export interface TaskSink {
  readonly over: AbortSignal;
  readonly isFull: boolean;
  room(): Promise<void>;
  deliver(taskId: TaskId, state: Readonly<Record<string, unknown>>): void;
}

export interface TaskFeedOptions {
  readonly hub: Hub;
  readonly taskIds: readonly TaskId[];
  /** A fresh, authorized read: null for what may not be seen, or no longer. */
  readonly read: (taskId: TaskId) => Promise<Task | null>;
  /** The state as the client is shown it; null when this client must not be shown it. Throws when what was stored cannot be delivered. */
  readonly describe: (task: Task) => Readonly<Record<string, unknown>> | null;
  readonly sink: TaskSink;
  readonly timing: FeedTiming;
  /** Told of what an operator should know; the feed goes on. */
  readonly onFault: (error: unknown) => void;
}

export interface FeedTiming {
  /** Every task is read again at least this often, in milliseconds: what losing every hint may cost. */
  readonly fallbackMs: number;
  /** Changes that are progress alone are sent at most this often. */
  readonly progressEveryMs: number;
}

/** The tasks of one stream, from its opening to its end. */
export interface TaskFeed extends Disposable {
  /** Which of the tasks may be watched, from the first read. Rejects with `AppError` when the store cannot tell. */
  visible(): Promise<readonly TaskId[]>;
  /** Delivers until every task is over or out of sight, or the sink is over. Never rejects. */
  run(): Promise<void>;
}

/** Tasks that one stream reads at once: their results are in memory together. */
const ROUND_SIZE = 16;
const RETRY_MS = 1000;

interface Followed {
  /** Digest of what was sent last; null before the first look. */
  sent: string | null;
  status: TaskStatus | null;
  isReported: boolean;
}

/**
 * A hint, or the time, marks a task; a marked task is read anew and what the read shows is sent, unless it was sent before. So any
 * number of changes while the reader is slow cost one message, and a hint that is lost costs time only. The feed is subscribed before
 * the first read: a change that the read does not show marks the task again.
 */
export function createTaskFeed({ hub, taskIds, read, describe, sink, timing, onFault }: TaskFeedOptions): TaskFeed {
  const followed = new Map<TaskId, Followed>(taskIds.map((taskId) => [taskId, { sent: null, status: null, isReported: false }]));
  const marked = new Set<TaskId>();
  /** Changes of progress that wait for their time. */
  const held = new Set<TaskId>();
  let progressAt = 0;
  let isFaulty = false;
  let progressTimer: NodeJS.Timeout | null = null;
  let retryTimer: NodeJS.Timeout | null = null;
  let wake: (() => void) | null = null;

  const mark = (taskId: TaskId): void => {
    marked.add(taskId);
    wake?.();
  };
  const markAll = (): void => followed.forEach((_state, taskId) => mark(taskId));
  const subscription = hub.subscribe(taskIds, mark);
  const fallbackTimer = setInterval(markAll, jittered(timing.fallbackMs));

  const forget = (taskId: TaskId): void => {
    followed.delete(taskId);
    marked.delete(taskId);
    held.delete(taskId);
    subscription.drop(taskId);
  };

  const hold = (taskId: TaskId): void => {
    held.add(taskId);
    progressTimer ??= setTimeout(
      () => {
        progressTimer = null;
        held.forEach(mark);
        held.clear();
      },
      Math.max(0, progressAt - performance.now()),
    );
  };

  const show = (taskId: TaskId, task: Task | null, isProgressDue: boolean): void => {
    const state = followed.get(taskId);
    if (state === undefined) return;
    if (task === null) return forget(taskId);
    const shown = describeSafely(task, state);
    if (isTerminal(task.status)) forget(taskId);
    if (shown === null) return;
    const digest = createHash("sha256").update(JSON.stringify(shown)).digest("base64");
    const isFirst = state.status === null;
    const isProgress = task.status === "working" && state.status === "working";
    if (digest === state.sent) return;
    if (isProgress && !isProgressDue) return hold(taskId);
    state.sent = digest;
    state.status = task.status;
    // That it works is what its handle said; everything else may be news.
    if (isFirst && task.status === "working") return;
    if (isProgress) progressAt = performance.now() + timing.progressEveryMs;
    sink.deliver(taskId, shown);
  };

  const describeSafely = (task: Task, state: Followed): Readonly<Record<string, unknown>> | null => {
    try {
      return describe(task);
    } catch (error) {
      // It is read again and again and stays as it is.
      if (!state.isReported) onFault(error);
      state.isReported = true;
      return null;
    }
  };

  const round = async (): Promise<void> => {
    const taken = [...marked].slice(0, ROUND_SIZE);
    for (const taskId of taken) marked.delete(taskId);
    const isProgressDue = performance.now() >= progressAt;
    const tasks = await Promise.all(taken.map(read));
    for (const [index, taskId] of taken.entries()) {
      // The rest is read again when there is room: a state that waited would be neither fresh nor freshly authorized.
      if (sink.isFull) mark(taskId);
      else show(taskId, tasks[index] ?? null, isProgressDue);
    }
  };

  const nextMark = async (): Promise<void> => {
    if (marked.size > 0 || sink.over.aborted) return;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
    wake = null;
  };

  const onOver = (): void => wake?.();
  sink.over.addEventListener("abort", onOver, { once: true });

  return {
    visible: async () => {
      const visible: TaskId[] = [];
      for (let from = 0; from < taskIds.length; from += ROUND_SIZE) {
        const asked = taskIds.slice(from, from + ROUND_SIZE);
        const tasks = await Promise.all(asked.map(read));
        for (const [index, taskId] of asked.entries()) {
          if ((tasks[index] ?? null) === null) forget(taskId);
          else visible.push(taskId);
        }
      }
      visible.forEach(mark);
      return visible;
    },
    run: async () => {
      while (followed.size > 0 && !sink.over.aborted) {
        await nextMark();
        await sink.room();
        try {
          await round();
          isFaulty = false;
        } catch (error) {
          // It is tried again every second, and says the same each time.
          if (!isTransient(error) && !isFaulty) onFault(error);
          isFaulty ||= !isTransient(error);
          retryTimer ??= setTimeout(() => {
            retryTimer = null;
            markAll();
          }, jittered(RETRY_MS));
        }
      }
    },
    [Symbol.dispose]: () => {
      clearInterval(fallbackTimer);
      for (const timer of [progressTimer, retryTimer]) if (timer !== null) clearTimeout(timer);
      sink.over.removeEventListener("abort", onOver);
      subscription[Symbol.dispose]();
      followed.clear();
      wake?.();
    },
  };
}

/** Never more than what was promised, and spread so that the streams of a node do not read in step. */
function jittered(ms: number): number {
  return ms * (0.75 + Math.random() / 4);
}

function isTransient(error: unknown): boolean {
  return error instanceof AppError && (error.code === "storage_unavailable" || error.code === "overloaded");
}
