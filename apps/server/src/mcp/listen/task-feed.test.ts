import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AppError, taskIdFrom, type Task, type TaskId, type TaskStatus } from "@holdfast/core";
import { createHub, type Hub } from "../../live/hub.ts";
import { createTaskFeed, type TaskFeed, type TaskFeedOptions } from "./task-feed.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function taskId(number: number): TaskId {
  return taskIdFrom({ unixMs: number, random: new Uint8Array(10) });
}
const [a, b] = [taskId(1), taskId(2)];

interface Opened {
  readonly isOver: () => boolean;
  readonly feed: TaskFeed;
  readonly visible: readonly TaskId[];
}

/** A store that answers at once, a reader that takes everything unless it is told not to, and what reached it. */
class Scene {
  readonly hub: Hub = createHub({ maxWatches: 0 });
  readonly tasks = new Map<TaskId, Task>();
  readonly sent: string[] = [];
  readonly faults: unknown[] = [];
  readonly runs: Promise<void>[] = [];
  readonly over = new AbortController();
  reads = 0;
  fails: Error | null = null;
  readonly flow = { isFull: false, makeRoom: () => undefined as void };

  set(id: TaskId, status: TaskStatus, progress: number | null = null): void {
    this.tasks.set(id, {
      id,
      workspaceId: "current",
      operation: "test.operation",
      operationVersion: 1,
      attempt: null,
      status,
      statusMessage: null,
      progress: progress === null ? null : { value: progress, total: null, message: null },
      cancelRequested: false,
      inputRequests: {},
      createdAt: new Date(0),
      lastUpdatedAt: new Date(0),
      ttlMs: 60_000,
      pollIntervalMs: 1000,
      outcome: null,
    });
  }

  change(id: TaskId, status: TaskStatus, progress: number | null = null): void {
    this.set(id, status, progress);
    this.hub.hint([id]);
  }

  feed(taskIds: readonly TaskId[], changes: Partial<TaskFeedOptions> = {}): TaskFeed {
    const { flow } = this;
    return createTaskFeed({
      hub: this.hub,
      taskIds,
      read: async (id) => {
        this.reads += 1;
        if (this.fails !== null) throw this.fails;
        return this.tasks.get(id) ?? null;
      },
      describe: ({ status, progress }) => ({ text: progress === null ? status : `${status} ${progress.value}` }),
      sink: {
        over: this.over.signal,
        get isFull() {
          return flow.isFull;
        },
        room: async () => {
          if (flow.isFull) await new Promise<void>((resolve) => (flow.makeRoom = resolve));
        },
        deliver: (id, { text }) => void this.sent.push(`${id === a ? "a" : "b"} ${String(text)}`),
      },
      timing: { fallbackMs: 15_000, progressEveryMs: 250 },
      onFault: (error) => this.faults.push(error),
      ...changes,
    });
  }

  /** Opens a feed and runs it; `isOver` says whether it has ended by itself. */
  async open(taskIds: readonly TaskId[], changes: Partial<TaskFeedOptions> = {}): Promise<Opened> {
    const feed = this.feed(taskIds, changes);
    const visible = await feed.visible();
    let isOver = false;
    this.runs.push(feed.run().then(() => void (isOver = true)));
    await settle();
    return { isOver: () => isOver, feed, visible };
  }
}

const settle = async (): Promise<void> => void (await vi.advanceTimersByTimeAsync(0));

test("only what may be seen is watched, and what is over is told at once", async () => {
  const scene = new Scene();
  scene.set(a, "completed");
  scene.set(b, "working");
  const { visible } = await scene.open([a, taskId(3), b]);
  expect(visible).toEqual([a, b]);
  expect(scene.sent).toEqual(["a completed"]);
});

test("a question that was open before is told at once, since its client may never have seen it", async () => {
  const scene = new Scene();
  scene.set(a, "input_required");
  await scene.open([a]);
  expect(scene.sent).toEqual(["a input_required"]);
});

test("each change is read anew and sent once, until the task is over", async () => {
  const scene = new Scene();
  scene.set(a, "working");
  const { isOver } = await scene.open([a]);
  scene.change(a, "input_required");
  await settle();
  scene.hub.hint("all");
  await settle();
  scene.change(a, "working");
  await settle();
  expect(isOver()).toBe(false);
  scene.change(a, "completed");
  scene.hub.hint([a]);
  await settle();
  expect(scene.sent).toEqual(["a input_required", "a working", "a completed"]);
  expect(isOver()).toBe(true);
});

test("a change between the first read and the stream is not lost", async () => {
  const scene = new Scene();
  scene.set(a, "working");
  await scene.open([a], {
    read: async (id) => {
      const seen = scene.tasks.get(id) ?? null;
      // The statement has read; the change is committed and told before its answer arrives.
      if (seen?.status === "working") scene.change(a, "completed");
      return seen;
    },
  });
  expect(scene.sent).toEqual(["a completed"]);
});

test("with every hint lost a change is told within the fallback interval", async () => {
  const scene = new Scene();
  scene.set(a, "working");
  await scene.open([a]);
  scene.set(a, "failed");
  await vi.advanceTimersByTimeAsync(15_000);
  expect(scene.sent).toEqual(["a failed"]);
});

