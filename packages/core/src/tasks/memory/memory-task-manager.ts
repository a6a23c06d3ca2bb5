import type { TaskId } from "../../ids.ts";
import type { AttemptLedger, ClaimedAttempt } from "../attempt-ledger.ts";
import type { TaskManager } from "../task-manager.ts";
import type { WriteJournal } from "../write-journal.ts";
import { createAttempts } from "./attempts.ts";
import { createTask } from "./creation.ts";
import { taskOf } from "./entry.ts";
import { createJournal } from "./journal.ts";
import { createShelf, type MemoryGrant } from "./shelf.ts";
import { createWishes } from "./wishes.ts";

export type { MemoryGrant } from "./shelf.ts";

export interface MemoryStoreOptions {
  /** Milliseconds since 1970; must not go back. */
  readonly now: () => number;
  /** A fresh UUID for a failure that the store itself reports. */
  readonly newReference: () => string;
  readonly workspaces: readonly ClaimedAttempt["workspace"][];
  readonly grants: readonly MemoryGrant[];
  /** Tasks kept at once, 1,024 unless given. */
  readonly maxTasks?: number;
  /** Longer lifetimes are cut to this, one hour unless given. */
  readonly maxTtlMs?: number;
  /** What clients are told to leave between two polls, one second unless given. */
  readonly pollIntervalMs?: number;
}

export interface MemoryTaskManager extends TaskManager, AttemptLedger, WriteJournal {
  /**
   * Gives up at most `limit` finished tasks whose time passed `overdueMs` ago, 0 unless given, and says how many. A receipt keeps its
   * task (contract 4.5, 12.2).
   */
  expire(limit: number, overdueMs?: number): Promise<number>;
  /** Cancels at most `limit` parked tasks that nobody has answered for as long as they would have been kept, and says which. */
  endUnanswered(limit: number): Promise<readonly TaskId[]>;
}

/**
 * The store for the unit tests of operation authors, and the model that Postgres is compared with (contract 15.1). It holds
 * nothing beyond its process and is never chosen for somebody: whoever wants it constructs it. Live tasks and those of a receipt
 * are never given up to make room; when nothing else is left, create rejects with "overloaded".
 */
export function createMemoryTaskManager(options: MemoryStoreOptions): MemoryTaskManager {
  const { now, newReference, workspaces, grants, maxTasks = 1_024, maxTtlMs = 3_600_000, pollIntervalMs = 1_000 } = options;
  const shelf = createShelf({ now, workspaces, grants, maxTasks });
  const wishes = createWishes(shelf, now);
  return {
    create: async (request) => createTask(shelf, { now, maxTtlMs, pollIntervalMs }, request),
    find: async (ref) => {
      const entry = shelf.visible(ref, () => "read");
      return entry === null ? null : taskOf(entry);
    },
    update: async (ref, answers) => wishes.update(ref, answers),
    requestCancellation: async (ref) => wishes.cancel(ref),
    abandon: async (ref) => wishes.abandon(ref),
    ...createAttempts(shelf, { now, newReference }),
    ...createJournal(shelf),
    endUnanswered: async (limit) => wishes.endUnanswered(limit),
    expire: async (limit, overdueMs = 0) => shelf.expire(limit, overdueMs),
  };
}
