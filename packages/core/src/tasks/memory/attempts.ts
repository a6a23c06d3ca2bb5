import type { TaskId } from "../../ids.ts";
import type {
  AttemptLedger,
  AttemptRef,
  ClaimedAttempt,
  ClaimRequest,
  Renewal,
  RenewalAnswer,
  Settlement,
  SettlementAnswer,
} from "../attempt-ledger.ts";
import type { KeepAnswer, StagedResult } from "../checkpoint.ts";
import type { InputRequests } from "../input.ts";
import { hasExpired, objectOf, transit, type Entry } from "./entry.ts";
import type { Shelf } from "./shelf.ts";
import { finish, judge } from "./verdict.ts";

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
    const entry = shelf.held(attempt);
    return entry === null ? "refused" : settleHeld(entry, settlement, now());
  };

  const reap = (limit: number): readonly TaskId[] => {
    const dead = [...shelf.entries.values()]
      .filter((entry) => entry.workerId !== null && entry.leaseExpiresAt < now())
      .toSorted((a, b) => a.leaseExpiresAt - b.leaseExpiresAt || (a.request.id < b.request.id ? -1 : 1))
      .slice(0, limit);
    for (const entry of dead) judge(entry, { kind: "died", at: now(), failure: { code: "worker_lost", reference: newReference() } });
    return dead.map(({ request }) => request.id);
  };

  /** Whatever is kept brings the task further than the attempt before this one had come. */
  const keep = (attempt: AttemptRef, change: (entry: Entry) => void): KeepAnswer => {
    const entry = shelf.held(attempt);
    if (entry === null) return "refused";
    change(entry);
    entry.checkpointVersion += 1;
    return "kept";
  };

  return {
    claim: async (request) => claim(request),
    renew: async (renewals, leaseMs) => renewals.map((renewal) => renew(renewal, leaseMs)),
    settle: async (attempt, settlement) => settle(attempt, settlement),
    saveCheckpoint: async (attempt, value) => keep(attempt, (entry) => (entry.checkpoint = { ...value })),
    saveStep: async (attempt, step) => keep(attempt, (entry) => entry.steps.set(step.key, { ...step })),
    stage: async (attempt, result) =>
      keep(attempt, (entry) => (entry.staged = { ...result, artifacts: [...result.artifacts], taskId: attempt.taskId })),
    reap: async (limit) => reap(limit),
  };
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
    journalState: entry.journal?.state ?? null,
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

function settleHeld(entry: Entry, settlement: Settlement, at: number): SettlementAnswer {
  switch (settlement.kind) {
    case "completed":
      return finish(entry, "complete", { at, outcome: { kind: "result", text: JSON.stringify(settlement.result) } });
    case "published":
      if (entry.staged === null) return "refused";
      return finish(entry, "complete", { at, outcome: { kind: "result", text: entry.staged.text }, staged: entry.staged });
    case "cancelled":
      return finish(entry, "stop", { at });
    case "interrupted":
      return judge(entry, { kind: "interrupted", at, failure: { code: "internal", reference: "" } });
    case "suspended":
      return suspend(entry, settlement.requests, at);
    case "failed": {
      const { code, reference, retry } = settlement;
      if (retry) return judge(entry, { kind: "died", at, failure: { code, reference } });
      return finish(entry, "fail", { at, outcome: { kind: "error", code, reference } });
    }
  }
}

function suspend(entry: Entry, requests: InputRequests, at: number): SettlementAnswer {
  const answer = judge(entry, { kind: "suspended", at, failure: { code: "internal", reference: "" } });
  if (answer !== "parked") return answer;
  for (const [key, { method, params }] of Object.entries(requests))
    entry.questions.set(key, { method, paramsText: JSON.stringify(params), answerText: null });
  entry.checkpointVersion += 1;
  return answer;
}
