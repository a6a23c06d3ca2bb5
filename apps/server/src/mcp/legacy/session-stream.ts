import {
  AppError,
  LIST_NAMES,
  type ListName,
  type OperationRegistry,
  type Principal,
  type Task,
  type TaskId,
  type TaskRef,
} from "@holdfast/core";
import type { SessionStore, StoredSession } from "@holdfast/db";
import type { Hub } from "../../live/hub.ts";
import type { ListChanges } from "../../live/list-changes.ts";
import type { Exchange } from "../exchange.ts";
import type { TaskHandles } from "../handles.ts";
import { openEventStream, type EventStream } from "../listen/event-stream.ts";
import type { ListenTiming } from "../listen/listen-endpoint.ts";
import type { Places } from "../listen/places.ts";
import { createTaskFeed } from "../listen/task-feed.ts";
import { notificationMessage } from "./messages.ts";
import { FEATURES, type LegacyRevision } from "./revisions.ts";
import { mayLookAt } from "./serve-tasks.ts";
import { legacyTaskJson } from "./task-json.ts";
import { sessionName } from "./wire-names.ts";

/** The stream of a session for what belongs to no request: how its tasks stand, and which lists have changed. */
export interface SessionStreams {
  /** `since` null for one that begins now, else when the one before it stood. Rejects with `AppError`. */
  open(request: SessionStreamRequest): Promise<Response | null>;
  /** Ends all of them: their clients come back to another node. */
  drain(): void;
}

export interface SessionStreamRequest {
  readonly session: StoredSession;
  readonly revision: LegacyRevision;
  readonly since: Date | null;
  readonly exchange: Exchange;
  readonly signal: AbortSignal;
}

export interface SessionStreamsOptions {
  readonly store: Pick<SessionStore, "takeStream" | "tasksOf">;
  readonly registry: OperationRegistry;
  readonly handles: TaskHandles;
  readonly hub: Hub;
  readonly lists: ListChanges;
  readonly readTask: (ref: TaskRef) => Promise<Task | null>;
  readonly publish: (id: TaskId) => void;
  readonly places: Places;
  readonly timing: ListenTiming;
  readonly onFault: (error: unknown) => void;
}

/** A change is stamped when its statement begins and seen when it ends: so much earlier is looked for, and told twice rather than never. */
const MARGIN_MS = 15_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function createSessionStreams(options: SessionStreamsOptions): SessionStreams {
  const { store, lists, publish, places, timing, onFault } = options;
  const streams = new Set<EventStream>();
  let isDraining = false;

  return {
    open: async ({ session, revision, since, exchange, signal }) => {
      if (isDraining) throw new AppError("overloaded", "the node is about to end");
      using cleanup = new DisposableStack();
      cleanup.use(places.enter(exchange.principal, 0));
      // The newest stream carries the messages: each is sent on one only.
      const epoch = await store.takeStream(session.id);
      if (epoch === null) return null;
      publish(session.id);
      const stream = openEventStream({ signal, hangUp: exchange.hangUp, ...timing });
      streams.add(stream);
      cleanup.defer(() => void streams.delete(stream));
      const clock = createClock(since ?? session.now);
      if (FEATURES[revision].primedStreams) stream.prime(sessionName(clock.at));
      const tell = (list: ListName): void => {
        if (!stream.isFull) stream.send(notificationMessage(`notifications/${list}/list_changed`), sessionName(clock.at));
      };
      cleanup.use(lists.subscribe(tell));
      // What changed while nobody listened is not known.
      if (since !== null) LIST_NAMES.forEach(tell);
      cleanup.adopt(setTimeout(stream.finish, Math.min(exchange.expiresAt.getTime() - Date.now(), LONGEST_TIMER_MS)), clearTimeout);
      const owned = cleanup.move();
      const from = new Date((since ?? session.now).getTime() - (since === null ? 0 : MARGIN_MS));
      follow(options, { sessionId: session.id, principal: exchange.principal, epoch, from, clock, stream })
        .catch(onFault)
        .finally(() => {
          stream.finish();
          owned.dispose();
        })
        .catch(onFault);
      return stream.response;
    },
    drain: () => {
      isDraining = true;
      for (const stream of streams) stream.finish();
    },
  };
}

/** The database's time up to which a stream has told all: the name of its events. */
interface Clock {
  readonly at: Date;
  pass(time: Date): void;
}

function createClock(start: Date): Clock {
  let at = start;
  return {
    get at() {
      return at;
    },
    pass: (time) => {
      if (time > at) at = time;
    },
  };
}

interface Following {
  readonly sessionId: TaskId;
  readonly principal: Principal;
  readonly epoch: number;
  readonly from: Date;
  readonly clock: Clock;
  readonly stream: EventStream;
}

/** Finds the session's tasks at each hint and from time to time, and tells of each until it is over. Resolves when the stream is. */
async function follow(options: SessionStreamsOptions, following: Following): Promise<void> {
  const { store, hub, timing, onFault } = options;
  const { sessionId, epoch, from, stream } = following;
  const followed = new Set<TaskId>();
  using feeds = new DisposableStack();
  const hints = createHints();
  const hint = hints.give;
  feeds.use(hub.subscribe([sessionId], hint));
  feeds.adopt(setInterval(hint, timing.fallbackMs), clearInterval);
  stream.over.addEventListener("abort", hint, { once: true });
  while (!stream.over.aborted) {
    hints.clear();
    const found = await store.tasksOf(sessionId, from).catch(() => undefined);
    // Ended, or carried on by another stream.
    if (found === null || (found !== undefined && found.streamEpoch !== epoch)) return;
    for (const taskId of found?.taskIds ?? []) {
      if (followed.has(taskId)) continue;
      followed.add(taskId);
      const feed = feeds.use(openFeed(options, following, taskId));
      feed
        .visible()
        .then(() => feed.run())
        .catch(onFault);
    }
    await hints.next();
  }
}

/** Remembers one hint while nobody waits for any. */
function createHints(): { give(): void; clear(): void; next(): Promise<void> } {
  let hinted = Promise.withResolvers<undefined>();
  return {
    give: () => hinted.resolve(undefined),
    clear: () => {
      hinted = Promise.withResolvers();
    },
    next: async () => {
      await hinted.promise;
    },
  };
}

function openFeed(
  options: SessionStreamsOptions,
  { principal, clock, stream }: Following,
  taskId: TaskId,
): ReturnType<typeof createTaskFeed> {
  const { hub, registry, handles, readTask, timing, onFault } = options;
  return createTaskFeed({
    hub,
    timing,
    onFault,
    taskIds: [taskId],
    read: async (id) => {
      const task = await readTask({ id, principal });
      return task !== null && mayLookAt(registry, task, principal) ? task : null;
    },
    describe: (task) => {
      const handle = handles.sign({ generation: "l", principal }, { workspaceId: task.workspaceId, taskId: task.id });
      return { state: legacyTaskJson(handle, task), at: task.lastUpdatedAt };
    },
    sink: {
      over: stream.over,
      get isFull() {
        return stream.isFull;
      },
      room: stream.room,
      deliver: (_taskId, { state, at }) => {
        if (at instanceof Date) clock.pass(at);
        stream.send(notificationMessage("notifications/tasks/status", isState(state) ? state : {}), sessionName(clock.at));
      },
    },
  });
}

function isState(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
