import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { LIST_NAMES, taskIdSchema, type ListName, type TaskId, type Telemetry } from "@holdfast/core";
import { z } from "zod";
import { createListenSession, PingLostError, type ListenSession } from "./listen-session.ts";
import type { Database } from "./pool.ts";
import { LIST_PREFIX, TASK_CHANNEL } from "./publisher.ts";

export interface Listener {
  /** Returns at once: the connection is made, watched and made again until `stop`. */
  start(): void;
  stop(): Promise<void>;
  /** `isolated`: hints do not arrive at the moment, and polling carries on alone. */
  readonly state: "stopped" | "isolated" | "up";
}

export interface ListenerOptions {
  /** Must lead to Postgres itself; behind a transaction pooler the listener stays isolated and says why. */
  readonly url: string;
  readonly applicationName: string;
  /** Sends the pings that have to come back over the listening connection. */
  readonly database: Database;
  /** `all`: hints may have been missed, look at everything that is waited for. Must not throw. */
  readonly onHint: (taskIds: readonly TaskId[] | "all") => void;
  /** A list of the service has changed, or may have while nobody listened. Must not throw. */
  readonly onList?: (list: ListName) => void;
  readonly telemetry: Telemetry;
  readonly pingEveryMs?: number;
  readonly pingDeadlineMs?: number;
}

const MIN_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 10_000;

/**
 * The single LISTEN connection of a process. It counts as up only while pings sent through the database come back over it: a
 * connection whose packets vanish, and a pooler that took the LISTEN to another session, look healthy to TCP. After every
 * reconnect the hint is "all", since what happened in between was told to nobody.
 */
export function createListener(options: ListenerOptions): Listener {
  const { database, telemetry, onHint, onList, pingEveryMs = 5_000, pingDeadlineMs = 3_000 } = options;
  let state: Listener["state"] = "stopped";
  let session: ListenSession | null = null;
  let keeper: Promise<void> | null = null;
  const stopping = new AbortController();
  const isStopping = (): boolean => stopping.signal.aborted;
  let lastReason: string | null = null;

  const becomeUp = (): void => {
    state = "up";
    lastReason = null;
    telemetry.emit("listener.up", { channel: TASK_CHANNEL });
    onHint("all");
    tellOfLists(LIST_NAMES);
  };

  const tellOfLists = (lists: readonly ListName[]): void => {
    for (const list of lists) onList?.(list);
  };

  const becomeIsolated = (reason: string, error: unknown): void => {
    state = "isolated";
    // A database that is away for an hour is one line, not one for each try.
    if (reason === lastReason) return;
    lastReason = reason;
    telemetry.emit("listener.isolated", { channel: TASK_CHANNEL, reason }, error);
  };

  const openSession = (): ListenSession =>
    createListenSession({
      url: options.url,
      applicationName: options.applicationName,
      channel: TASK_CHANNEL,
      pingChannel: `holdfast_ping_${randomBytes(8).toString("hex")}`,
      onPayload: (payload) => {
        const { changed, lists } = parsePayload(payload);
        if (changed === "all" || changed.length > 0) onHint(changed);
        tellOfLists(lists);
      },
      notify: async (channel, payload) => {
        await database.reserved.query({ name: "ping the listener", text: "select pg_notify($1, $2)", values: [channel, payload] });
      },
      deadlineMs: pingDeadlineMs,
    });

  const keep = async (): Promise<void> => {
    let failures = 0;
    while (!isStopping()) {
      let wasUp = false;
      session = openSession();
      try {
        await session.open();
        for (;;) {
          await session.ping();
          if (!wasUp) becomeUp();
          wasUp = true;
          failures = 0;
          await session.rest(pingEveryMs);
        }
      } catch (error) {
        session.close(error instanceof Error ? error : new Error(String(error)));
        if (!isStopping()) becomeIsolated(explain(error, wasUp), error);
      }
      // Rejects when the listener is stopped, which the loop then sees.
      await delay(backoffMs(failures), undefined, { signal: stopping.signal }).catch(() => undefined);
      failures += 1;
    }
    state = "stopped";
  };

  return {
    start: () => {
      if (keeper !== null) return;
      state = "isolated";
      keeper = keep();
    },
    stop: async () => {
      stopping.abort();
      session?.close(new Error("the listener is stopped"));
      await keeper;
    },
    get state() {
      return state;
    },
  };
}

const idsSchema = z.array(taskIdSchema);
const listsSchema = z.array(z.enum(LIST_NAMES));

/** What cannot be read is a reason to look, whoever sent it. */
function parsePayload(payload: string): { readonly changed: readonly TaskId[] | "all"; readonly lists: readonly ListName[] } {
  const words = payload.split(",");
  const named = words.filter((word) => word.startsWith(LIST_PREFIX)).map((word) => word.slice(LIST_PREFIX.length));
  const lists = listsSchema.safeParse(named);
  const ids = idsSchema.safeParse(words.filter((word) => !word.startsWith(LIST_PREFIX)));
  return { changed: ids.success && lists.success ? ids.data : "all", lists: lists.data ?? [] };
}

function explain(error: unknown, wasUp: boolean): string {
  const what = error instanceof Error ? error.message : String(error);
  if (error instanceof PingLostError && !wasUp)
    return `${what}: the LISTEN URL probably leads through a transaction pooler and needs a direct connection; polling carries on alone`;
  return `${what}; polling carries on alone until the listener is back`;
}

/** Doubles from try to try, with half of it left to chance, so that nodes do not come back in step. */
function backoffMs(failures: number): number {
  const longest = Math.min(MIN_BACKOFF_MS * 2 ** failures, MAX_BACKOFF_MS);
  return longest * (0.5 + Math.random() / 2);
}
