import { wakeIdentifier } from "@holdfast/core";
import { openQueuePool } from "@holdfast/db";
import { pause, within } from "@holdfast/process";
import { run, type JobHelpers, type Logger, type Task } from "graphile-worker";

/** Fetches jobs and runs them, until it is stopped. */
export interface JobRunner {
  /** Resolves when jobs are fetched; rejects when the queue cannot be used. */
  start(): Promise<void>;
  /** Fetches no more and waits for the jobs that run. */
  stop(): Promise<void>;
}

export interface JobRunnerOptions {
  readonly url: string;
  readonly slots: number;
  readonly pools: readonly string[];
  readonly roots: readonly string[];
  readonly task: Task;
  readonly logger: Logger;
  /** Told when the queue stopped by itself; it is started again. */
  readonly onFailure: (error: unknown) => void;
  /** Told when a connection of the queue dies; it makes another. */
  readonly onConnectionLost: (error: Error) => void;
}

/**
 * Jobs that are fetched but not started are locked by us and out of reach for idle workers, and going back they are not
 * announced. So few are fetched, they are given back soon when all slots are busy, and everybody looks once a second.
 */
const FETCHED_PER_SLOT = 2;
const FETCHED_FOR_MS = 100;
const LOOK_EVERY_MS = 10;
const POLL_EVERY_MS = 1_000;
/** One listens, the others fetch and complete; attempts use connections of their own. */
const CONNECTIONS = 4;
const RESTART_MIN_MS = 1_000;
const RESTART_MAX_MS = 5_000;
/** How long a queue without jobs under way may take to stop. */
const STOP_WITHIN_MS = 2_000;
/** Attempts are ended by their own drain, never by the queue. */
const NEVER_MS = 2 ** 31 - 1;

/** One runner of graphile-worker with connections of its own, from its start to its end; it is never repaired. */
interface Queue {
  /** Asks it to stop. */
  stop(): void;
  /** Resolves when it stops: because it was asked to, or because it could not say of a job that it is done. */
  readonly stopping: Promise<void>;
  /** Resolves when it has stopped, or has had its time for it. */
  close(): Promise<void>;
}

export function createJobRunner(options: JobRunnerOptions): JobRunner {
  const { url, slots, pools, roots, logger, onFailure, onConnectionLost } = options;
  const identifiers = pools.flatMap((pool) => roots.map((root) => wakeIdentifier({ pool, root })));
  const draining = new AbortController();
  const isDraining = (): boolean => draining.signal.aborted;
  const underWay = new Set<Promise<void>>();
  const closing = new Set<Promise<void>>();
  let queue: Queue | null = null;
  let watching: Promise<void> = Promise.resolve();

  const task: Task = async (payload, helpers) => {
    // The jobs of a queue that is being left behind still have their slots.
    while (underWay.size >= slots) await Promise.race(underWay);
    if (isDraining()) return await handOn(payload, helpers);
    const job = Promise.resolve(options.task(payload, helpers));
    track(underWay, job);
    await job;
  };

  async function open(): Promise<Queue> {
    const pool = openQueuePool({ url, applicationName: "holdfast-worker-queue", maxConnections: CONNECTIONS, onError: onConnectionLost });
    const endPool = () => within(STOP_WITHIN_MS, pool.end());
    const stopping = Promise.withResolvers<void>();
    const local = { isHoldingJobs: false };
    const runner = await run({
      pgPool: pool,
      concurrency: slots,
      pollInterval: POLL_EVERY_MS,
      noHandleSignals: true,
      gracefulShutdownAbortTimeout: NEVER_MS,
      logger,
      taskList: Object.fromEntries(identifiers.map((identifier) => [identifier, task])),
      parsedCronItems: [],
      preset: {
        plugins: [
          shutdownPlugin(async () => {
            stopping.resolve();
            while (local.isHoldingJobs) await pause(LOOK_EVERY_MS);
          }),
        ],
        worker: {
          localQueue: { size: slots * FETCHED_PER_SLOT, ttl: FETCHED_FOR_MS },
          completeJobBatchDelay: 0,
          failJobBatchDelay: 0,
        },
      },
    }).catch(async (error: unknown) => {
      await endPool();
      throw error;
    });
    const ended = runner.promise.catch((error: unknown) => {
      if (!isDraining()) onFailure(error);
    });
    runner.events.on("localQueue:setMode", ({ newMode }) => (local.isHoldingJobs = newMode === "WAITING"));
    return {
      stopping: Promise.race([stopping.promise, ended]),
      // What fails on this way is in its own log, and all that can be done follows anyway.
      stop: () => void runner.stop().catch(() => undefined),
      async close() {
        await Promise.all(underWay);
        // After failures that came together, it counts wrong and waits for reports that it has had (graphile-worker 0.18).
        await within(STOP_WITHIN_MS, ended);
        await endPool();
      },
    };
  }

  /** A long absence of the database ends a queue, not the worker. */
  async function watch(): Promise<void> {
    let lastFailure: string | null = null;
    for (let failures = 0; !isDraining(); failures += 1) {
      try {
        queue ??= await open();
        failures = 0;
        lastFailure = null;
        if (isDraining()) queue.stop();
        await queue.stopping;
        if (!isDraining()) onFailure(new Error("the job queue ended by itself"));
        track(closing, queue.close().catch(onFailure));
      } catch (error) {
        // One line for a database that is away for an hour.
        if (!isDraining() && String(error) !== lastFailure) onFailure(error);
        lastFailure = String(error);
      }
      queue = null;
      const pauseMs = Math.min(RESTART_MAX_MS, RESTART_MIN_MS * 2 ** failures) * (0.5 + Math.random() / 2);
      await pause(pauseMs, draining.signal);
    }
  }

  return {
    async start() {
      // A worker without roots can claim nothing.
      if (identifiers.length === 0) return;
      queue = await open();
      watching = watch();
    },
    async stop() {
      draining.abort();
      queue?.stop();
      await watching;
      await Promise.all(closing);
    },
  };
}

/** Adds a job again for another worker. One that has lost its key has been replaced already. */
async function handOn(payload: unknown, { job, addJob }: JobHelpers): Promise<void> {
  if (job.key !== null) await addJob(job.task_identifier, payload, { jobKey: job.key, priority: job.priority });
}

/**
 * Runs before each shutdown, also those that graphile-worker begins by itself. It must not begin one while it holds jobs that no slot
 * has taken: version 0.18 then gives them back behind its own back, and a failure of that would end the process.
 */
function shutdownPlugin(before: () => Promise<void>): GraphileConfig.Plugin {
  return {
    name: "HoldfastShutdownPlugin",
    version: "1.0.0",
    worker: {
      middleware: {
        async poolGracefulShutdown(next) {
          await before();
          return await next();
        },
      },
    },
  };
}

/** Keeps it in the set until it is settled, in whichever way. */
function track(set: Set<Promise<void>>, work: Promise<unknown>): void {
  const settled = work.then(
    () => void set.delete(settled),
    () => void set.delete(settled),
  );
  set.add(settled);
}
