import { randomBytes } from "node:crypto";
import { taskIdFrom, type TaskManager, type Telemetry } from "@holdfast/core";
import {
  assertSchema,
  createListener,
  createPostgresAttemptLedger,
  createPostgresTaskManager,
  createPublisher,
  createSessionStore,
  endUnanswered,
  expireSessions,
  expireTasks,
  createTaskReader,
  listWorkspaces,
  openDatabase,
  readArtifact,
  rewake,
} from "@holdfast/db";
import { createLogger, createSeals, createTelemetry, loadPacks, startRecovery } from "@holdfast/process";
import type { Logger } from "pino";
import packageJson from "../package.json" with { type: "json" };
import { describeResource, initialScopes } from "./auth/resource-metadata.ts";
import { createTokenVerifier } from "./auth/verify-token.ts";
import type { ServerConfig } from "./config.ts";
import { createApp } from "./http/app.ts";
import { startHttpServer, type HttpServer } from "./http/http-server.ts";
import { createHub } from "./live/hub.ts";
import { createListChanges } from "./live/list-changes.ts";
import { createArtifactService } from "./mcp/artifact-service.ts";
import { createCancellations } from "./mcp/cancellations.ts";
import { createServices } from "./mcp/create-services.ts";
import { createMcpEndpoint } from "./mcp/endpoint.ts";
import { createTaskHandles } from "./mcp/handles.ts";
import { createLegacy } from "./mcp/legacy/create-legacy.ts";
import { createListenEndpoint, type ListenEndpointOptions } from "./mcp/listen/listen-endpoint.ts";
import { createHealth } from "./ops/health.ts";

/** A node that serves. */
export interface RunningServer {
  /** Where it listens; clients may know it under the public URL only. */
  readonly url: string;
  /**
   * Drains: is no longer ready, accepts nothing more, lets requests finish until the deadline, then tells those that still wait
   * to come back, and closes. Safe to call twice.
   */
  stop(reason?: string): Promise<void>;
}

/** For tests and for processes that hold more than a server; the default writes JSON lines to standard output. */
export interface ServerSurroundings {
  readonly logger?: Logger;
  readonly telemetry?: Telemetry;
  readonly listen?: Pick<ListenEndpointOptions, "limits" | "timing">;
}

/** Time for the answers to leave that say "come back", after the drain's deadline. */
const FLUSH_MS = 1000;
/** Each round of expiry removes so many sessions that nobody uses any more. */
const SESSIONS_AT_ONCE = 1_000;

/**
 * Rejects with `ConfigError` for a pack that does not load, with `ListenError` for a port that is taken, and with the database's
 * error when it cannot be used; nothing is left running then.
 */
