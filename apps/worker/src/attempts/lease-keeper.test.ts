import { taskIdSchema, workerIdSchema, type AttemptRef, type Renewal, type RenewalAnswer } from "@holdfast/core";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLeaseKeeper } from "./lease-keeper.ts";

const LEASE_MS = 3_000;
const attempt: AttemptRef = {
  taskId: taskIdSchema.parse("0190b8a0-0000-7000-8000-000000000001"),
  workerId: workerIdSchema.parse("0190b8a0-0000-4000-8000-00000000000a"),
  token: 4,
};
const renewed: RenewalAnswer = { kind: "renewed", cancelRequested: false };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A keeper whose store answers what the test says, and that holds one lease, claimed now. */
function startKeeping(answer: (renewal: Renewal, call: number) => Promise<RenewalAnswer> | RenewalAnswer) {
  const renewals: { readonly at: number; readonly progress: number | null }[] = [];
  const published: string[] = [];
  const lost: { readonly at: number; readonly reason: string }[] = [];
  const errors: unknown[] = [];
  const startedAt = performance.now();
  const now = () => Math.round(performance.now() - startedAt);
  let cancellations = 0;
  const keeper = createLeaseKeeper({
    ledger: {
      renew(batch) {
        renewals.push({ at: now(), progress: batch[0]?.progress?.value ?? null });
        return Promise.all(batch.map((renewal) => Promise.resolve(answer(renewal, renewals.length))));
      },
    },
    leaseMs: LEASE_MS,
    publish: (id) => void published.push(id),
    telemetry: { emit: () => undefined },
    onError: (error) => void errors.push(error),
  });
  keeper.start();
  const lease = keeper.hold(attempt, {
    sentAt: startedAt,
    onCancelRequested: () => void (cancellations += 1),
    onLost: (reason) => void lost.push({ at: now(), reason }),
  });
  return { keeper, lease, renewals, published, lost, errors, cancellations: () => cancellations };
}

const progress = (value: number) => ({ value, total: null, message: null });

test("a lease is renewed at every third of its length, and held as long as it is", async () => {
  const kept = startKeeping(() => renewed);
  await vi.advanceTimersByTimeAsync(10 * LEASE_MS);
  expect(kept.renewals.slice(0, 3).map(({ at }) => at)).toEqual([1_000, 2_000, 3_000]);
  expect(kept.lost).toEqual([]);
});

test("without an answer, trust ends before the lease that the claim granted", async () => {
  const kept = startKeeping(() => new Promise(() => undefined));
  await vi.advanceTimersByTimeAsync(2 * LEASE_MS);
  expect(kept.lost.map(({ at }) => at)).toEqual([2_700]);
  expect(kept.lease.isLost).toBe(true);
});

test("an answer that came late counts from when its renewal was sent", async () => {
  // Sent at 1,000 and answered at 2,500; all later ones fail.
  const kept = startKeeping((_, call) =>
    call === 1 ? new Promise((resolve) => setTimeout(() => resolve(renewed), 1_500)) : Promise.reject(new Error("no connection")),
  );
  await vi.advanceTimersByTimeAsync(3 * LEASE_MS);
  expect(kept.lost.map(({ at }) => at)).toEqual([1_000 + 2_700]);
});

test("a renewal that fails is reported, and the lease survives when the next one succeeds", async () => {
  const kept = startKeeping((_, call) => (call === 1 ? Promise.reject(new Error("no connection")) : renewed));
  await vi.advanceTimersByTimeAsync(4 * LEASE_MS);
  expect(kept.errors).toHaveLength(1);
  expect(kept.lost).toEqual([]);
});

test("a row that somebody else holds is not taken for a lost lease, nor for a renewed one", async () => {
  const kept = startKeeping((_, call) => (call === 1 ? { kind: "busy" } : renewed));
  await vi.advanceTimersByTimeAsync(4 * LEASE_MS);
  expect(kept.lost).toEqual([]);
  const stuck = startKeeping(() => ({ kind: "busy" }));
  await vi.advanceTimersByTimeAsync(4 * LEASE_MS);
  expect(stuck.lost.map(({ at }) => at)).toEqual([2_700]);
});

