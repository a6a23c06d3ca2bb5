import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startCallProgress, type CallProgress, type ProgressReport, type ProgressToken } from "./call-progress.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function start(options: { token?: ProgressToken; notify?: (report: ProgressReport) => Promise<void> } = {}): {
  progress: CallProgress;
  sent: ProgressReport[];
  report: (value: number, total?: number, message?: string) => void;
} {
  const sent: ProgressReport[] = [];
  const notify = options.notify ?? (async (report: ProgressReport) => void sent.push(report));
  const progress = startCallProgress({ token: options.token ?? "t", notify, timing: { heartbeatMs: 15_000, everyMs: 100 } });
  return { progress, sent, report: (value, total, message) => progress.report({ value, total: total ?? null, message: message ?? null }) };
}

const values = (sent: readonly ProgressReport[]): number[] => sent.map(({ progress }) => progress);

test.for<ProgressToken>([0, "", "0", 7])("the token %j comes back as it was given", async (token) => {
  const { progress, sent, report } = start({ token });
  report(1, 4, "reading");
  await progress.stop();
  expect(sent).toEqual([{ progressToken: token, progress: 1, total: 4, message: "reading" }]);
});

test("what is not known is left out, and what does not grow is no news", async () => {
  const { progress, sent, report } = start();
  for (const value of [0, 1, 1, 0.5, 2]) report(value);
  await progress.stop();
  expect(sent).toEqual([0, 1, 2].map((value) => ({ progressToken: "t", progress: value })));
});

test("a few reports in quick succession all arrive, and a flood is thinned to its newest values", async () => {
  const { progress, sent, report } = start();
  for (let value = 1; value <= 1000; value += 1) report(value);
  await vi.advanceTimersByTimeAsync(0);
  expect(values(sent)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  await vi.advanceTimersByTimeAsync(100);
  expect(values(sent).slice(10)).toEqual([1000]);
  for (let tick = 1; tick <= 100; tick += 1) {
    report(1000 + tick);
    await vi.advanceTimersByTimeAsync(10);
  }
  // A second, ten reports.
  expect(sent.length - 11).toBeLessThanOrEqual(10);
  await progress.stop();
  expect(values(sent)).toEqual(values(sent).toSorted((a, b) => a - b));
});

test("a silent call says every fifteen seconds that it is alive, with values below the next real one", async () => {
  const { progress, sent, report } = start();
  await vi.advanceTimersByTimeAsync(14_999);
  expect(sent).toEqual([]);
  await vi.advanceTimersByTimeAsync(30_001);
  expect(sent).toHaveLength(3);
  report(1, 100, "one of a hundred");
  await vi.advanceTimersByTimeAsync(14_999);
  expect(sent).toHaveLength(4);
  await vi.advanceTimersByTimeAsync(1);
  expect(sent[4]).toMatchObject({ total: 100, message: "one of a hundred" });
  report(2, 100);
  await progress.stop();
  const all = values(sent);
  expect(all).toEqual([...new Set(all)].toSorted((a, b) => a - b));
  expect(all.filter((value) => Number.isInteger(value))).toEqual([1, 2]);
  expect(Math.max(...all.slice(0, 3))).toBeLessThan(0.001);
});

test("a heartbeat never claims more than the total", async () => {
  const { progress, sent, report } = start();
  report(100, 100);
  await vi.advanceTimersByTimeAsync(15_000);
  await progress.stop();
  expect(sent).toHaveLength(2);
  expect(sent[1]).not.toHaveProperty("total");
});

test("after the end nothing is sent and no timer is left", async () => {
  const { progress, sent, report } = start();
  for (let value = 1; value <= 20; value += 1) report(value);
  await progress.stop();
  const count = sent.length;
  report(100);
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sent).toHaveLength(count);
});

test("a state that is seen after the end is no report", async () => {
  const { progress, sent, report } = start();
  report(1);
  await progress.stop();
  report(2);
  await vi.advanceTimersByTimeAsync(1000);
  expect(values(sent)).toEqual([1]);
});

test("the end waits until the last report has left", async () => {
  const left = Promise.withResolvers<void>();
  const { progress, report } = start({ notify: () => left.promise });
  report(1);
  let isStopped = false;
  const stopping = progress.stop().then(() => (isStopped = true));
  await vi.advanceTimersByTimeAsync(1000);
  expect(isStopped).toBe(false);
  left.resolve();
  await stopping;
});

test("a client that has gone makes no fault of its reports", async () => {
  const { progress, report } = start({ notify: () => Promise.reject(new Error("closed")) });
  report(1);
  report(2);
  await expect(progress.stop()).resolves.toBeUndefined();
});