export async function startServer(config: ServerConfig, surroundings: ServerSurroundings = {}): Promise<RunningServer> {
  const logger = surroundings.logger ?? createLogger(config.logLevel);
  const telemetry = surroundings.telemetry ?? createTelemetry(logger);
  await using cleanup = new AsyncDisposableStack();

  const { packs, registry } = await loadPacks(config.packs);
  const database = openDatabase({
    url: config.databaseUrl,
    applicationName: "holdfast-server",
    maxConnections: config.maxConnections,
    onError: (error) => logger.warn({ err: error }, error.message),
  });
  cleanup.defer(database.close);
  const manager = createPostgresTaskManager(database);
  await assertSchema(database);
  await probe(manager);

  const lists = createListChanges();
  const hub = createHub({ maxWatches: config.maxInFlight });
  const publisher = createPublisher(database);
  cleanup.defer(publisher.stop);
  const listener = createListener({
    url: config.listenUrl,
    applicationName: "holdfast-server-listener",
    database,
    onHint: hub.hint,
    onList: (list) => lists.announce(list),
    telemetry,
  });
  listener.start();
  cleanup.defer(listener.stop);
  // Also here: when the last worker has died, somebody must still end its attempts.
  const recovery = startRecovery({
    reap: createPostgresAttemptLedger(database).reap,
    rewake: (options) => rewake(database, options),
    expire: async (limit) => {
      for (const taskId of await endUnanswered(database, limit)) publisher.publish(taskId);
      await expireSessions(database, SESSIONS_AT_ONCE);
      return await expireTasks(database, limit);
    },
    publish: publisher.publish,
    telemetry,
    onError: (work, error) => logger.warn({ err: error, work }, "a round of recovery failed"),
  });
  cleanup.defer(recovery.stop);

  const draining = new AbortController();
  const stopping = new AbortController();
  const cancellations = createCancellations({ manager, telemetry, publish: publisher.publish });
  cleanup.defer(cancellations.idle);
  const resource = describeResource(config, registry);
  const handles = createTaskHandles(config.keys);
  const readTask = createTaskReader(database);
  const onFault = (error: unknown): void => logger.warn({ err: error }, "a state was not delivered to a listener");
  const listen = createListenEndpoint({
    registry,
    handles,
    hub,
    lists,
    hasPrompts: packs.some(({ prompts }) => prompts.length > 0),
    readTask,
    serverInfo: { name: "holdfast", title: "Holdfast", version: packageJson.version },
    onFault,
    ...surroundings.listen,
  });
  draining.signal.addEventListener("abort", listen.drain);
  const seals = createSeals(config.keys);
  const services = createServices({
    version: packageJson.version,
    packs,
    registry,
    manager,
    hub,
    cancellations,
    telemetry,
    seals,
    handles,
    artifacts: createArtifactService((request) => readArtifact(database, request)),
    workspacesOf: async (principal) => (await listWorkspaces(database, principal)).map(({ id }) => id),
    newTaskId: () => taskIdFrom({ unixMs: Date.now(), random: randomBytes(10) }),
    now: Date.now,
    publish: publisher.publish,
    announce: publisher.announce,
    stopping: stopping.signal,
  });
  const legacy = createLegacy({
    services,
    packs,
    registry,
    store: createSessionStore(database),
    hub,
    lists,
    seals,
    cancellations,
    readTask,
    publish: publisher.publish,
    announce: publisher.announce,
    draining: draining.signal,
    now: Date.now,
    onFault,
    ...surroundings.listen,
  });
  draining.signal.addEventListener("abort", legacy.drain);
  const endpoint = createMcpEndpoint({ ...services, metadataUrl: resource.url, listen, legacy });
  cleanup.defer(endpoint.close);

  const app = createApp({
    origins: config,
    maxInFlight: config.maxInFlight,
    authentication: { verify: createTokenVerifier(config.issuers), initialScopes: initialScopes(registry) },
    resource,
    endpoint,
    health: createHealth({
      checkDatabase: () => probe(manager),
      listenerState: () => listener.state,
      isDraining: () => draining.signal.aborted,
    }),
    isDraining: () => draining.signal.aborted,
    telemetry,
  });
  const http = await startHttpServer({ fetch: app.fetch, host: config.host, port: config.port });
  cleanup.defer(http.close);
  // Whoever gets here stops before the connections are cut, however the start ends.
  cleanup.defer(() => stopping.abort());

  const url = `http://${config.host.includes(":") ? `[${config.host}]` : config.host}:${http.port}/mcp`;
  const started = { role: "server", version: packageJson.version, url, publicUrl: config.publicUrl };
  telemetry.emit("process.started", started);
  const owned = cleanup.move();
  let stopped: Promise<void> | null = null;
  return {
    url,
    stop: async (reason = "stop") => {
      stopped ??= drain({ reason, drainMs: config.drainMs, http, draining, stopping, owned, telemetry });
      await stopped;
    },
  };
}

interface Drain {
  readonly reason: string;
  readonly drainMs: number;
  readonly http: HttpServer;
  readonly draining: AbortController;
  readonly stopping: AbortController;
  readonly owned: AsyncDisposableStack;
  readonly telemetry: Telemetry;
}

async function drain({ reason, drainMs, http, draining, stopping, owned, telemetry }: Drain): Promise<void> {
  telemetry.emit("process.draining", { role: "server", signal: reason });
  draining.abort();
  await http.drain(AbortSignal.timeout(drainMs));
  stopping.abort();
  await http.drain(AbortSignal.timeout(FLUSH_MS));
  await owned.disposeAsync();
  telemetry.emit("process.stopped", { role: "server" });
}

const NOBODY = { issuer: "holdfast", subject: "readiness", groups: [], scopes: [] };
const NO_TASK = taskIdFrom({ unixMs: 0, random: new Uint8Array(10) });

/**
 * Cancels a task that cannot exist for a principal that cannot exist. It is a write like any other, so it fails where writes
 * fail: no connection, no schema, no rights, or a standby after a failover.
 */
async function probe(manager: TaskManager): Promise<void> {
  await manager.requestCancellation({ id: NO_TASK, principal: NOBODY });
}
