import type { TaskId, Telemetry } from "@holdfast/core";
import { repeat } from "./repeat.ts";

export interface RecoveryOptions {
  /** Ends the attempts of expired leases, at most `limit`; answers the tasks that changed. */
  readonly reap: (limit: number) => Promise<readonly TaskId[]>;
  /** Looks at queued tasks, at most `limit`; answers those that got a job. */
  readonly rewake: (options: { readonly limit: number; readonly afterMs: number }) => Promise<readonly TaskId[]>;
  /** Removes ended tasks whose time has passed, at most `limit`; answers how many. */
  readonly expire: (limit: number) => Promise<number>;
  /** Hints that a task has changed. */
  readonly publish: (taskId: TaskId) => void;
  readonly telemetry: Telemetry;
  readonly onError: (work: "reap" | "rewake" | "expire", error: unknown) => void;
}

/** Well below the two seconds that a dead worker's task may wait after its lease (contract 5.4). */
const REAP_EVERY_MS = 500;
const REAP_LIMIT = 100;
/** With all jobs lost, a queued task is found within this, plus `REWAKE_AFTER_MS` when it was looked at just before. */
const REWAKE_EVERY_MS = 2_000;
const REWAKE_AFTER_MS = 10_000;
const REWAKE_LIMIT = 200;
/** Nobody waits for it: an expired task is invisible before it is removed. */
const EXPIRE_EVERY_MS = 30_000;
const EXPIRE_LIMIT = 50;

/**
 * What every server and worker does beside its own work: end the attempts of dead workers, wake tasks that nobody was woken for, and
 * remove what nobody can see any more. All are repeated queries on what Postgres says now. They do not use the queue that they repair,
 * may run on every process at once, and go on while no worker is left (contract 8.6) and no request comes (contract 12.2).
 */
export function startRecovery(options: RecoveryOptions): { stop(): Promise<void> } {
  const { reap, rewake, expire, publish, telemetry, onError } = options;
  const reaper = repeat({
    everyMs: REAP_EVERY_MS,
    onError: (error) => onError("reap", error),
    async work() {
      const reaped = await reap(REAP_LIMIT);
      for (const taskId of reaped) {
        telemetry.emit("attempt.lost", { taskId });
        publish(taskId);
      }
      return reaped.length === REAP_LIMIT ? "more" : "done";
    },
  });
  const rewaker = repeat({
    everyMs: REWAKE_EVERY_MS,
    onError: (error) => onError("rewake", error),
    async work() {
      const woken = await rewake({ limit: REWAKE_LIMIT, afterMs: REWAKE_AFTER_MS });
      if (woken.length > 0) telemetry.emit("task.rewoken", { count: woken.length });
      // Where one wake was lost there may be thousands.
      return woken.length > 0 ? "more" : "done";
    },
  });
  const expirer = repeat({
    everyMs: EXPIRE_EVERY_MS,
    onError: (error) => onError("expire", error),
    async work() {
      const count = await expire(EXPIRE_LIMIT);
      if (count > 0) telemetry.emit("task.expired", { count });
      return count === EXPIRE_LIMIT ? "more" : "done";
    },
  });
  return {
    async stop() {
      await Promise.all([reaper.stop(), rewaker.stop(), expirer.stop()]);
    },
  };
}
