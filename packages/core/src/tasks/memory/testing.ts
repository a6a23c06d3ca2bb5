import type { Principal } from "../../access/principal.ts";
import { taskIdFrom, workerIdSchema, type TaskId } from "../../ids.ts";
import type { AttemptRef } from "../attempt.ts";
import type { ClaimedAttempt } from "../attempt-ledger.ts";
import type { StagedResult } from "../checkpoint.ts";
import type { ReceiptRequest } from "../receipt.ts";
import type { CreateOutcome, CreateTask, Task } from "../task.ts";
import type { JournalPlan } from "../write-journal.ts";
import { createMemoryTaskManager, type MemoryGrant, type MemoryStoreOptions, type MemoryTaskManager } from "./memory-task-manager.ts";

export const alice: Principal = { issuer: "https://issuer.example", subject: "alice", groups: ["modders"], scopes: [] };
export const REFERENCE = "00000000-0000-4000-8000-00000000000f";
export const workerId = workerIdSchema.parse("00000000-0000-4000-8000-000000000001");
export const reach = { pools: ["default"], roots: ["mods", "other"], operations: ["test.echo"] };
export const grant: MemoryGrant = {
  workspaceId: "alpha",
  issuer: alice.issuer,
  memberKind: "principal",
  member: "alice",
  actions: ["read", "run", "write"],
  expiresAt: null,
};
export const write = { name: "test.echo", version: 1, effect: "write", pool: "default" } as const;

/** A store of a test with its clock, and the moves that most tests begin with. */
export interface MemoryWorld {
  readonly store: MemoryTaskManager;
  /** Milliseconds since 1970. */
  at: number;
  request(changes?: Partial<CreateTask>): CreateTask;
  /** Creates a task, whatever becomes of it. */
  submit(changes?: Partial<CreateTask>): Promise<CreateOutcome>;
  /** Creates a task that is new. */
  create(changes?: Partial<CreateTask>): Promise<Task>;
  claim(taskId: TaskId): Promise<ClaimedAttempt>;
  find(id: TaskId): Promise<Task | null>;
  /** Lets the lease of a running attempt lapse and the reaper find it. */
  lose(attempt: AttemptRef): Promise<void>;
}

export function openMemoryWorld(options: Partial<MemoryStoreOptions> = {}): MemoryWorld {
  let ids = 0;
  const store = createMemoryTaskManager({
    now: () => world.at,
    newReference: () => REFERENCE,
    workspaces: [
      { id: "alpha", root: "mods", path: "alpha" },
      { id: "beta", root: "mods", path: "beta" },
      { id: "gamma", root: "other", path: "" },
    ],
    grants: ["alpha", "beta", "gamma"].map((workspaceId) => ({ ...grant, workspaceId })),
    ...options,
  });
  const world: MemoryWorld = {
    store,
    at: 1_700_000_000_000,
    request: (changes = {}) => {
      ids += 1;
      const random = Uint8Array.from({ length: 10 }, (_, index) => (index < 8 ? 0 : ids >> (8 * (9 - index))));
      return {
        id: taskIdFrom({ unixMs: world.at, random }),
        principal: alice,
        workspaceId: "alpha",
        operation: { name: "test.echo", version: 1, effect: "read", pool: "default" },
        input: { text: "hello" },
        ttlMs: 3_600_000,
        pollIntervalMs: 5_000,
        waiter: "client",
        contentAddress: null,
        receipt: null,
        answers: [],
        ...changes,
      };
    },
    submit: (changes) => store.create(world.request(changes)),
    create: async (changes) => {
      const outcome = await world.submit(changes);
      if (outcome.kind !== "created") throw new Error(`the task was not created but ${outcome.kind}`);
      return outcome.task;
    },
    claim: async (taskId) => {
      const attempt = await store.claim({ taskId, workerId, leaseMs: 60_000, reach });
      if (attempt === null) throw new Error("nothing to claim");
      return attempt;
    },
    find: (id) => store.find({ id, principal: alice }),
    lose: async ({ taskId }) => {
      world.at += 60_001;
      if (!(await store.reap(10)).includes(taskId)) throw new Error("the attempt was not lost");
    },
  };
  return world;
}

export function keyed(changes: Partial<ReceiptRequest> = {}): Partial<CreateTask> {
  return { operation: write, receipt: { key: "k", inputSha256: "aa".repeat(32), seal: "sealed", ...changes } };
}

export function staged(changes: Partial<StagedResult> = {}): Omit<StagedResult, "taskId"> {
  return { text: '{"content":[]}', sourceRevision: "r1", seal: "sealed", artifacts: [], ...changes };
}

export function plan(changes: Partial<JournalPlan> = {}): JournalPlan {
  const before = { sha256: "bb".repeat(32), bytes: Uint8Array.of(1, 2) };
  return { files: [{ path: "a.txt", before, after: null }], resultText: '{"content":[]}', artifacts: [], seal: "sealed", ...changes };
}
