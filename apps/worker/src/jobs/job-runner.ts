import { wakeIdentifier } from "@holdfast/core";
import { run, type Logger, type Runner, type Task } from "graphile-worker";
import { pause } from "@holdfast/process";

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
}

/**
 * Jobs that are fetched but not started are locked by us and out of reach for idle workers, and going back they are not
 * announced. So few are fetched, they are given back soon when all slots are busy, and everybody looks once a second.
 */
const FETCHED_PER_SLOT = 2;
const FETCHED_FOR_MS = 100;
const POLL_EVERY_MS = 1_000;
/** One listens, the others fetch and complete; attempts use connections of their own. */
const CONNECTIONS = 4;
const RESTART_MIN_MS = 1_000;
const RESTART_MAX_MS = 30_000;
/** Attempts are ended by their own drain, never by the queue. */
const NEVER_MS = 2 ** 31 - 1;

export function createJobRunner(options: JobRunnerOptions): JobRunner {
  const { url, slots, pools, roots, task, logger, onFailure } = options;
  const identifiers = pools.flatMap((pool) => roots.map((root) => wakeIdentifier({ pool, root })));
  const stopping = new AbortController();
  const isStopping = (): boolean => stopping.signal.aborted;
  let runner: Runner | null = null;
  let watching: Promise<void> = Promise.resolve();

  const open = (): Promise<Runner> =>
    run({
      connectionString: url,
      maxPoolSize: CONNECTIONS,
      concurrency: slots,
      pollInterval: POLL_EVERY_MS,
      noHandleSignals: true,
      gracefulShutdownAbortTimeout: NEVER_MS,
      logger,
      taskList: Object.fromEntries(identifiers.map((identifier) => [identifier, task])),
      parsedCronItems: [],
      preset: {
        worker: {
          localQueue: { size: slots * FETCHED_PER_SLOT, ttl: FETCHED_FOR_MS },
          completeJobBatchDelay: 0,
          failJobBatchDelay: 0,
        },
      },
    });

  /** A long absence of the database ends the runner, not the worker. */
  async function watch(first: Runner): Promise<void> {
    let current: Runner | null = first;
    for (let failures = 0; !isStopping(); failures += 1) {
      try {
        current ??= runner = await open();
        failures = 0;
        await current.promise;
        if (!isStopping()) onFailure(new Error("the job queue ended by itself"));
      } catch (error) {
        if (!isStopping()) onFailure(error);
      }
      current = null;
      const pauseMs = Math.min(RESTART_MAX_MS, RESTART_MIN_MS * 2 ** failures) * (0.5 + Math.random() / 2);
      await pause(pauseMs, stopping.signal);
    }
  }

  return {
    async start() {
      // A worker without roots can claim nothing.
      if (identifiers.length === 0) return;
      runner = await open();
      watching = watch(runner);
    },
    async stop() {
      stopping.abort();
      await runner?.stop().catch(onFailure);
      await watching;
    },
  };
}
