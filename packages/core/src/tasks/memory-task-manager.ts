import type { Principal } from "../access/principal.ts";
import type { Action } from "../access/workspace.ts";
import { AppError, type ErrorCode } from "../errors.ts";
import type { TaskId, WorkerId } from "../ids.ts";
import type {
  AttemptLedger,
  AttemptRef,
  ClaimedAttempt,
  ClaimRequest,
  Renewal,
  RenewalAnswer,
  Settlement,
  SettlementAnswer,
} from "./attempt-ledger.ts";
import { mayReplace } from "./retry-budget.ts";
import type { TaskManager } from "./task-manager.ts";
import type { CreateOutcome, CreateTask, Task, TaskOutcome, TaskProgress, TaskRef } from "./task.ts";
import { STATUS_OF_PHASE, TRANSITIONS, type TaskEvent, type TaskPhase } from "./transitions.ts";

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

export interface MemoryGrant {
  readonly workspaceId: string;
  readonly issuer: string;
  readonly memberKind: "principal" | "group";
  readonly member: string;
  readonly actions: readonly Action[];
  /** Milliseconds since 1970, null for a grant that does not expire. */
  readonly expiresAt: number | null;
}

interface Entry {
  readonly request: CreateTask;
  readonly workspace: ClaimedAttempt["workspace"];
  readonly inputText: string;
  readonly createdAt: number;
  phase: TaskPhase;
  lastUpdatedAt: number;
  token: number;
  workerId: WorkerId | null;
  leaseExpiresAt: number;
  cancelRequested: boolean;
  budgetSpent: number;
  progress: TaskProgress | null;
  outcome: StoredOutcome | null;
}

/** The result as JSON text, so that what is found is never an object that somebody still holds. */
type StoredOutcome = { readonly kind: "result"; readonly text: string } | Extract<TaskOutcome, { kind: "error" }>;

/**
 * The store for the unit tests of operation authors, and the model that Postgres is compared with (contract 15.1). It holds
 * nothing beyond its process and is never chosen for somebody: whoever wants it constructs it. Live tasks are never given up
 * to make room; when nothing else is left, create rejects with "overloaded".
 */
