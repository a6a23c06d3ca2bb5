import type { OperationRegistry, Task, TaskRef } from "@holdfast/core";
import { AppError } from "@holdfast/core";
import type { Hub } from "../../live/hub.ts";
import type { ListChanges } from "../../live/list-changes.ts";
import type { Exchange } from "../exchange.ts";
import type { TaskHandles } from "../handles.ts";
import { openEventStream, type EventStream } from "./event-stream.ts";
import { forwardLists } from "./forward-lists.ts";
import { acceptedFilter, honouredSubset } from "./honoured-filter.ts";
import { listenRefusal } from "./listen-refusal.ts";
import type { ListenRequest } from "./listen-request.ts";
import { listenMessages, type HonouredFilter, type ListenMessages, type ServerInfo } from "./messages.ts";
import { createPlaces, LISTEN_LIMITS, type ListenLimits } from "./places.ts";
import { nameTasks, openFeed } from "./open-feed.ts";
import type { TaskFeed } from "./task-feed.ts";

/** Serves `subscriptions/listen`: the SDK's own stream knows no task ids (contract 10.3). */
export interface ListenEndpoint {
  /** Never rejects. `exchange` learns of refusals and faults. */
  open(listen: ListenRequest, signal: AbortSignal, exchange: Exchange): Promise<Response>;
  /** Ends all streams with their answers and refuses new ones: their clients come back to another node. */
  drain(): void;
  /** How many streams are open. */
  readonly size: number;
}

export interface ListenEndpointOptions {
  readonly registry: OperationRegistry;
  readonly handles: TaskHandles;
  readonly hub: Hub;
  readonly lists: ListChanges;
  readonly hasPrompts: boolean;
  /** Reads for all streams of the node, under the conditions of `TaskManager.find`. */
  readonly readTask: (ref: TaskRef) => Promise<Task | null>;
  readonly serverInfo: ServerInfo;
  /** Told of what an operator should know of an open stream. */
  readonly onFault: (error: unknown) => void;
  readonly limits?: Partial<ListenLimits>;
  readonly timing?: Partial<ListenTiming>;
}

/** All in milliseconds. */
export interface ListenTiming {
  readonly keepAliveMs: number;
  readonly stallMs: number;
  readonly fallbackMs: number;
  readonly progressEveryMs: number;
}

export const LISTEN_TIMING: ListenTiming = { keepAliveMs: 15_000, stallMs: 30_000, fallbackMs: 15_000, progressEveryMs: 250 };

/**
 * A stream lives until its client closes it, its token ends, the node drains, or nothing it asked for can change any more: a task that is over has
 * told its last, and holding the connection would promise more. The SDK ends a stream in the same way when it honours nothing.
 */
export function createListenEndpoint(options: ListenEndpointOptions): ListenEndpoint {
  const { handles, serverInfo, onFault } = options;
  const timing = { ...LISTEN_TIMING, ...options.timing };
  const places = createPlaces({ ...LISTEN_LIMITS, ...options.limits });
  const open = new Map<EventStream, ListenMessages>();
  let isDraining = false;

  async function listen(request: ListenRequest, signal: AbortSignal, exchange: Exchange): Promise<Response> {
    const { principal } = exchange;
    const filter = acceptedFilter(request);
    if (isDraining) throw new AppError("overloaded", "the node is about to end");
    const named = nameTasks(filter.taskIds ?? [], (handle) => handles.open({ generation: "m", principal }, handle));
    using cleanup = new DisposableStack();
    cleanup.use(places.enter(principal, named.size));
    const stream = openEventStream({ signal, hangUp: exchange.hangUp, ...timing });
    const messages = listenMessages(request.id, serverInfo);
    open.set(stream, messages);
    cleanup.defer(() => void open.delete(stream));
    // The feed listens before its first read: what changes in between is read again.
    const feed = cleanup.use(openFeed({ ...options, timing, request, principal, named, stream, messages }));
    const honoured = await honouredSubset(filter, { named, feed, hasPrompts: options.hasPrompts }).catch((error: unknown) => {
      stream.close();
      throw error;
    });
    stream.send(messages.acknowledged(honoured));
    // Its client comes back with the next token; whoever lost the right to one does not.
    cleanup.adopt(
      setTimeout(() => stream.end(messages.complete()), untilMs(exchange.expiresAt)),
      clearTimeout,
    );
    cleanup.use(forwardLists({ lists: options.lists, honoured, stream, messages }));
    exchange.isBodyDone = true;
    const owned = cleanup.move();
    follow(feed, stream, honoured)
      .then(() => stream.end(messages.complete()))
      .finally(() => owned.dispose())
      .catch(onFault);
    return stream.response;
  }

  return {
    open: async (request, signal, exchange) => {
      try {
        return await listen(request, signal, exchange);
      } catch (error) {
        return listenRefusal(error, request.id, exchange);
      }
    },
    drain: () => {
      isDraining = true;
      for (const [stream, messages] of open) stream.end(messages.complete());
    },
    get size() {
      return open.size;
    },
  };
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

function untilMs(time: Date): number {
  return Math.min(time.getTime() - Date.now(), LONGEST_TIMER_MS);
}

/** Resolves when there is nothing left to tell, or nobody to tell it to. */
async function follow(feed: TaskFeed, stream: EventStream, honoured: HonouredFilter): Promise<void> {
  await feed.run();
  const isMore = Object.keys(honoured).some((member) => member !== "taskIds");
  if (isMore && !stream.over.aborted)
    await new Promise<void>((resolve) => {
      stream.over.addEventListener("abort", () => resolve(), { once: true });
    });
}
