import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { mergeProgress, type MergedProgress } from "./progress.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function startMerging() {
  const sent: MergedProgress[] = [];
  return { sent, values: () => sent.map(({ value }) => value), progress: mergeProgress((merged) => void sent.push(merged)) };
}

test("the first report goes out at once, later ones merge into the newest", () => {
  const { progress, values } = startMerging();
  for (const value of [1, 2, 3]) progress.report({ value });
  expect(values()).toEqual([1]);
  vi.advanceTimersByTime(100);
  expect(values()).toEqual([1, 3]);
});

test("values that do not grow, or are no numbers, are ignored", () => {
  const { progress, values } = startMerging();
  for (const value of [5, 5, 4, Number.NaN, Number.POSITIVE_INFINITY, 6]) {
    progress.report({ value });
    vi.advanceTimersByTime(100);
  }
  expect(values()).toEqual([5, 6]);
});

test("closing sends what waits, and nothing follows", () => {
  const { progress, values } = startMerging();
  progress.report({ value: 1 });
  progress.report({ value: 2 });
  progress.close();
  progress.report({ value: 3 });
  vi.advanceTimersByTime(1_000);
  expect(values()).toEqual([1, 2]);
  expect(vi.getTimerCount()).toBe(0);
});

test("a long message is cut, a missing one is null", () => {
  const { progress, sent } = startMerging();
  progress.report({ value: 1, message: "m".repeat(5_000) });
  vi.advanceTimersByTime(100);
  progress.report({ value: 2, total: 10 });
  expect(sent.map(({ message, total }) => ({ length: message?.length ?? null, total }))).toEqual([
    { length: 1_000, total: null },
    { length: null, total: 10 },
  ]);
});
