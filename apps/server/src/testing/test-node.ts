import { randomBytes, randomUUID } from "node:crypto";
import { createMemoryTaskManager, type MemoryGrant } from "@holdfast/core/memory";
import {
  defineOperation,
  definePack,
  registerPacks,
  taskIdFrom,
  toolResult,
  workerIdSchema,
  type Principal,
  type Settlement,
  type TaskId,
  type TaskManager,
  type Telemetry,
  type TelemetryEvents,
} from "@holdfast/core";
import { z } from "zod";
import { modernCaller, type CallModern } from "../../../../test/support/mcp-request.ts";
import { describeResource, initialScopes } from "../auth/resource-metadata.ts";
import type { VerifyToken } from "../auth/verify-token.ts";
import { createApp } from "../http/app.ts";
import { createHub, type Hub } from "../live/hub.ts";
import { createListChanges, type ListChanges } from "../live/list-changes.ts";
import { createArtifactService, type ReadArtifact } from "../mcp/artifact-service.ts";
import { createCancellations, type Cancellations } from "../mcp/cancellations.ts";
import { createMcpEndpoint } from "../mcp/endpoint.ts";
import { createTaskHandles } from "../mcp/handles.ts";
import { createListenEndpoint, type ListenEndpoint, type ListenEndpointOptions } from "../mcp/listen/listen-endpoint.ts";
import { describeTools } from "../mcp/tool-catalog.ts";
import { createToolService, type ToolService } from "../mcp/tool-service.ts";
import { createHealth } from "../ops/health.ts";

const workspaceId = z.string().default("current");
const shared = { version: 1, description: "For tests.", effect: "read" as const };

const operations = [
  defineOperation({
    ...shared,
    name: "test.echo",
    title: "Echo",
    input: z.strictObject({
      workspaceId,
      text: z.string().default(""),
      limit: z.number().int().max(10).optional(),
      filter: z.strictObject({ name: z.string() }).optional(),
    }),
    output: z.object({ text: z.string() }),
  }),
  defineOperation({ ...shared, name: "test.foreground", title: "Foreground", input: z.object({ workspaceId }), tasks: "forbidden" }),
  defineOperation({ ...shared, name: "test.background", title: "Background", input: z.object({ workspaceId }), tasks: "required" }),
  defineOperation({ ...shared, name: "test.guarded", title: "Guarded", input: z.object({ workspaceId }), scopes: ["test:read"] }),
  defineOperation({
    ...shared,
    name: "test.change",
    title: "Change",
    input: z.object({ workspaceId }),
    effect: "write",
    scopes: ["test:read", "test:write"],
  }),
];

/** A token of these tests is its principal's subject, a colon, and the scopes. */
const verifyTestToken: VerifyToken = async (token) => {
  const [subject = "", scopes = ""] = token.split("~");
  return { kind: "valid", principal: principalOf(subject, scopes === "" ? [] : scopes.split("+").map((scope) => scope.replace("_", ":"))) };
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
  /** Creations and cancellations that reached the store. */
  readonly writes: readonly string[];
  readonly grants: MemoryGrant[];
  /** The newest task, of whatever call. */
  newestTask(): TaskId;
  /** Does what a worker would do: claims the task, settles it so, and gives the hint. */
  settle(taskId: TaskId, settlement?: Settlement): Promise<void>;
  /** Replaces parts of the store from here on. */
  readonly faults: { create?: TaskManager["create"]; find?: TaskManager["find"]; requestCancellation?: TaskManager["requestCancellation"] };
  readonly stop: AbortController;
}

export interface TestNodeOptions {
  readonly readArtifact?: ReadArtifact;
  readonly maxWatches?: number;
  readonly verify?: VerifyToken;
  readonly maxWaitMs?: number;
  readonly allowedHosts?: readonly string[];
  readonly listen?: Pick<ListenEndpointOptions, "limits" | "timing">;
}

/** A whole node over the in-memory store, without port, token issuer, worker or listener. */
export function createTestNode(options: TestNodeOptions = {}): TestNode {
  const registry = registerPacks([definePack({ name: "test", operations })]);
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
  const store = createMemoryTaskManager({
    now: () => Date.now(),
    newReference: randomUUID,
    workspaces: ["current", "hidden"].map((id) => ({ id, root: "mods", path: "" })),
    grants,
  });
  const faults: TestNode["faults"] = {};
  const created: TaskId[] = [];
  const manager: TaskManager = {
    create: async (request) => {
      writes.push(`create ${request.operation.name}`);
      created.push(request.id);
      return await (faults.create ?? store.create)(request);
    },
    find: async (task) => await (faults.find ?? store.find)(task),
    requestCancellation: async (task) => {
      writes.push("cancel");
      return await (faults.requestCancellation ?? store.requestCancellation)(task);
    },
  };
  const telemetry: Telemetry = { emit: (name, event, error) => void events.push({ name, event: { ...event }, error }) };
  const hub = createHub({ maxWatches: options.maxWatches ?? 100 });
  const cancellations = createCancellations({ manager, telemetry, publish: (taskId) => hub.hint([taskId]) });
  const stop = new AbortController();
  const resource = describeResource({ publicUrl: "http://127.0.0.1/mcp", issuers: [] }, registry);
  const service = createToolService({
    registry,
    manager,
    hub,
    cancellations,
    telemetry,
    workspacesOf: async ({ subject }) => grants.filter(({ member }) => member === subject).map((grant) => grant.workspaceId),
    newTaskId: () => taskIdFrom({ unixMs: Date.now(), random: randomBytes(10) }),
    stopping: stop.signal,
    ...(options.maxWaitMs === undefined ? {} : { maxWaitMs: options.maxWaitMs }),
  });
  const handles = createTaskHandles([{ id: "k1", secret: randomBytes(32) }]);
  const lists = createListChanges();
  const listen = createListenEndpoint({
    registry,
    handles,
    hub,
    lists,
    readTask: manager.find,
    serverInfo: { name: "holdfast", title: "Holdfast", version: "0.0.0" },
    onFault: (error) => void listenFaults.push(error),
    ...options.listen,
  });
  const app = createApp({
    origins: { allowedHosts: options.allowedHosts ?? ["127.0.0.1"], allowedOrigins: [] },
    maxInFlight: 100,
    authentication: { verify: options.verify ?? verifyTestToken, initialScopes: initialScopes(registry) },
    resource,
    endpoint: createMcpEndpoint({
      version: "0.0.0",
      tools: describeTools(registry),
      service,
      artifacts: createArtifactService(options.readArtifact ?? (async () => null)),
      handles,
      listen,
      metadataUrl: resource.url,
    }),
    health: createHealth({ checkDatabase: async () => undefined, listenerState: () => "up", isDraining: () => false }),
    isDraining: () => false,
    telemetry,
  });
  return {
    call: modernCaller("http://127.0.0.1/mcp", (request) => app.request(request, undefined, {})),
    request: (request) => app.request(request, undefined, {}),
    service,
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
      return newest;
    },
    settle: async (taskId, settlement = { kind: "completed", result: toolResult({ text: "done" }), artifacts: [] }) => {
      const workerId = workerIdSchema.parse(randomUUID());
      const reach = { pools: ["default"], roots: ["mods"], operations: [...registry.keys()] };
      const attempt = await store.claim({ taskId, workerId, leaseMs: 60_000, reach });
      if (attempt === null) throw new Error(`task ${taskId} cannot be claimed`);
      await store.settle(attempt, settlement);
      hub.hint([taskId]);
    },
  };
}
