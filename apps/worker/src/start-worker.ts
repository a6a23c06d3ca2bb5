import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { workerIdSchema, type Telemetry, type WorkerId } from "@holdfast/core";
import {
  assertSchema,
  createListener,
  createPostgresAttemptLedger,
  createPostgresWriteJournal,
  createPublisher,
  expireTasks,
  explainConnectionError,
  forgetWorker,
  openDatabase,
  registerWorker,
  rewake,
  storeArtifact,
  touchWorker,
  type WorkerDescription,
} from "@holdfast/db";
import { ConfigError, createLogger, createSeals, createTelemetry, loadOperations, repeat, startRecovery } from "@holdfast/process";
import type { Logger } from "pino";
import packageJson from "../package.json" with { type: "json" };
import type { AttemptServices } from "./attempts/attempt-services.ts";
import { createLeaseKeeper } from "./attempts/lease-keeper.ts";
import { retryWhileUnavailable } from "./attempts/retry-while-unavailable.ts";
import { runAttempt } from "./attempts/run-attempt.ts";
import type { WorkerConfig } from "./config.ts";
import { createJobRunner } from "./jobs/job-runner.ts";
import { createRunTask } from "./jobs/run-task.ts";
import { createGraphileLogger } from "./log/graphile-logger.ts";
import { ABORT_GRACE_MS, createSandbox } from "./sandbox/sandbox.ts";

/** A worker that claims tasks and runs their operations. */
export interface RunningWorker {
  readonly id: WorkerId;
  /** Drains: claims no more, lets attempts end, interrupts at the deadline what has not. Safe to call twice. */
  stop(reason?: string): Promise<void>;
}

/** For tests and for processes that hold more than a worker; the default writes JSON lines to standard output. */
export interface WorkerSurroundings {
  readonly logger?: Logger;
  readonly telemetry?: Telemetry;
}

/** Connections for claims, artifacts, hints and maintenance; renewals and settlements have their own. */
const CONNECTIONS_BESIDE_SLOTS = 3;
/** Operators take a worker for gone after 30 seconds. */
const PRESENT_EVERY_MS = 8_000;

/**
 * Rejects with `ConfigError` for a pack that does not load, and with the database's error when it cannot be used; nothing is
 * left running then.
 */
