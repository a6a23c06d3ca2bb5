import type { Principal } from "../../access/principal.ts";
import type { Action } from "../../access/workspace.ts";
import { AppError } from "../../errors.ts";
import type { TaskId } from "../../ids.ts";
import type { AttemptRef } from "../attempt.ts";
import type { ClaimedAttempt } from "../attempt-ledger.ts";
import type { StoredReceipt } from "../receipt.ts";
import type { CreateTask, TaskRef } from "../task.ts";
import { expiresAt, hasExpired, isLive, type Entry } from "./entry.ts";

export interface MemoryGrant {
  readonly workspaceId: string;
  readonly issuer: string;
  readonly memberKind: "principal" | "group";
  readonly member: string;
  readonly actions: readonly Action[];
  /** Milliseconds since 1970, null for a grant that does not expire. */
  readonly expiresAt: number | null;
}

export interface ShelfOptions {
  readonly now: () => number;
  readonly workspaces: readonly ClaimedAttempt["workspace"][];
  readonly grants: readonly MemoryGrant[];
  readonly maxTasks: number;
}

/** Where the entries stand, and who gets to see which. */
export interface Shelf {
  readonly entries: ReadonlyMap<TaskId, Entry>;
  /** What each key of a principal in a place was first used for; see `receiptName`. */
  readonly receipts: Map<string, StoredReceipt>;
  /** Null for an unknown workspace and for a missing grant alike. */
  placeFor(request: CreateTask): ClaimedAttempt["workspace"] | null;
  /** Whether the owner may still change files where the task runs. */
  mayWrite(entry: Entry): boolean;
  /** The entry as its owner may address it for this action. */
  visible(ref: TaskRef, actionFor: (entry: Entry) => Action): Entry | null;
  /** The entry whose newest attempt this is, or null for an attempt that may no longer write. */
  held(attempt: AttemptRef): Entry | null;
  /** Live tasks and those of a receipt are never given up to make room. Throws "overloaded" when nothing else is left. */
  add(entry: Entry): void;
  /** Gives up tasks whose time passed `overdueMs` ago, the most overdue first, and says how many. */
  expire(limit: number, overdueMs: number): number;
}

export function createShelf({ now, workspaces, grants, maxTasks }: ShelfOptions): Shelf {
  const entries = new Map<TaskId, Entry>();

  const isGranted = (principal: Principal, workspaceId: string, action: Action): boolean =>
    grants.some(
      (grant) =>
        grant.workspaceId === workspaceId &&
        grant.issuer === principal.issuer &&
        (grant.memberKind === "principal" ? grant.member === principal.subject : principal.groups.includes(grant.member)) &&
        grant.actions.includes(action) &&
        (grant.expiresAt === null || grant.expiresAt > now()),
    );

  const expire = (limit: number, overdueMs: number): number => {
    const overdue = [...entries.values()]
      .filter((entry) => mayGo(entry) && hasExpired(entry, now() - overdueMs))
      .toSorted((a, b) => expiresAt(a) - expiresAt(b))
      .slice(0, limit)
      .map(({ request }) => request.id);
    for (const id of overdue) entries.delete(id);
    return overdue.length;
  };

  const makeRoom = (): void => {
    if (entries.size >= maxTasks) expire(maxTasks, 0);
    if (entries.size < maxTasks) return;
    const oldest = [...entries.values()].find(mayGo);
    if (oldest === undefined)
      throw new AppError("overloaded", `the in-memory store holds ${maxTasks} tasks that must stay and takes no more`);
    entries.delete(oldest.request.id);
  };

  return {
    entries,
    receipts: new Map(),
    placeFor: (request) => {
      const workspace = workspaces.find(({ id }) => id === request.workspaceId);
      return workspace !== undefined && isGranted(request.principal, workspace.id, actionByEffect(request)) ? workspace : null;
    },
    mayWrite: ({ request, workspace }) => isGranted(request.principal, workspace.id, "write"),
    visible: ({ id, principal }, actionFor) => {
      const entry = entries.get(id);
      if (entry === undefined || hasExpired(entry, now())) return null;
      const owner = entry.request.principal;
      if (owner.issuer !== principal.issuer || owner.subject !== principal.subject) return null;
      return isGranted(principal, entry.workspace.id, actionFor(entry)) ? entry : null;
    },
    held: ({ taskId, token, workerId }) => {
      const entry = entries.get(taskId);
      return entry !== undefined && entry.token === token && entry.workerId === workerId ? entry : null;
    },
    add: (entry) => {
      const { id } = entry.request;
      if (entries.has(id)) throw new AppError("internal", `task ${id} exists already`);
      makeRoom();
      entries.set(id, entry);
    },
    expire,
  };
}

/** The action that submits, answers or cancels such a task. */
export function actionByEffect({ operation }: CreateTask): Action {
  return operation.effect === "write" ? "write" : "run";
}

function mayGo(entry: Entry): boolean {
  return !isLive(entry) && entry.request.receipt === null;
}