export function createMemoryTaskManager(options: MemoryStoreOptions): TaskManager & AttemptLedger {
  const { now, maxTasks = 1_024, maxTtlMs = 3_600_000, pollIntervalMs = 1_000 } = options;
  const entries = new Map<TaskId, Entry>();

  const isGranted = (principal: Principal, workspaceId: string, action: Action): boolean =>
    options.grants.some(
      (grant) =>
        grant.workspaceId === workspaceId &&
        grant.issuer === principal.issuer &&
        (grant.memberKind === "principal" ? grant.member === principal.subject : principal.groups.includes(grant.member)) &&
        grant.actions.includes(action) &&
        (grant.expiresAt === null || grant.expiresAt > now()),
    );

  /** The entry as its owner may address it for this action. */
  const visible = ({ id, principal }: TaskRef, actionFor: (entry: Entry) => Action): Entry | null => {
    const entry = entries.get(id);
    if (entry === undefined || hasExpired(entry, now())) return null;
    const owner = entry.request.principal;
    if (owner.issuer !== principal.issuer || owner.subject !== principal.subject) return null;
    return isGranted(principal, entry.workspace.id, actionFor(entry)) ? entry : null;
  };

  /** The entry whose newest attempt this is, or null for an attempt that may no longer write. */
  const held = ({ taskId, token, workerId }: AttemptRef): Entry | null => {
    const entry = entries.get(taskId);
    return entry !== undefined && entry.token === token && entry.workerId === workerId ? entry : null;
  };

  const makeRoom = (): void => {
    for (const [id, entry] of entries) if (hasExpired(entry, now())) entries.delete(id);
    if (entries.size < maxTasks) return;
    for (const [id, entry] of entries) {
      if (isLive(entry)) continue;
      entries.delete(id);
      return;
    }
    throw new AppError("overloaded", `the in-memory store holds ${maxTasks} live tasks and takes no more`);
  };

  const requeue = (entry: Entry, cost: number): void => {
    transit(entry, "requeue");
    entry.workerId = null;
    entry.budgetSpent += cost;
    entry.progress = null;
    entry.lastUpdatedAt = now();
  };

  const finish = (entry: Entry, event: "complete" | "fail" | "stop" | "cancel", outcome: StoredOutcome | null): void => {
    transit(entry, event);
    entry.workerId = null;
    entry.cancelRequested = false;
    entry.progress = null;
    entry.outcome = outcome;
    entry.lastUpdatedAt = now();
  };

  /** What follows an attempt that may be replaced: a wish to cancel comes first, then the budget. */
  const replaceOrEnd = (
    entry: Entry,
    cost: number,
    failure: { code: ErrorCode; reference: string },
  ): Exclude<SettlementAnswer, "refused"> => {
    if (entry.cancelRequested) {
      finish(entry, "stop", null);
      return "cancelled";
    }
    if (cost === 0 || mayReplace(entry.budgetSpent)) {
      requeue(entry, cost);
      return "requeued";
    }
    finish(entry, "fail", { kind: "error", ...failure });
    return "failed";
  };

  const create = (request: CreateTask): CreateOutcome => {
    const workspace = options.workspaces.find(({ id }) => id === request.workspaceId);
    if (workspace === undefined || !isGranted(request.principal, workspace.id, actionByEffect(request))) return { kind: "denied" };
    if (entries.has(request.id)) throw new AppError("internal", `task ${request.id} exists already`);
    makeRoom();
    const entry: Entry = {
      request: { ...request, ttlMs: Math.min(request.ttlMs, maxTtlMs), pollIntervalMs },
      workspace,
      inputText: JSON.stringify(request.input),
      createdAt: now(),
      phase: "queued",
      lastUpdatedAt: now(),
      token: 0,
      workerId: null,
      leaseExpiresAt: 0,
      cancelRequested: false,
      budgetSpent: 0,
      progress: null,
      outcome: null,
    };
    entries.set(request.id, entry);
    return { kind: "created", task: taskOf(entry) };
  };

  const requestCancellation = (ref: TaskRef): Task | null => {
    const entry = visible(ref, ({ request }) => actionByEffect(request));
    if (entry === null) return null;
    if (entry.phase === "queued") finish(entry, "cancel", null);
    else if (transit(entry, "cancel") && isLive(entry) && !entry.cancelRequested) {
      entry.cancelRequested = true;
      entry.lastUpdatedAt = now();
    }
    return taskOf(entry);
  };

  const claim = ({ taskId, workerId, leaseMs, reach }: ClaimRequest): ClaimedAttempt | null => {
    const entry = entries.get(taskId);
    if (entry === undefined) return null;
    const { operation, principal } = entry.request;
    const { pools, roots, operations } = reach;
    const isInReach = pools.includes(operation.pool) && roots.includes(entry.workspace.root) && operations.includes(operation.name);
    if (!isInReach || !transit(entry, "claim")) return null;
    entry.token += 1;
    entry.workerId = workerId;
    entry.leaseExpiresAt = now() + leaseMs;
    return {
      taskId,
      workerId,
      token: entry.token,
      operation: operation.name,
      operationVersion: operation.version,
      input: JSON.parse(entry.inputText),
      workspace: entry.workspace,
      owner: { issuer: principal.issuer, subject: principal.subject },
    };
  };

  const renew = ({ attempt, progress }: Renewal, leaseMs: number): RenewalAnswer => {
    const entry = held(attempt);
    if (entry === null || !transit(entry, "renew")) return { kind: "refused" };
    entry.leaseExpiresAt = now() + leaseMs;
    if (progress !== null) {
      entry.progress = { ...progress };
      entry.lastUpdatedAt = now();
    }
    return { kind: "renewed", cancelRequested: entry.cancelRequested };
  };

  const settle = (attempt: AttemptRef, settlement: Settlement): SettlementAnswer => {
    const entry = held(attempt);
    if (entry === null) return "refused";
    switch (settlement.kind) {
      case "completed":
        finish(entry, "complete", { kind: "result", text: JSON.stringify(settlement.result) });
        return "completed";
      case "cancelled":
        finish(entry, "stop", null);
        return "cancelled";
      case "interrupted":
        return replaceOrEnd(entry, 0, { code: "internal", reference: "" });
      case "failed": {
        const { code, reference, retry } = settlement;
        if (retry) return replaceOrEnd(entry, 1, { code, reference });
        finish(entry, "fail", { kind: "error", code, reference });
        return "failed";
      }
    }
  };

  const reap = (limit: number): readonly TaskId[] => {
    const dead = [...entries.values()]
      .filter((entry) => entry.workerId !== null && entry.leaseExpiresAt < now())
      .toSorted((a, b) => a.leaseExpiresAt - b.leaseExpiresAt || (a.request.id < b.request.id ? -1 : 1))
      .slice(0, limit);
    for (const entry of dead) replaceOrEnd(entry, 1, { code: "worker_lost", reference: options.newReference() });
    return dead.map(({ request }) => request.id);
  };

  return {
    create: async (request) => create(request),
    find: async (ref) => {
      const entry = visible(ref, () => "read");
      return entry === null ? null : taskOf(entry);
    },
    requestCancellation: async (ref) => requestCancellation(ref),
    claim: async (request) => claim(request),
    renew: async (renewals, leaseMs) => renewals.map((renewal) => renew(renewal, leaseMs)),
    settle: async (attempt, settlement) => settle(attempt, settlement),
    reap: async (limit) => reap(limit),
  };
}

/** Moves the task along the table; false when the table refuses. */
function transit(entry: Entry, event: TaskEvent): boolean {
  const next = TRANSITIONS[entry.phase][event];
  if (next === "refused") return false;
  entry.phase = next;
  return true;
}

function isLive({ phase }: Entry): boolean {
  return phase === "queued" || phase === "running";
}

function hasExpired(entry: Entry, at: number): boolean {
  return !isLive(entry) && entry.createdAt + entry.request.ttlMs <= at;
}

function actionByEffect({ operation }: CreateTask): Action {
  return operation.effect === "write" ? "write" : "run";
}

function taskOf(entry: Entry): Task {
  const { request } = entry;
  return {
    id: request.id,
    workspaceId: entry.workspace.id,
    operation: request.operation.name,
    operationVersion: request.operation.version,
    status: STATUS_OF_PHASE[entry.phase],
    statusMessage: null,
    progress: entry.progress === null ? null : { ...entry.progress },
    cancelRequested: entry.cancelRequested,
    createdAt: new Date(entry.createdAt),
    lastUpdatedAt: new Date(entry.lastUpdatedAt),
    ttlMs: request.ttlMs,
    pollIntervalMs: request.pollIntervalMs,
    outcome: entry.outcome?.kind === "result" ? { kind: "result", result: JSON.parse(entry.outcome.text) } : entry.outcome,
  };
}
