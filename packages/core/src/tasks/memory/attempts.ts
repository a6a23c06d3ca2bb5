import { AppError } from "../../errors.ts";
import type { TaskId } from "../../ids.ts";
import type { AttemptRef } from "../attempt.ts";
import type {
  AttemptLedger,
  ClaimedAttempt,
  ClaimRequest,
  Renewal,
  RenewalAnswer,
  Settlement,
  SettlementAnswer,
} from "../attempt-ledger.ts";
import type { KeepAnswer, SealedValue, StagedResult } from "../checkpoint.ts";
import type { InputRequests } from "../input.ts";
import { hasExpired, isBound, isUnresolved, isWriting, objectOf, transit, type Entry } from "./entry.ts";
import type { Shelf } from "./shelf.ts";
import { finish, judge, leave } from "./verdict.ts";

export interface AttemptOptions {
  readonly now: () => number;
  readonly newReference: () => string;
}

/** The worker's side of the in-memory store. */
export function createAttempts(shelf: Shelf, { now, newReference }: AttemptOptions): AttemptLedger {
  const claim = ({ taskId, workerId, leaseMs, reach }: ClaimRequest): ClaimedAttempt | null => {
    const entry = shelf.entries.get(taskId);
    if (entry === undefined) return null;
    const { operation } = entry.request;
    const { pools, roots, operations } = reach;
    const isInReach = pools.includes(operation.pool) && roots.includes(entry.workspace.root) && operations.includes(operation.name);
    if (!isInReach || !transit(entry, "claim")) return null;
    entry.token += 1;
    entry.workerId = workerId;
    entry.leaseExpiresAt = now() + leaseMs;
    return claimed({ taskId, workerId, token: entry.token }, entry, earlierRead(shelf, entry, now()));
  };

  const renew = ({ attempt, progress }: Renewal, leaseMs: number): RenewalAnswer => {
    const entry = shelf.held(attempt);
    if (entry === null || !transit(entry, "renew")) return { kind: "refused" };
    entry.leaseExpiresAt = now() + leaseMs;
    if (progress !== null) {
      entry.progress = { ...progress };
      entry.lastUpdatedAt = now();
    }
    return { kind: "renewed", cancelRequested: entry.cancelRequested };
  };

  const settle = (attempt: AttemptRef, settlement: Settlement): SettlementAnswer => {
    if (settlement.kind === "suspended" && Object.keys(settlement.requests).length === 0)
      throw new AppError("operation_output_invalid", `task ${attempt.taskId} would wait for an answer to no question`);
    const entry = shelf.held(attempt);
    if (entry === null) return "refused";
    refuseContradiction(entry, settlement);
    return settleHeld(entry, settlement, { at: now(), newReference });
  };

  const reap = (limit: number): readonly TaskId[] => {
    const dead = [...shelf.entries.values()]
      .filter((entry) => entry.workerId !== null && entry.leaseExpiresAt < now())
      .toSorted((a, b) => a.leaseExpiresAt - b.leaseExpiresAt || (a.request.id < b.request.id ? -1 : 1))
      .slice(0, limit);
    for (const entry of dead) judge(entry, { kind: "died", at: now(), code: "worker_lost", reference: newReference() });
    return dead.map(({ request }) => request.id);
  };

  const keep = (attempt: AttemptRef, place: (entry: Entry) => void): KeepAnswer => {
    const entry = shelf.held(attempt);
    if (entry === null) return "refused";
    place(entry);
    return "kept";
  };

  return {
    claim: async (request) => claim(request),
    renew: async (renewals, leaseMs) => renewals.map((renewal) => renew(renewal, leaseMs)),
    settle: async (attempt, settlement) => settle(attempt, settlement),
    saveCheckpoint: async (attempt, value) =>
      keep(attempt, (entry) => {
        noteProgress(entry, entry.checkpoint, value);
        entry.checkpoint = { ...value };
      }),
    saveStep: async (attempt, step) =>
      keep(attempt, (entry) => {
        noteProgress(entry, entry.steps.get(step.key) ?? null, step);
        entry.steps.set(step.key, { ...step });
      }),
    stage: async (attempt, result) =>
      keep(attempt, (entry) => {
        entry.checkpointVersion += 1;
        entry.staged = { ...result, artifacts: [...result.artifacts], taskId: attempt.taskId };
      }),
    unstage: async (attempt) =>
      keep(attempt, (entry) => {
        entry.staged = null;
      }),
    reap: async (limit) => reap(limit),
  };
}