test("progress is thinned, its newest value arrives, and an outcome does not wait for it", async () => {
  const scene = new Scene();
  scene.set(a, "working");
  scene.set(b, "working");
  await scene.open([a, b]);
  for (let value = 1; value <= 100; value += 1) {
    scene.change(a, "working", value);
    await vi.advanceTimersByTimeAsync(10);
  }
  // One second: one at once, and one for each quarter.
  expect(scene.sent.length).toBeGreaterThan(2);
  expect(scene.sent.length).toBeLessThanOrEqual(5);
  await vi.advanceTimersByTimeAsync(250);
  expect(scene.sent.at(-1)).toBe("a working 100");
  scene.change(a, "working", 101);
  await settle();
  scene.change(a, "working", 102);
  scene.change(b, "completed");
  await settle();
  expect(scene.sent.at(-1)).toBe("b completed");
});

test("what may no longer be seen is told no more, without a word, and for good", async () => {
  const scene = new Scene();
  scene.set(a, "working");
  scene.set(b, "working");
  const { isOver } = await scene.open([a, b]);
  scene.tasks.delete(a);
  scene.hub.hint([a]);
  await settle();
  scene.change(a, "completed");
  scene.change(b, "input_required");
  await settle();
  expect(scene.sent).toEqual(["b input_required"]);
  expect(isOver()).toBe(false);
});

test("any number of changes while the reader is slow are one message with the newest state", async () => {
  const scene = new Scene();
  scene.set(a, "working");
  await scene.open([a]);
  scene.flow.isFull = true;
  for (let value = 1; value <= 50; value += 1) {
    scene.change(a, value % 2 === 0 ? "working" : "input_required", value);
    await settle();
  }
  const reads = scene.reads;
  expect(scene.sent).toEqual([]);
  scene.flow.isFull = false;
  scene.flow.makeRoom();
  await settle();
  expect(scene.sent).toEqual(["a working 50"]);
  expect(reads).toBeLessThan(5);
});

test("a state that had to wait for room is read again before it is sent", async () => {
  const scene = new Scene();
  scene.set(a, "working");
  scene.set(b, "working");
  await scene.open([a, b], {
    sink: {
      over: scene.over.signal,
      get isFull() {
        return scene.flow.isFull;
      },
      room: async () => {
        if (scene.flow.isFull) await new Promise<void>((resolve) => (scene.flow.makeRoom = resolve));
      },
      // The first message fills the stream.
      deliver: (id, { text }) => {
        scene.sent.push(`${id === a ? "a" : "b"} ${String(text)}`);
        scene.flow.isFull = true;
      },
    },
  });
  scene.set(a, "input_required");
  scene.set(b, "input_required");
  scene.hub.hint([a, b]);
  await settle();
  // Meanwhile the grant is withdrawn.
  scene.tasks.delete(b);
  scene.flow.isFull = false;
  scene.flow.makeRoom();
  await settle();
  expect(scene.sent).toEqual(["a input_required"]);
});

test("a state that cannot be delivered is left out and reported once, and the next one arrives", async () => {
  const scene = new Scene();
  scene.set(a, "working");
  await scene.open([a], {
    describe: ({ status }) => {
      if (status === "input_required") throw new AppError("internal", "no question of MCP's");
      return { text: status };
    },
  });
  scene.change(a, "input_required");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(scene.sent).toEqual([]);
  expect(scene.faults).toHaveLength(1);
  scene.change(a, "completed");
  await settle();
  expect(scene.sent).toEqual(["a completed"]);
});

test("a state that this client must not be shown is left out without a report", async () => {
  const scene = new Scene();
  scene.set(a, "input_required");
  await scene.open([a], { describe: ({ status }) => (status === "input_required" ? null : { text: status }) });
  expect([scene.sent, scene.faults]).toEqual([[], []]);
  scene.change(a, "cancelled");
  await settle();
  expect(scene.sent).toEqual(["a cancelled"]);
});

test("a store that is away for a while costs time only", async () => {
  const scene = new Scene();
  scene.set(a, "working");
  await scene.open([a]);
  scene.fails = new AppError("storage_unavailable", "away");
  scene.change(a, "completed");
  await vi.advanceTimersByTimeAsync(10_000);
  expect(scene.sent).toEqual([]);
  scene.fails = null;
  await vi.advanceTimersByTimeAsync(1000);
  expect(scene.sent).toEqual(["a completed"]);
  expect(scene.faults).toEqual([]);
});

test("a fault of the store that lasts is reported once and ends nothing", async () => {
  const scene = new Scene();
  scene.set(a, "working");
  await scene.open([a]);
  scene.fails = new Error("a bug");
  scene.change(a, "completed");
  await vi.advanceTimersByTimeAsync(10_000);
  expect(scene.faults).toEqual([scene.fails]);
  scene.fails = null;
  await vi.advanceTimersByTimeAsync(1000);
  expect(scene.sent).toEqual(["a completed"]);
});

test("a stream that is over reads nothing more and leaves no timer", async () => {
  const scene = new Scene();
  scene.set(a, "working");
  const { isOver, feed } = await scene.open([a]);
  scene.change(a, "working", 1);
  scene.change(a, "working", 2);
  scene.over.abort();
  await settle();
  expect(isOver()).toBe(true);
  feed[Symbol.dispose]();
  expect(vi.getTimerCount()).toBe(0);
  const reads = scene.reads;
  scene.hub.hint("all");
  await settle();
  expect(scene.reads).toBe(reads);
});
