import { expect, test, vi } from "vitest";
import { taskIdFrom, type TaskId } from "@holdfast/core";
import { createHub } from "./hub.ts";

function taskId(number: number): TaskId {
  return taskIdFrom({ unixMs: number, random: new Uint8Array(10) });
}

const patient = { timeoutMs: 60_000, signal: new AbortController().signal };

test("a hint wakes the waiters of that task and no others", async () => {
  const hub = createHub({ maxWatches: 10 });
  const [first, second, other] = [hub.watch(taskId(1)), hub.watch(taskId(1)), hub.watch(taskId(2))];
  const woken: string[] = [];
  const waits = [
    first.next(patient).then(() => woken.push("first")),
    second.next(patient).then(() => woken.push("second")),
    other.next(patient).then(() => woken.push("other")),
  ];
  hub.hint([taskId(1)]);
  await Promise.all(waits.slice(0, 2));
  expect(woken).toEqual(["first", "second"]);
  hub.hint("all");
  await Promise.all(waits);
  expect(woken).toEqual(["first", "second", "other"]);
});

test("a hint that comes between two waits is not lost, and counts once", async () => {
  const hub = createHub({ maxWatches: 10 });
  using watch = hub.watch(taskId(1));
  hub.hint([taskId(1)]);
  hub.hint([taskId(1)]);
  await watch.next(patient);
  await expect(watch.next({ ...patient, signal: AbortSignal.timeout(20) })).rejects.toMatchObject({ name: "TimeoutError" });
});

test("without a hint the wait ends after its time-out, so that the reader looks anyway", async () => {
  vi.useFakeTimers();
  try {
    using watch = createHub({ maxWatches: 10 }).watch(taskId(1));
    let ended = false;
    const wait = watch.next({ ...patient, timeoutMs: 500 }).then(() => (ended = true));
    await vi.advanceTimersByTimeAsync(499);
    expect(ended).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await wait;
    expect(ended).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

test("an aborted wait rejects with the reason of the abort", async () => {
  using watch = createHub({ maxWatches: 10 }).watch(taskId(1));
  const controller = new AbortController();
  const wait = watch.next({ ...patient, signal: controller.signal });
  controller.abort(new Error("the client left"));
  await expect(wait).rejects.toThrow("the client left");
  await expect(watch.next({ ...patient, signal: controller.signal })).rejects.toThrow("the client left");
});

test("the number of watches is bounded, and a closed one makes room once", () => {
  const hub = createHub({ maxWatches: 2 });
  const first = hub.watch(taskId(1));
  hub.watch(taskId(1));
  expect(() => hub.watch(taskId(2))).toThrow(expect.objectContaining({ code: "overloaded" }));
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  expect(hub.size).toBe(1);
  hub.watch(taskId(3));
  expect(() => hub.watch(taskId(4))).toThrow(expect.objectContaining({ code: "overloaded" }));
});

test("a subscription hears of each of its tasks, of all of them when hints may be missing, and of none once it has dropped them", () => {
  const hub = createHub({ maxWatches: 0 });
  const heard: TaskId[] = [];
  const subscription = hub.subscribe([taskId(1), taskId(2), taskId(2), taskId(3)], (id) => heard.push(id));
  hub.hint([taskId(2), taskId(4)]);
  expect(heard.splice(0)).toEqual([taskId(2)]);
  hub.hint("all");
  expect(heard.splice(0)).toEqual([taskId(1), taskId(2), taskId(3)]);
  subscription.drop(taskId(2));
  hub.hint("all");
  expect(heard.splice(0)).toEqual([taskId(1), taskId(3)]);
  subscription[Symbol.dispose]();
  hub.hint([taskId(1), taskId(3)]);
  expect(heard).toEqual([]);
});

test("ending one subscription leaves another with the same callback", () => {
  const hub = createHub({ maxWatches: 0 });
  let heard = 0;
  const onHint = (): void => void (heard += 1);
  const [first, second] = [hub.subscribe([taskId(1)], onHint), hub.subscribe([taskId(1)], onHint)];
  hub.hint([taskId(1)]);
  first[Symbol.dispose]();
  hub.hint([taskId(1)]);
  second[Symbol.dispose]();
  hub.hint([taskId(1)]);
  expect(heard).toBe(3);
});

test("whoever leaves while a hint is given out takes nobody's hint away", () => {
  const hub = createHub({ maxWatches: 0 });
  const heard: string[] = [];
  const first = hub.subscribe([taskId(1), taskId(2)], () => first[Symbol.dispose]());
  hub.subscribe([taskId(1), taskId(2)], (id) => heard.push(id));
  hub.hint("all");
  expect(heard).toEqual([taskId(1), taskId(2)]);
});
