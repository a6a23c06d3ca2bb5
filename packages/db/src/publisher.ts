import { setTimeout as delay } from "node:timers/promises";
import type { ListName, TaskId } from "@holdfast/core";
import type { Database } from "./pool.ts";

/**
 * The channel of change hints: comma separated task ids, `*` for "look yourself", and `list:` with the name of a list that clients should
 * read again. What a node of another release cannot read, it takes for `*`.
 */
export const TASK_CHANNEL = "holdfast_task";
export const EVERYTHING = "*";
export const LIST_PREFIX = "list:";

export interface Publisher {
  /** Marks a change that is already committed; never waits and never throws. */
  publish(taskId: TaskId): void;
  /** The same for a list of the service: every node tells those of its clients that asked for it. */
  announce(list: ListName): void;
  /** Sends what is left; what cannot be sent is dropped. */
  stop(): Promise<void>;
}

/** Postgres allows 8000 bytes; the names of all lists fit beside these. */
const MAX_PAYLOAD_BYTES = 7_900;
const WINDOW_MS = 10;

/**
 * Tells all nodes which tasks changed, at most once per window. Every NOTIFY holds a lock of the whole database over its commit,
 * so it never runs inside a task's transaction and hundreds of changes share one. A hint that is lost costs latency only.
 */
export function createPublisher(database: Database): Publisher {
  const changed = new Set<TaskId>();
  const lists = new Set<ListName>();
  let everything = false;
  let sender: Promise<void> | null = null;
  const stopping = new AbortController();

  const send = async (): Promise<void> => {
    // What the same turn of the event loop publishes goes together.
    await Promise.resolve();
    while (everything || changed.size > 0 || lists.size > 0) {
      const named = [...lists].map((list) => LIST_PREFIX + list);
      const payload = [...named, ...(everything ? [EVERYTHING] : changed)].join(",");
      everything = false;
      changed.clear();
      lists.clear();
      try {
        await database.pool.query({ name: "publish hints", text: "select pg_notify($1, $2)", values: [TASK_CHANNEL, payload] });
      } catch (error) {
        database.onError(new Error("could not publish hints: nodes learn of the changes when they poll", { cause: error }));
      }
      // Rejects when the publisher is stopped: then nothing new comes, and the rest goes at once.
      await delay(WINDOW_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
    sender = null;
  };

  return {
    publish: (taskId) => {
      if (stopping.signal.aborted || everything) return;
      changed.add(taskId);
      // Ids are ASCII and all of one length, 36, with a comma each.
      if (changed.size * 37 > MAX_PAYLOAD_BYTES) {
        everything = true;
        changed.clear();
      }
      sender ??= send();
    },
    announce: (list) => {
      if (stopping.signal.aborted) return;
      lists.add(list);
      sender ??= send();
    },
    stop: async () => {
      stopping.abort();
      await sender;
    },
  };
}
