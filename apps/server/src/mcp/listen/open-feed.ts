import type { Operation, OperationRegistry, Principal, Task, TaskId, TaskRef } from "@holdfast/core";
import type { Hub } from "../../live/hub.ts";
import { askedCapabilities, missingCapabilities } from "../client-capabilities.ts";
import type { TaskAddress } from "../handles.ts";
import { detailedTaskJson } from "../modern/task-json.ts";
import type { EventStream } from "./event-stream.ts";
import type { ListenRequest } from "./listen-request.ts";
import type { ListenMessages } from "./messages.ts";
import { createTaskFeed, type FeedTiming, type TaskFeed } from "./task-feed.ts";

/** The tasks that a client named, and how: after a rotation of keys one task may have two handles. */
export type NamedTasks = ReadonlyMap<TaskId, { readonly workspaceId: string; readonly spellings: readonly string[] }>;

/** Ids that are no handles of this client's are left out, like all that it may not see. */
export function nameTasks(taskIds: readonly string[], open: (handle: string) => TaskAddress | null): NamedTasks {
  const named = new Map<TaskId, { workspaceId: string; spellings: string[] }>();
  for (const handle of new Set(taskIds)) {
    const address = open(handle);
    if (address === null) continue;
    const known = named.get(address.taskId);
    if (known === undefined) named.set(address.taskId, { workspaceId: address.workspaceId, spellings: [handle] });
    else known.spellings.push(handle);
  }
  return named;
}

export interface OpenFeedOptions {
  readonly hub: Hub;
  readonly registry: OperationRegistry;
  readonly readTask: (ref: TaskRef) => Promise<Task | null>;
  readonly timing: FeedTiming;
  readonly onFault: (error: unknown) => void;
  readonly request: ListenRequest;
  readonly principal: Principal;
  readonly named: NamedTasks;
  readonly stream: EventStream;
  readonly messages: ListenMessages;
}

/** The feed of these tasks into this stream, in the shapes of the protocol and with the rights of the caller. */
export function openFeed(options: OpenFeedOptions): TaskFeed {
  const { hub, registry, readTask, timing, onFault, request, principal, named, stream, messages } = options;
  // The stream may be open for hours: of what its client sent it keeps no more than it asks about.
  const capabilities = askedCapabilities(request.capabilities);
  return createTaskFeed({
    hub,
    timing,
    onFault,
    taskIds: [...named.keys()],
    read: async (taskId) => {
      const task = await readTask({ id: taskId, principal });
      if (task === null || task.workspaceId !== named.get(taskId)?.workspaceId) return null;
      return mayLookAt(registry.get(task.operation), principal) ? task : null;
    },
    describe: (task) => {
      // A client is never shown a question that it did not say it can answer (contract 9.3).
      if (task.status === "input_required" && missingCapabilities(task.inputRequests, capabilities) !== null) return null;
      return detailedTaskJson("", task);
    },
    sink: {
      over: stream.over,
      get isFull() {
        return stream.isFull;
      },
      room: stream.room,
      deliver: (taskId, state) => {
        for (const spelling of named.get(taskId)?.spellings ?? []) stream.send(messages.task({ ...state, taskId: spelling }));
      },
    },
  });
}

/** A credential that may only read can still look at its earlier writes (contract 2.5). */
function mayLookAt(operation: Operation | undefined, principal: Principal): boolean {
  return operation?.effect !== "read" || operation.scopes.every((scope) => principal.scopes.includes(scope));
}
