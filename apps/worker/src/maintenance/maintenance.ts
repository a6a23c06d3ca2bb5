import type { TaskId, Telemetry } from "@holdfast/core";
import { repeat } from "./repeat.ts";

export interface MaintenanceOptions {
  /** At most `limit` leases; answers the tasks that changed. */
  readonly reap: (limit: number) => Promise<readonly TaskId[]>;
  /** Looks at queued tasks, at most `limit`; answers those that got a job. */
  readonly rewake: (options: { readonly limit: number; readonly afterMs: number }) => Promise<readonly TaskId[]>;
  /** Says that this worker lives. */
  readonly touch: () => Promise<void>;
  readonly publish: (taskId: TaskId) => void;
  readonly telemetry: Telemetry;
  readonly onError: (work: "reap" | "rewake" | "touch", error: unknown) => void;
}

/** Well below the two seconds that a dead worker's task may wait after its lease (contract 5.4). */
const REAP_EVERY_MS = 500;
const REAP_LIMIT = 100;
/** With all jobs lost, a queued task is found within this, plus `REWAKE_AFTER_MS` when it was looked at just before. */
const REWAKE_EVERY_MS = 2_000;
const REWAKE_AFTER_MS = 10_000;
const REWAKE_LIMIT = 200;
/** Operators take a worker for gone after 30 seconds. */
const TOUCH_EVERY_MS = 8_000;

/**
 * What every worker does beside its attempts: end the attempts of dead workers, wake tasks that nobody was woken for, and be
 * seen. None of it uses the queue that it repairs, and all of it may run on every worker at once.
 */
export function startMaintenance(options: MaintenanceOptions): { stop(): Promise<void> } {
  const { reap, rewake, touch, publish, telemetry, onError } = options;
  const repetitions = [
    repeat({
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
    }),
    repeat({
      everyMs: REWAKE_EVERY_MS,
      onError: (error) => onError("rewake", error),
      async work() {
        const woken = await rewake({ limit: REWAKE_LIMIT, afterMs: REWAKE_AFTER_MS });
        if (woken.length > 0) telemetry.emit("task.rewoken", { count: woken.length });
        // Where one wake was lost there may be thousands.
        return woken.length > 0 ? "more" : "done";
      },
    }),
    repeat({
      everyMs: TOUCH_EVERY_MS,
      onError: (error) => onError("touch", error),
      async work() {
        await touch();
        return "done";
      },
    }),
  ];
  return {
    async stop() {
      await Promise.all(repetitions.map((repetition) => repetition.stop()));
    },
  };
}