export async function startWorker(config: WorkerConfig, surroundings: WorkerSurroundings = {}): Promise<RunningWorker> {
  const id = workerIdSchema.parse(randomUUID());
  const logger = (surroundings.logger ?? createLogger(config.logLevel)).child({ worker: id });
  const telemetry = surroundings.telemetry ?? createTelemetry(logger);
  const warn = (message: string) => (error: unknown) => logger.warn({ err: error }, message);
  await using cleanup = new AsyncDisposableStack();

  const operations = await loadOperations(config.packs);
  const database = openDatabase({
    url: config.databaseUrl,
    applicationName: "holdfast-worker",
    maxConnections: config.slots + CONNECTIONS_BESIDE_SLOTS,
    onError: warn("a connection to the database was lost"),
  });
  cleanup.defer(database.close);
  await assertSchema(database);

  const description: WorkerDescription = {
    id,
    host: hostname(),
    pid: process.pid,
    version: packageJson.version,
    pools: config.pools,
    roots: [...config.roots.keys()],
    operations: [...operations.keys()],
    slots: config.slots,
  };
  await registerWorker(database, description);
  cleanup.defer(() => forgetWorker(database, id).catch(warn("the worker could not be removed from the list")));

  const sandbox = createSandbox({ packs: config.packs, roots: [...config.roots.values()], operations, slots: config.slots, telemetry });
  cleanup.defer(sandbox.close);
  await sandbox.start().catch(refusePacks);

  const publisher = createPublisher(database);
  cleanup.defer(publisher.stop);
  const ledger = createPostgresAttemptLedger(database);
  const leases = createLeaseKeeper({
    ledger,
    leaseMs: config.leaseMs,
    publish: publisher.publish,
    telemetry,
    onError: warn("leases could not be renewed"),
  });
  leases.start();
  cleanup.defer(leases.stop);

  const listener = createListener({
    url: config.listenUrl,
    applicationName: "holdfast-worker-listener",
    database,
    onHint: leases.lookAt,
    telemetry,
  });
  listener.start();
  cleanup.defer(listener.stop);

  const recovery = startRecovery({
    reap: ledger.reap,
    rewake: (options) => rewake(database, options),
    expire: (limit) => expireTasks(database, limit),
    publish: publisher.publish,
    telemetry,
    onError: (work, error) => logger.warn({ err: error, work }, "a round of recovery failed"),
  });
  cleanup.defer(recovery.stop);
  const presence = repeat({
    everyMs: PRESENT_EVERY_MS,
    onError: warn("the worker could not say that it lives"),
    async work() {
      if (!(await touchWorker(database, id))) await registerWorker(database, description);
      return "done";
    },
  });
  cleanup.defer(presence.stop);

  const draining = new AbortController();
  const interruption = new AbortController();
  const services: AttemptServices = {
    workerId: id,
    leaseMs: config.leaseMs,
    reach: { pools: config.pools, roots: description.roots, operations: description.operations },
    operations,
    roots: config.roots,
    ledger,
    journal: createPostgresWriteJournal(database),
    seals: createSeals(config.keys),
    leases,
    sandbox,
    async storeArtifact(attempt, file) {
      const onRetry = warn("an artifact could not be stored, trying again");
      const stored = await retryWhileUnavailable(() => storeArtifact(database, attempt, file), { onRetry });
      return stored.kind === "stored" ? { kind: "stored", sha256: stored.address.sha256 } : stored;
    },
    publish: publisher.publish,
    interruption: interruption.signal,
    interruptionGraceMs: Math.min(ABORT_GRACE_MS, config.drainMs),
    telemetry,
    logger,
  };
  const jobs = createJobRunner({
    url: config.listenUrl,
    slots: config.slots,
    pools: config.pools,
    roots: description.roots,
    task: createRunTask({
      runAttempt: (taskId) => runAttempt(taskId, services),
      whenReady: () => sandbox.whenHealthy(draining.signal),
      onBadPayload: warn("a job was forgotten, because it names no task"),
    }),
    logger: createGraphileLogger(logger),
    onFailure: warn("the job queue failed and is started again"),
    onConnectionLost: warn("a connection of the job queue was lost"),
  });
  await jobs.start().catch((error: unknown) => refuseQueue(error, config));
  telemetry.emit("process.started", { role: "worker", version: packageJson.version });

  const owned = cleanup.move();
  let stopped: Promise<void> | null = null;

  async function drain(reason: string): Promise<void> {
    telemetry.emit("process.draining", { role: "worker", signal: reason });
    draining.abort();
    // From now on it can claim nothing, and must not be counted among those that can.
    await presence.stop();
    await forgetWorker(database, id).catch(warn("the worker could not be removed from the list"));
    const deadline = setTimeout(() => interruption.abort(), Math.max(0, config.drainMs - services.interruptionGraceMs));
    await jobs.stop();
    clearTimeout(deadline);
    await owned.disposeAsync();
    telemetry.emit("process.stopped", { role: "worker" });
  }

  return {
    id,
    stop: (reason = "stop") => (stopped ??= drain(reason)),
  };
}

/** The job queue listens, so it is reached over another URL than all the rest. */
function refuseQueue(error: unknown, { listenUrl, databaseUrl }: WorkerConfig): never {
  const reason = listenUrl === databaseUrl ? null : explainConnectionError(error, listenUrl);
  if (reason === null) throw error;
  throw new ConfigError(`DATABASE_LISTEN_URL is not usable: ${reason}`, { cause: error });
}

/** A pack that does not load is a mistake of whoever named it. One line: what a child printed has more, and goes to its log. */
function refusePacks(error: unknown): never {
  const reasons: string[] = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause) reasons.push(cause.message);
  const line = reasons.join(": ").replaceAll(/\s+/gu, " ").slice(0, 600);
  throw new ConfigError(`HOLDFAST_PACKS is not usable: ${line}`, { cause: error });
}
