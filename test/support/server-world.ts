import { randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  parseWorkspaceId,
  taskIdSchema,
  toolResult,
  workerIdSchema,
  type Action,
  type AttemptRef,
  type Settlement,
  type TaskId,
  type TaskProgress,
  type Telemetry,
  type TelemetryEvent,
} from "@holdfast/core";
import {
  addGrant,
  addWorkspace,
  createPostgresAttemptLedger,
  createPublisher,
  openDatabase,
  removeGrant,
  type Database,
  type GrantMember,
} from "@holdfast/db";
import { testDatabase } from "@holdfast/db/testing";
import { readServerConfig, startServer, type RunningServer, type ServerConfig, type ServerSurroundings } from "@holdfast/server";
import { readWorkerConfig, startWorker } from "@holdfast/worker";
import { expectInvariants } from "./invariants.ts";
import { modernCaller, type CallModern } from "./mcp-request.ts";
import { startTestIssuer, type TestIssuer, type TokenOptions } from "./tokens.ts";

export const DURABLE_PACK = path.resolve(import.meta.dirname, "../fixtures/packs/durable");
export const CONFORMANCE_PACK = path.resolve(import.meta.dirname, "../conformance/pack");
/** What tokens are for, on whichever node they are shown. */
export const PUBLIC_URL = "http://127.0.0.1:8400/mcp";

/**
 * A database with two workspaces, an issuer of tokens, and as many nodes as a test starts. `alice` and `bob` may work in `current`.
 * At its end, no rule that always holds is broken.
 */
