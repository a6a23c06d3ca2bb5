import type { ListName, OperationRegistry, Pack, Seals, Task, TaskId, TaskRef } from "@holdfast/core";
import type { SessionStore } from "@holdfast/db";
import type { Hub } from "../../live/hub.ts";
import type { ListChanges } from "../../live/list-changes.ts";
import type { Cancellations } from "../cancellations.ts";
import { LISTEN_TIMING, type ListenTiming } from "../listen/listen-endpoint.ts";
import { createPlaces, LISTEN_LIMITS, type ListenLimits } from "../listen/places.ts";
import type { ModernServerOptions } from "../modern/create-server.ts";
import { createNodeTools } from "../node-tools.ts";
import { createCallRunner } from "./call-runner.ts";
import { createLegacyEndpoint, type LegacyEndpoint } from "./legacy-endpoint.ts";
import { createLegacyMethods } from "./methods.ts";
import { createSessionStreams } from "./session-stream.ts";
import { createTaskCursors } from "./task-cursor.ts";

export interface LegacyOptions {
  /** What the modern protocol is served from: the same services answer both. */
  readonly services: ModernServerOptions;
  readonly packs: readonly Pack[];
  readonly registry: OperationRegistry;
  readonly store: SessionStore;
  readonly hub: Hub;
  readonly lists: ListChanges;
  readonly seals: Seals;
  readonly cancellations: Cancellations;
  /** Under the conditions of `TaskManager.find`. */
  readonly readTask: (ref: TaskRef) => Promise<Task | null>;
  readonly publish: (id: TaskId) => void;
  readonly announce: (list: ListName) => void;
  readonly draining: AbortSignal;
  readonly now: () => number;
  readonly onFault: (error: unknown) => void;
  readonly timing?: Partial<ListenTiming>;
  /** Of the streams that belong to no call. */
  readonly limits?: Partial<ListenLimits>;
}

const INSTRUCTIONS =
  "Operations run in a workspace, `current` unless workspaceId names another. Long operations can be called as tasks; large results are linked as artifacts, readable in byte ranges.";

/** The endpoint for clients of 2025, over the services of the node. */
export function createLegacy(options: LegacyOptions): LegacyEndpoint {
  const { services, packs, seals } = options;
  const { handles, service, prompts, resources } = services;
  const timing = { ...LISTEN_TIMING, ...options.timing };
  const nodeTools = createNodeTools({
    packs,
    service,
    openHandle: ({ principal }, handle) => handles.open({ generation: "l", principal }, handle),
    announce: options.announce,
  });
  const shared = { ...options, ...services, nodeTools, timing, cursors: createTaskCursors(seals) };
  const hasPrompts = prompts.prompts.length > 0;
  return createLegacyEndpoint({
    ...shared,
    methods: createLegacyMethods(shared),
    runner: createCallRunner(shared),
    streams: createSessionStreams({ ...shared, places: createPlaces({ ...LISTEN_LIMITS, ...options.limits }) }),
    description: {
      serverInfo: { name: "holdfast", title: "Holdfast", version: services.version },
      instructions: INSTRUCTIONS,
      hasPrompts,
      hasCompletions: hasPrompts || resources.templates.length > 0,
    },
  });
}
