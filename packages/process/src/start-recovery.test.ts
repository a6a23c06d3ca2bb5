import type { Telemetry, TelemetryEvents } from "@holdfast/core";
import { expect, test } from "vitest";
import { startRecovery, type RecoveryOptions } from "./start-recovery.ts";

const soon = { timeout: 5_000 };

/** Recovery of a store in which there is nothing to do except what a test says, and what it tells. */
function recovery(options: Partial<RecoveryOptions>) {
  const events: { name: string; event: unknown }[] = [];
  const errors: { work: string; error: unknown }[] = [];
  const telemetry: Telemetry = {
    emit: (name: keyof TelemetryEvents, event: TelemetryEvents[keyof TelemetryEvents]) => {
      events.push({ name, event });
    },
  };
  const running = startRecovery({
    reap: async () => [],
    rewake: async () => [],
    expire: async () => 0,
    publish: () => undefined,
    telemetry,
    onError: (work, error) => {
      errors.push({ work, error });
    },
    ...options,
  });
  return { events, errors, [Symbol.asyncDispose]: () => running.stop() };
}

test("expired tasks are removed without anybody asking, round upon round while there are as many as a round may take", async () => {
  const left = { count: 0 };
  const limits = new Set<number>();
  await using running = recovery({
    async expire(limit) {
      if (limits.size === 0) left.count = 2 * limit + 3;
      limits.add(limit);
      const removed = Math.min(limit, left.count);
      left.count -= removed;
      return removed;
    },
  });
  await expect.poll(() => running.events.length, soon).toBe(3);
  const [limit = 0, ...others] = limits;
  expect(others).toEqual([]);
  expect(running.events).toEqual([limit, limit, 3].map((count) => ({ name: "task.expired", event: { count } })));
});

test("each of the three works goes on while the others fail, and says which it is when it fails", async () => {
  const broken = async (): Promise<never> => await Promise.reject(new Error("no database"));
  const rounds = { reap: 0 };
  await using running = recovery({
    reap: async () => {
      rounds.reap += 1;
      return [];
    },
    rewake: broken,
    expire: broken,
  });
  await expect.poll(() => rounds.reap, soon).toBeGreaterThan(1);
  expect(running.errors.map(({ work }) => work).toSorted()).toEqual(["expire", "rewake"]);
});