export interface ServerWorld extends AsyncDisposable {
  readonly url: string;
  readonly database: Database;
  readonly issuer: TestIssuer;
  /** A token of alice unless told otherwise. */
  token(options?: Partial<TokenOptions>): Promise<string>;
  /** What a node reads from its environment. */
  environment(overrides?: Readonly<Record<string, string>>): Record<string, string>;
  startNode(overrides?: Readonly<Record<string, string>>, surroundings?: Pick<ServerSurroundings, "listen">): Promise<TestServer>;
  /** A worker in this process, in whose empty folder both workspaces lie. */
  startWorker(overrides?: Readonly<Record<string, string>>): Promise<WorkerOfWorld>;
  grant(member: string, actions?: readonly Action[], overrides?: Partial<GrantMember>): Promise<void>;
  revoke(member: string, overrides?: Partial<GrantMember>): Promise<void>;
  /** Claims the task behind a handle, as a worker would. */
  claim(handle: string): Promise<AttemptRef>;
  /** Reports the attempt's progress. */
  renew(attempt: AttemptRef, progress: TaskProgress): Promise<void>;
  /** Settles the attempt without a hint. */
  end(attempt: AttemptRef, settlement: Settlement): Promise<void>;
  /** Claims and settles it, and publishes the change unless `silently`. */
  settle(handle: string, settlement?: Settlement, options?: { readonly silently?: boolean }): Promise<void>;
  query(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  /** Says that this test breaks the rule of a view in the schema `ops`, and why. */
  tolerate(invariant: string, reason: string): void;
}

export interface WorkerOfWorld extends AsyncDisposable {
  readonly folder: string;
}

/** A node in this process, on a port of its own. */
export interface TestServer extends RunningServer, AsyncDisposable {
  readonly call: CallModern;
  readonly events: readonly { readonly name: TelemetryEvent; readonly event: Readonly<Record<string, unknown>>; readonly error: unknown }[];
  readonly config: ServerConfig;
}

export async function createServerWorld(): Promise<ServerWorld> {
  await using cleanup = new AsyncDisposableStack();
  const { url, drop } = await testDatabase();
  cleanup.defer(drop);
  const issuer = await startTestIssuer();
  cleanup.defer(issuer.close);
  const database = openDatabase({ url, applicationName: "holdfast-test", maxConnections: 4, onError: () => undefined });
  cleanup.defer(database.close);
  const publisher = createPublisher(database);
  cleanup.defer(publisher.stop);
  const ledger = createPostgresAttemptLedger(database);
  for (const id of ["current", "hidden"]) await addWorkspace(database, { id: workspace(id), root: "mods", path: "" });

  const key = `k1:${randomBytes(32).toString("base64url")}`;
  const environment: ServerWorld["environment"] = (overrides = {}) => ({
    DATABASE_URL: url,
    HOLDFAST_PORT: "0",
    HOLDFAST_PUBLIC_URL: PUBLIC_URL,
    HOLDFAST_ISSUERS: JSON.stringify([{ issuer: issuer.issuer, jwksUrl: issuer.jwksUrl }]),
    HOLDFAST_KEYS: key,
    HOLDFAST_PACKS: CONFORMANCE_PACK,
    HOLDFAST_DRAIN_MS: "2000",
    HOLDFAST_MAX_CONNECTIONS: "4",
    ...overrides,
  });
  const memberOf = (member: string, overrides: Partial<GrantMember>): GrantMember => ({
    workspaceId: workspace("current"),
    issuer: issuer.issuer,
    memberKind: "principal",
    member,
    ...overrides,
  });
  const grant: ServerWorld["grant"] = async (member, actions = ["read", "run", "write"], overrides = {}) => {
    await addGrant(database, { ...memberOf(member, overrides), actions, expiresAt: null });
  };
  const claim: ServerWorld["claim"] = async (handle) => {
    const reach = { pools: ["default"], roots: ["mods"], operations: OPERATIONS };
    const attempt = await ledger.claim({ taskId: taskIdIn(handle), workerId: workerIdSchema.parse(randomUUID()), leaseMs: 60_000, reach });
    if (attempt === null) throw new Error(`the task of ${handle} cannot be claimed`);
    return attempt;
  };
  for (const member of ["alice", "bob"]) await grant(member);
  const query: ServerWorld["query"] = async (text, values = []) =>
    (await database.pool.query<Record<string, unknown>>(text, [...values])).rows;
  const tolerated = new Map<string, string>();
  cleanup.defer(() => expectInvariants(query, { tolerated }));

  const owned = cleanup.move();
  return {
    url,
    database,
    issuer,
    token: (options = {}) => issuer.token({ audience: PUBLIC_URL, ...options }),
    environment,
    startNode: (overrides, surroundings = {}) => startTestServer(readServerConfig(environment(overrides)), surroundings),
    startWorker: async (overrides = {}) => {
      await using workerCleanup = new AsyncDisposableStack();
      const folder = await realpath(await mkdtemp(path.join(tmpdir(), "holdfast-world-")));
      workerCleanup.defer(() => rm(folder, { recursive: true, force: true }));
      const variables = { DATABASE_URL: url, HOLDFAST_KEYS: key, HOLDFAST_PACKS: CONFORMANCE_PACK, HOLDFAST_ROOTS: `mods=${folder}` };
      const config = { ...readWorkerConfig({ ...variables, ...overrides }), logLevel: "silent" as const };
      const worker = await startWorker(config, { telemetry: { emit: () => undefined } });
      workerCleanup.defer(() => worker.stop());
      const ownedByWorker = workerCleanup.move();
      return { folder, [Symbol.asyncDispose]: () => ownedByWorker.disposeAsync() };
    },
    grant,
    revoke: async (member, overrides = {}) => {
      await removeGrant(database, memberOf(member, overrides));
    },
    claim,
    renew: async (attempt, progress) => {
      await ledger.renew([{ attempt, progress }], 60_000);
    },
    end: async (attempt, settlement) => {
      await ledger.settle(attempt, settlement);
    },
    settle: async (handle, settlement = { kind: "completed", result: toolResult({ text: "done" }), artifacts: [] }, options = {}) => {
      await ledger.settle(await claim(handle), settlement);
      if (options.silently !== true) publisher.publish(taskIdIn(handle));
    },
    query,
    tolerate: (invariant, reason) => void tolerated.set(invariant, reason),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const OPERATIONS = ["greet", "slow_compute", "failing_job", "protocol_error_job", "test_simple_text", "write_artifact"];

/** The task's own id is the fourth part of a handle; only these tests look into one. */
export function taskIdIn(handle: string): TaskId {
  return taskIdSchema.parse(handle.split(".")[3]);
}

async function startTestServer(config: ServerConfig, surroundings: Pick<ServerSurroundings, "listen">): Promise<TestServer> {
  const events: { name: TelemetryEvent; event: Readonly<Record<string, unknown>>; error: unknown }[] = [];
  const telemetry: Telemetry = { emit: (name, event, error) => void events.push({ name, event: { ...event }, error }) };
  const server = await startServer({ ...config, logLevel: "silent" }, { ...surroundings, telemetry });
  return { ...server, call: modernCaller(server.url), events, config, [Symbol.asyncDispose]: () => server.stop() };
}

function workspace(id: string): GrantMember["workspaceId"] {
  const parsed = parseWorkspaceId(id);
  if (parsed === null) throw new Error(`"${id}" is no workspace id`);
  return parsed;
}
