import type { Telemetry } from "@holdfast/core";
import { startChildGuard } from "./child-guard.ts";
import { describeEnd, startChild, type ChildProcess } from "./child-process.ts";

/** Warm children, one kind for each memory limit that the operations ask for. */
export interface ChildPool {
  /** Resolves when a child of every kind is warm; rejects with the reason when one cannot be started. */
  start(): Promise<void>;
  /** The longest idle wait is that of a spawn. Rejects when the pool is closed, or no child can be started at the moment. */
  acquire(memoryMiB: number): Promise<ChildProcess>;
  /** Takes a child back after a clean run, for the next one. One whose state is unknown is killed instead. */
  release(child: ChildProcess): void;
  /** Resolves at once while there is a child or one can be started, else when one can again, or the signal aborts. */
  whenHealthy(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface ChildPoolOptions {
  readonly packs: readonly string[];
  readonly readable: readonly string[];
  /** All memory limits of the operations. */
  readonly memoryMiB: readonly number[];
  /** How many operations run at once. */
  readonly slots: number;
  readonly telemetry: Telemetry;
}

const READY_WITHIN_MS = 30_000;
/** Runs after which a child is replaced, so that what operations leak does not add up. */
const RUNS_PER_CHILD = 500;
/** A child that holds on to more than this share of its limit starts its next run from a bad place. */
const KEPT_MEMORY_SHARE = 0.5;
const KEPT_MEMORY_MIN_BYTES = 256 * 1024 * 1024;
const RESPAWN_MIN_MS = 200;
const RESPAWN_MAX_MS = 10_000;

interface Waiter {
  readonly memoryMiB: number;
  readonly resolve: (child: ChildProcess) => void;
  readonly reject: (error: Error) => void;
}

export function createChildPool(options: ChildPoolOptions): ChildPool {
  const { slots, telemetry } = options;
  const kinds = [...new Set(options.memoryMiB)];
  const guard = startChildGuard();
  const alive = new Set<ChildProcess>();
  const idle: ChildProcess[] = [];
  const runs = new WeakMap<ChildProcess, number>();
  const starting = new Map<number, number>();
  const waiters: Waiter[] = [];
  const health = createHealth();
  let closed = false;

  /** Starts one child of a kind. Who waits longest gets it, else it is the spare. */
  async function add(memoryMiB: number): Promise<void> {
    starting.set(memoryMiB, startingOf(memoryMiB) + 1);
    try {
      const child = startChild({ packs: options.packs, readable: options.readable, memoryMiB, readyWithinMs: READY_WITHIN_MS });
      adopt(child);
      await child.ready;
      health.succeeded();
      put(child);
    } catch (error) {
      health.failed();
      throw new Error("a child process could not be started", { cause: error });
    } finally {
      starting.set(memoryMiB, startingOf(memoryMiB) - 1);
    }
  }

  function adopt(child: ChildProcess): void {
    const { pid } = child;
    alive.add(child);
    guard.watch(pid);
    telemetry.emit("child.spawned", { pid });
    const gone = child.ended.then((end) => {
      alive.delete(child);
      guard.forget(pid);
      // One that dies while it has nothing to do would be followed by the next, as fast as they can be started.
      if (remove(idle, child) && end.killedFor === null) health.failed();
      telemetry.emit("child.exited", { pid, code: end.code, signal: end.signal, reason: end.killedFor ?? describeEnd(end) });
      if (!closed) refill(child.memoryMiB);
    });
    gone.catch((error: unknown) => telemetry.emit("child.exited", { pid, code: null, signal: null, reason: "unknown" }, error));
  }

  function put(child: ChildProcess): void {
    if (closed) return child.kill("the worker is stopping");
    const waiter = waiters.find(({ memoryMiB }) => memoryMiB === child.memoryMiB);
    if (waiter === undefined) {
      idle.push(child);
      return;
    }
    remove(waiters, waiter);
    waiter.resolve(child);
    refill(child.memoryMiB);
  }

  /** Keeps one spare warm beyond those that work, so that a kill costs no operation the time of a spawn. */
  function refill(memoryMiB: number): void {
    const wanted = waiters.filter((waiter) => waiter.memoryMiB === memoryMiB).length;
    const coming = idleOf(memoryMiB).length + startingOf(memoryMiB);
    if (closed || coming > wanted || health.retryInMs() > 0) return retryLater(memoryMiB);
    add(memoryMiB).catch((error: unknown) => {
      const waiter = waiters.find((candidate) => candidate.memoryMiB === memoryMiB);
      if (waiter !== undefined && remove(waiters, waiter)) waiter.reject(error instanceof Error ? error : new Error(String(error)));
      refill(memoryMiB);
    });
  }

  function retryLater(memoryMiB: number): void {
    const inMs = health.retryInMs();
    if (closed || inMs === 0) return;
    setTimeout(() => refill(memoryMiB), inMs).unref();
  }

  const idleOf = (memoryMiB: number) => idle.filter((child) => child.memoryMiB === memoryMiB);
  const startingOf = (memoryMiB: number) => starting.get(memoryMiB) ?? 0;

  return {
    async start() {
      await Promise.all(kinds.map(add));
    },
    acquire(memoryMiB) {
      if (closed) return Promise.reject(new Error("the sandbox is closed"));
      // The one used last: its code is compiled and its pages are in memory.
      const child = idleOf(memoryMiB).findLast(({ isUsable }) => isUsable);
      const acquired =
        child !== undefined && remove(idle, child)
          ? Promise.resolve(child)
          : new Promise<ChildProcess>((resolve, reject) => waiters.push({ memoryMiB, resolve, reject }));
      refill(memoryMiB);
      return acquired;
    },
    release(child) {
      const used = (runs.get(child) ?? 0) + 1;
      runs.set(child, used);
      if (!child.isUsable) return;
      if (used >= RUNS_PER_CHILD) return child.kill(`has run ${used} operations`);
      if (isHeavy(child)) return child.kill("keeps too much memory after its operation");
      if (idle.length >= slots + kinds.length && idleOf(child.memoryMiB).length > 0) return child.kill("is not needed");
      put(child);
    },
    whenHealthy: (signal) => (idle.some(({ isUsable }) => isUsable) ? Promise.resolve() : health.whenHealthy(signal)),
    async close() {
      closed = true;
      for (const waiter of waiters.splice(0)) waiter.reject(new Error("the sandbox is closed"));
      for (const child of alive) child.kill("the worker is stopping");
      await Promise.all([...alive].map((child) => child.ended));
      guard.close();
    },
  };
}

/** Whether children can be started, and when to try again. */
function createHealth() {
  let failures = 0;
  let retryAt = 0;
  let recovered = Promise.withResolvers<void>();
  return {
    succeeded() {
      failures = 0;
      recovered.resolve();
    },
    failed() {
      if (failures === 0) recovered = Promise.withResolvers();
      failures += 1;
      const delayMs = Math.min(RESPAWN_MAX_MS, RESPAWN_MIN_MS * 2 ** failures);
      retryAt = performance.now() + delayMs * (0.5 + Math.random() / 2);
    },
    retryInMs: () => (failures === 0 ? 0 : Math.max(0, retryAt - performance.now())),
    whenHealthy: (signal: AbortSignal) =>
      failures === 0 || signal.aborted
        ? Promise.resolve()
        : new Promise<void>((resolve) => {
            signal.addEventListener("abort", () => resolve(), { once: true });
            recovered.promise.then(resolve, resolve);
          }),
  };
}

function isHeavy(child: ChildProcess): boolean {
  const limit = Math.max(KEPT_MEMORY_MIN_BYTES, child.memoryMiB * 1024 * 1024 * KEPT_MEMORY_SHARE);
  return (child.residentBytes() ?? 0) > limit;
}

function remove<Item>(list: Item[], item: Item): boolean {
  const at = list.indexOf(item);
  if (at >= 0) list.splice(at, 1);
  return at >= 0;
}