/** An attempt that leaves what was there before has come no further. */
function noteProgress(entry: Entry, before: SealedValue | null, value: SealedValue): void {
  if (before?.text !== value.text || before.sourceRevision !== value.sourceRevision) entry.checkpointVersion += 1;
}

function claimed(attempt: AttemptRef, entry: Entry, reusable: StagedResult | null): ClaimedAttempt {
  const { operation, principal } = entry.request;
  return {
    ...attempt,
    operation: operation.name,
    operationVersion: operation.version,
    effect: operation.effect,
    input: JSON.parse(entry.inputText),
    workspace: entry.workspace,
    owner: { issuer: principal.issuer, subject: principal.subject },
    cancelRequested: entry.cancelRequested,
    checkpoint: entry.checkpoint,
    steps: [...entry.steps.values()],
    inputs: [...entry.questions].map(([key, { method, paramsText, answerText }]) => ({
      key,
      method,
      params: objectOf(paramsText),
      answer: answerText === null ? null : objectOf(answerText),
    })),
    staged: entry.staged,
    reusable,
    journalState: entry.journal?.entry.state ?? null,
  };
}

/** The result of the newest identical read that had nothing to ask; one whose files changed meanwhile has no source revision. */
function earlierRead(shelf: Shelf, { request: { contentAddress } }: Entry, at: number): StagedResult | null {
  if (contentAddress === null) return null;
  const finished = [...shelf.entries.values()].findLast(
    (entry) =>
      entry.phase === "completed" &&
      entry.request.contentAddress === contentAddress &&
      entry.staged?.sourceRevision != null &&
      entry.questions.size === 0 &&
      !hasExpired(entry, at),
  );
  return finished?.staged ?? null;
}

/** Throws for an ending that the journal contradicts: a fault of the worker, whose lease then runs out (see `Settlement`). */
function refuseContradiction(entry: Entry, settlement: Settlement): void {
  if (mayEnd(entry, settlement)) return;
  const state = entry.journal?.entry.state ?? "absent";
  throw new AppError("internal", `task ${entry.request.id} cannot end as ${settlement.kind}: its journal stands at ${state}`);
}

function mayEnd(entry: Entry, settlement: Settlement): boolean {
  switch (settlement.kind) {
    case "completed":
    case "published":
      return !isWriting(entry) && !isUnresolved(entry);
    case "cancelled":
    case "suspended":
      return !isBound(entry) && !isUnresolved(entry);
    case "failed":
      return settlement.retry || (!isBound(entry) && (!isUnresolved(entry) || settlement.code === "write_unresolved"));
    case "interrupted":
      return true;
  }
}

function settleHeld(
  entry: Entry,
  settlement: Settlement,
  { at, newReference }: { at: number; newReference: () => string },
): SettlementAnswer {
  switch (settlement.kind) {
    case "completed":
      return finish(entry, "complete", { at, outcome: { kind: "result", text: JSON.stringify(settlement.result) } });
    case "published":
      if (entry.staged === null) throw new AppError("internal", `task ${entry.request.id} cannot be published: nothing is staged`);
      return finish(entry, "complete", { at, outcome: { kind: "result", text: entry.staged.text }, staged: entry.staged });
    case "cancelled":
      return finish(entry, "stop", { at });
    case "interrupted":
      return judge(entry, { kind: "interrupted", at, code: "internal", reference: newReference() });
    case "suspended":
      return entry.cancelRequested ? finish(entry, "stop", { at }) : park(entry, settlement.requests, at);
    case "failed": {
      const { code, reference, retry } = settlement;
      return retry
        ? judge(entry, { kind: "died", at, code, reference })
        : finish(entry, "fail", { at, outcome: { kind: "error", code, reference } });
    }
  }
}

/** A key stands for one question as long as the task lives. */
function park(entry: Entry, requests: InputRequests, at: number): "parked" {
  const used = Object.keys(requests).find((key) => entry.questions.has(key));
  if (used !== undefined)
    throw new AppError("operation_output_invalid", `task ${entry.request.id} asked under a key that was used before: ${used}`);
  for (const [key, { method, params }] of Object.entries(requests))
    entry.questions.set(key, { method, paramsText: JSON.stringify(params), answerText: null });
  entry.checkpointVersion += 1;
  return leave(entry, "suspend", at);
}
