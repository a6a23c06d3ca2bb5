import { randomBytes, randomUUID } from "node:crypto";
import { createMemoryTaskManager, type MemoryGrant, type MemoryTaskManager } from "@holdfast/core/memory";
import {
  MAX_TTL_MS,
  registerPacks,
  taskIdFrom,
  toolResult,
  workerIdSchema,
  type ClaimedAttempt,
  type CreateTask,
  type Pack,
  type Principal,
  type Settlement,
  type Task,
  type TaskId,
  type TaskManager,
  type Telemetry,
  type TelemetryEvents,
} from "@holdfast/core";
import { createSeals, type Key } from "@holdfast/process";
import { modernCaller, type CallModern } from "../../../../test/support/mcp-request.ts";
import { describeResource, initialScopes } from "../auth/resource-metadata.ts";
import type { VerifyToken } from "../auth/verify-token.ts";
import { createApp } from "../http/app.ts";
import { createHub, type Hub } from "../live/hub.ts";
import { createListChanges, type ListChanges } from "../live/list-changes.ts";
import { createArtifactService, type ReadArtifact } from "../mcp/artifact-service.ts";
import { createCancellations, type Cancellations } from "../mcp/cancellations.ts";
import { createServices } from "../mcp/create-services.ts";
import { createMcpEndpoint } from "../mcp/endpoint.ts";
import { createTaskHandles } from "../mcp/handles.ts";
import { createListenEndpoint, type ListenEndpoint, type ListenEndpointOptions } from "../mcp/listen/listen-endpoint.ts";
import type { ToolService } from "../mcp/tool-service.ts";
import { createHealth } from "../ops/health.ts";
import { testPack } from "./test-pack.ts";

const END_OF_TIME = new Date(8.64e15);

/** A token of these tests is its principal's subject, a colon, and the scopes. */
const verifyTestToken: VerifyToken = async (token) => {
  const [subject = "", scopes = ""] = token.split("~");
  const principal = principalOf(subject, scopes === "" ? [] : scopes.split("+").map((scope) => scope.replace("_", ":")));
  return { kind: "valid", principal, expiresAt: END_OF_TIME };
};

export function principalOf(subject: string, scopes: readonly string[] = []): Principal {
  return { issuer: "https://id.example", subject, groups: [], scopes };
}

export interface EmittedEvent {
  readonly name: keyof TelemetryEvents;
  readonly event: Readonly<Record<string, unknown>>;
  readonly error: unknown;
}

export interface TestNode {
  readonly store: MemoryTaskManager;
  readonly call: CallModern;
  readonly service: ToolService;
  readonly request: (request: Request) => Response | Promise<Response>;
  readonly hub: Hub;
  readonly lists: ListChanges;
  readonly listen: ListenEndpoint;
  readonly cancellations: Cancellations;
  readonly events: readonly EmittedEvent[];
  /** What operators were told of open streams. */
  readonly listenFaults: readonly unknown[];
  /** What reached the store and may have changed it. */
  readonly writes: readonly string[];
  /** Every creation that was asked for. */
  readonly created: readonly CreateTask[];
  readonly grants: MemoryGrant[];
  /** The newest task, of whatever call. */
  newestTask(): TaskId;
  /** As alice sees it. */
  find(taskId: TaskId): Promise<Task>;
  /** Takes the task as a worker would. */
  claim(taskId: TaskId): Promise<ClaimedAttempt>;
  /** Does what a worker would do: claims the task, settles it so, and gives the hint. */
  settle(taskId: TaskId, settlement?: Settlement): Promise<void>;
  /** Replaces parts of the store from here on. */
  readonly faults: Partial<Pick<TaskManager, "create" | "find" | "requestCancellation" | "abandon">>;
  readonly stop: AbortController;
}

export interface TestNodeOptions {
  readonly keys?: readonly Key[];
  /** That of another node, so that the two are one service. */
  readonly store?: MemoryTaskManager;
  /** The test pack unless told otherwise. */
  readonly packs?: readonly Pack[];
  readonly readArtifact?: ReadArtifact;
  readonly maxWatches?: number;
  readonly verify?: VerifyToken;
  readonly maxWaitMs?: number;
  readonly allowedHosts?: readonly string[];
  readonly listen?: Pick<ListenEndpointOptions, "limits" | "timing">;
}