test("a refused renewal ends the attempt at once, and its lease is asked for no more", async () => {
  const kept = startKeeping(() => ({ kind: "refused" }));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(kept.lost).toMatchObject([{ at: 1_000 }]);
  await vi.advanceTimersByTimeAsync(2 * LEASE_MS);
  expect(kept.renewals).toHaveLength(1);
});

test("a wish to cancel is passed on once", async () => {
  const kept = startKeeping(() => ({ kind: "renewed", cancelRequested: true }));
  await vi.advanceTimersByTimeAsync(2 * LEASE_MS);
  expect(kept.renewals.length).toBeGreaterThan(1);
  expect(kept.cancellations()).toBe(1);
});

test("a hint about the task makes the worker ask at once, and hints about others do not", async () => {
  const kept = startKeeping(() => ({ kind: "renewed", cancelRequested: true }));
  kept.keeper.lookAt([taskIdSchema.parse("0190b8a0-0000-7000-8000-0000000000ff")]);
  await vi.advanceTimersByTimeAsync(0);
  expect(kept.renewals).toEqual([]);
  kept.keeper.lookAt([attempt.taskId]);
  await vi.advanceTimersByTimeAsync(0);
  expect(kept.cancellations()).toBe(1);
  kept.keeper.lookAt("all");
  await vi.advanceTimersByTimeAsync(50);
  expect(kept.renewals.map(({ at }) => at)).toEqual([0, 50]);
});

test("progress is stored at once, and then at most twice a second with the newest value", async () => {
  const kept = startKeeping(() => renewed);
  for (let value = 1; value <= 20; value += 1) {
    kept.lease.report(progress(value));
    await vi.advanceTimersByTimeAsync(30);
  }
  expect(kept.renewals).toEqual([
    { at: 0, progress: 1 },
    { at: 500, progress: 17 },
  ]);
  expect(kept.published).toHaveLength(2);
});

test("progress that could not be stored travels with the next renewal, and what was stored does not travel again", async () => {
  const kept = startKeeping((_, call) => (call === 1 ? Promise.reject(new Error("no connection")) : renewed));
  kept.lease.report(progress(5));
  await vi.advanceTimersByTimeAsync(2_000);
  expect(kept.renewals).toEqual([
    { at: 0, progress: 5 },
    { at: 1_000, progress: 5 },
    { at: 2_000, progress: null },
  ]);
  expect(kept.published).toHaveLength(1);
});

test("a released lease is neither renewed nor lost", async () => {
  const kept = startKeeping(() => renewed);
  kept.lease.release();
  await vi.advanceTimersByTimeAsync(2 * LEASE_MS);
  expect(kept.renewals).toEqual([]);
  expect(kept.lost).toEqual([]);
});

test("an answer that arrives after the release changes nothing", async () => {
  const kept = startKeeping(() => new Promise((resolve) => setTimeout(() => resolve({ kind: "refused" }), 500)));
  await vi.advanceTimersByTimeAsync(1_000);
  kept.lease.release();
  await vi.advanceTimersByTimeAsync(2 * LEASE_MS);
  expect(kept.lost).toEqual([]);
});

test("renewals that hang do not pile up", async () => {
  const kept = startKeeping(() => new Promise(() => undefined));
  kept.keeper.hold(
    { ...attempt, token: 5 },
    { sentAt: performance.now() + 100 * LEASE_MS, onCancelRequested: () => undefined, onLost: () => undefined },
  );
  await vi.advanceTimersByTimeAsync(20 * LEASE_MS);
  expect(kept.renewals).toHaveLength(2);
});

test("the clock on the wall may jump: only the monotonic one counts", async () => {
  const kept = startKeeping(() => renewed);
  await vi.advanceTimersByTimeAsync(500);
  vi.setSystemTime(Date.now() + 3_600_000);
  await vi.advanceTimersByTimeAsync(2 * LEASE_MS);
  vi.setSystemTime(Date.now() - 7_200_000);
  await vi.advanceTimersByTimeAsync(2 * LEASE_MS);
  expect(kept.lost).toEqual([]);
});
