import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { repeat } from "./repeat.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("rounds follow each other at about the given pace", async () => {
  let rounds = 0;
  const repetition = repeat({ everyMs: 1_000, onError: () => undefined, work: async () => ((rounds += 1), "done") });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(rounds).toBeGreaterThanOrEqual(8);
  expect(rounds).toBeLessThanOrEqual(14);
  await repetition.stop();
});

test("a round that says there is more is followed at once", async () => {
  let rounds = 0;
  const repetition = repeat({ everyMs: 60_000, onError: () => undefined, work: async () => ((rounds += 1) < 5 ? "more" : "done") });
  await vi.advanceTimersByTimeAsync(0);
  expect(rounds).toBe(5);
  await repetition.stop();
});

test("a round that fails is reported, and the next one comes", async () => {
  const errors: unknown[] = [];
  let rounds = 0;
  const repetition = repeat({
    everyMs: 100,
    onError: (error) => void errors.push(error),
    work: () => {
      rounds += 1;
      return rounds === 1 ? Promise.reject(new Error("no connection")) : Promise.resolve("done");
    },
  });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(errors).toHaveLength(1);
  expect(rounds).toBeGreaterThan(1);
  await repetition.stop();
});

test("stopping waits for the round under way and starts no other", async () => {
  const round = Promise.withResolvers<"done">();
  let rounds = 0;
  const repetition = repeat({ everyMs: 10, onError: () => undefined, work: () => ((rounds += 1), round.promise) });
  let isStopped = false;
  const stopping = repetition.stop().then(() => (isStopped = true));
  await vi.advanceTimersByTimeAsync(100);
  expect(isStopped).toBe(false);
  round.resolve("done");
  await stopping;
  expect(rounds).toBe(1);
});

test("a failure that lasts is reported once, and again when it comes back or becomes another", async () => {
  const errors: string[] = [];
  const outcomes = ["down", "down", "down", null, "down", "down", "full", "full"];
  const repetition = repeat({
    everyMs: 100,
    onError: (error) => void errors.push(error instanceof Error ? error.message : "no error"),
    async work() {
      const outcome = outcomes.shift() ?? null;
      if (outcome !== null) throw new Error(outcome);
      return "done";
    },
  });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(errors).toEqual(["down", "down", "full"]);
  await repetition.stop();
});