/** A whole node over the in-memory store, without port, token issuer, worker or listener. */
export function createTestNode(options: TestNodeOptions = {}): TestNode {
  const keys = options.keys ?? [{ id: "k1", secret: randomBytes(32) }];
  const packs = options.packs ?? [testPack];
  const registry = registerPacks(packs);
  const events: EmittedEvent[] = [];
  const listenFaults: unknown[] = [];
  const writes: string[] = [];
  const grants = ["alice", "bob"].map((member): MemoryGrant => ({
    workspaceId: "current",
    issuer: "https://id.example",
    memberKind: "principal",
    member,
    actions: ["read", "run", "write"],
    expiresAt: null,
  }));
  const store =
    options.store ??
    createMemoryTaskManager({
      now: () => Date.now(),
      newReference: randomUUID,
      maxTtlMs: MAX_TTL_MS,
      workspaces: ["current", "hidden"].map((id) => ({ id, root: "mods", path: "" })),
      grants,
    });
  const faults: TestNode["faults"] = {};
  const created: CreateTask[] = [];
  const manager: TaskManager = {
    create: async (request) => {
      writes.push(`create ${request.operation.name}`);
      created.push(request);
      return await (faults.create ?? store.create)(request);
    },
    find: async (task) => await (faults.find ?? store.find)(task),
    requestCancellation: async (task) => {
      writes.push("cancel");
      return await (faults.requestCancellation ?? store.requestCancellation)(task);
    },
    update: async (task, answers) => {
      writes.push(`update ${answers.map(({ key }) => key).join(",")}`);
      return await store.update(task, answers);
    },
    abandon: async (task) => {
      writes.push("abandon");
      return await (faults.abandon ?? store.abandon)(task);
    },
  };
  const telemetry: Telemetry = { emit: (name, event, error) => void events.push({ name, event: { ...event }, error }) };
  const hub = createHub({ maxWatches: options.maxWatches ?? 100 });
  const publish = (taskId: TaskId): void => hub.hint([taskId]);
  const cancellations = createCancellations({ manager, telemetry, publish });
  const stop = new AbortController();
  const resource = describeResource({ publicUrl: "http://127.0.0.1/mcp", issuers: [] }, registry);
  const handles = createTaskHandles(keys);
  const lists = createListChanges();
  const listen = createListenEndpoint({
    registry,
    handles,
    hub,
    lists,
    hasPrompts: packs.some(({ prompts }) => prompts.length > 0),
    readTask: manager.find,
    serverInfo: { name: "holdfast", title: "Holdfast", version: "0.0.0" },
    onFault: (error) => void listenFaults.push(error),
    ...options.listen,
  });
  const services = createServices({
    version: "0.0.0",
    packs,
    registry,
    manager,
    hub,
    cancellations,
    telemetry,
    seals: createSeals(keys),
    handles,
    artifacts: createArtifactService(options.readArtifact ?? (async () => null)),
    workspacesOf: async ({ subject }) => grants.filter(({ member }) => member === subject).map((grant) => grant.workspaceId),
    newTaskId: () => taskIdFrom({ unixMs: Date.now(), random: randomBytes(10) }),
    now: () => Date.now(),
    publish,
    announce: lists.announce,
    stopping: stop.signal,
    ...(options.maxWaitMs === undefined ? {} : { maxWaitMs: options.maxWaitMs }),
  });
  const app = createApp({
    origins: { allowedHosts: options.allowedHosts ?? ["127.0.0.1"], allowedOrigins: [] },
    maxInFlight: 100,
    authentication: { verify: options.verify ?? verifyTestToken, initialScopes: initialScopes(registry) },
    resource,
    endpoint: createMcpEndpoint({ ...services, metadataUrl: resource.url, listen, legacy: null }),
    health: createHealth({ checkDatabase: async () => undefined, listenerState: () => "up", isDraining: () => false }),
    isDraining: () => false,
    telemetry,
  });
  const claim: TestNode["claim"] = async (taskId) => {
    const workerId = workerIdSchema.parse(randomUUID());
    const reach = { pools: ["default"], roots: ["mods"], operations: [...registry.keys()] };
    const attempt = await store.claim({ taskId, workerId, leaseMs: 60_000, reach });
    if (attempt === null) throw new Error(`task ${taskId} cannot be claimed`);
    return attempt;
  };
  return {
    call: modernCaller("http://127.0.0.1/mcp", (request) => app.request(request, undefined, {})),
    request: (request) => app.request(request, undefined, {}),
    store,
    service: services.service,
    created,
    hub,
    lists,
    listen,
    listenFaults,
    cancellations,
    events,
    writes,
    grants,
    faults,
    stop,
    newestTask: () => {
      const newest = created.at(-1);
      if (newest === undefined) throw new Error("no task was created");
      return newest.id;
    },
    find: async (id) => {
      const task = await store.find({ id, principal: principalOf("alice") });
      if (task === null) throw new Error(`task ${id} is not found`);
      return task;
    },
    claim,
    settle: async (taskId, settlement = { kind: "completed", result: toolResult({ text: "done" }), artifacts: [] }) => {
      const attempt = await claim(taskId);
      await store.settle(attempt, settlement);
      hub.hint([taskId]);
    },
  };
}
