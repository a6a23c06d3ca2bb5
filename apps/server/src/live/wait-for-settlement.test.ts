import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AppError, taskIdFrom, type Task, type TaskStatus } from "@holdfast/core";
import { createHub } from "./hub.ts";
import { waitForSettlement } from "./wait-for-settlement.ts";

const id = taskIdFrom({ unixMs: 0, random: new Uint8Array(10) });
const hub = createHub({ maxWatches: 10 });
const never = new AbortController().signal;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function task(status: TaskStatus): Task {
  return {
    id,
    workspaceId: "current",
    operation: "test.operation",
    operationVersion: 1,
    status,
    statusMessage: null,
    progress: null,
    cancelRequested: false,
    attempt: null,
    inputRequests: {},
    createdAt: new Date(0),
    lastUpdatedAt: new Date(0),
    ttlMs: 60_000,
    pollIntervalMs: 1000,
    outcome: null,
  };
}

/** Reads that answer one after the other; the last answer stays. */
function reads(...answers: (Task | null | Error)[]): () => Promise<Task | null> {
  let next = 0;
  return async () => {
    const answer = answers[Math.min(next, answers.length - 1)];
    next += 1;
    if (answer instanceof Error) throw answer;
    return answer ?? null;
  };
}

test("a hint that came before the wait began is followed at once", async () => {
  using watch = hub.watch(id);
  hub.hint([id]);
  const settled = await waitForSettlement({ watch, read: reads(task("completed")), signal: never, deadlineMs: 60_000 });
  expect(settled?.status).toBe("completed");
});

test("no state on the way is taken for the outcome", async () => {
  using watch = hub.watch(id);
  const read = reads(task("working"), task("input_required"), task("working"), task("failed"));
  const wait = waitForSettlement({ watch, read, signal: never, deadlineMs: 60_000 });
  for (let hints = 0; hints < 4; hints += 1) {
    hub.hint([id]);
    await vi.advanceTimersByTimeAsync(0);
  }
  expect((await wait)?.status).toBe("failed");
});

test("with every hint lost the outcome arrives within two seconds of the change", async () => {
  using watch = hub.watch(id);
  let status: TaskStatus = "working";
  let settled: Task | null = null;
  const wait = waitForSettlement({ watch, read: async () => task(status), signal: never, deadlineMs: 60_000 }).then(
    (answer) => (settled = answer),
  );
  await vi.advanceTimersByTimeAsync(20_000);
  expect(settled).toBeNull();
  status = "completed";
  await vi.advanceTimersByTimeAsync(2000);
  await wait;
  expect(settled).toMatchObject({ status: "completed" });
});

test("a database that is away for a while ends no wait", async () => {
  using watch = hub.watch(id);
  const away = new AppError("storage_unavailable", "connection refused");
  const wait = waitForSettlement({ watch, read: reads(away, away, task("completed")), signal: never, deadlineMs: 60_000 });
  await vi.advanceTimersByTimeAsync(5000);
  expect((await wait)?.status).toBe("completed");
});

test("another fault of the read is not swallowed", async () => {
  using watch = hub.watch(id);
  hub.hint([id]);
  const wait = waitForSettlement({ watch, read: reads(new Error("a bug")), signal: never, deadlineMs: 60_000 });
  await expect(wait).rejects.toThrow("a bug");
});

test("the wait ends at its deadline", async () => {
  using watch = hub.watch(id);
  const wait = waitForSettlement({ watch, read: reads(task("working")), signal: never, deadlineMs: 5000 });
  const failure = wait.catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(5000);
  expect(await failure).toMatchObject({ code: "operation_timed_out" });
});

test("the wait ends when its signal is aborted", async () => {
  using watch = hub.watch(id);
  const controller = new AbortController();
  const wait = waitForSettlement({ watch, read: reads(task("working")), signal: controller.signal, deadlineMs: 60_000 });
  const failure = wait.catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(700);
  controller.abort(new Error("the client left"));
  expect(await failure).toMatchObject({ message: "the client left" });
});

test("every state on the way is shown, and what ends the wait is for the waiter to say", async () => {
  using watch = hub.watch(id);
  const looks: TaskStatus[] = [];
  const wait = waitForSettlement({
    watch,
    read: reads(task("working"), task("working"), task("input_required")),
    isSettled: ({ status }) => status === "input_required",
    onLook: ({ status }) => looks.push(status),
    signal: never,
    deadlineMs: 60_000,
  });
  await vi.advanceTimersByTimeAsync(10_000);
  expect((await wait)?.status).toBe("input_required");
  expect(looks).toEqual(["working", "working"]);
});
