import type { ClaimedAttempt } from "../attempt-ledger.ts";
import type { SealedStep, SealedValue, StagedResult } from "../checkpoint.ts";
import type { InputMethod, InputRequests } from "../input.ts";
import type { WorkerId } from "../../ids.ts";
import type { JsonObject } from "../../json.ts";
import type { CreateTask, Task, TaskOutcome, TaskProgress } from "../task.ts";
import { STATUS_OF_PHASE, TRANSITIONS, type TaskEvent, type TaskPhase } from "../transitions.ts";
import { OPEN_JOURNAL_STATES, type JournalEntry, type JournalState } from "../write-journal.ts";

/** All that the in-memory store knows of one task. */
export interface Entry {
  readonly request: CreateTask;
  readonly workspace: ClaimedAttempt["workspace"];
  readonly inputText: string;
  readonly createdAt: number;
  /** Counted from the creation; a renewal of the receipt's visibility lengthens it. */
  ttlMs: number;
  phase: TaskPhase;
  lastUpdatedAt: number;
  token: number;
  workerId: WorkerId | null;
  leaseExpiresAt: number;
  cancelRequested: boolean;
  hasHandle: boolean;
  callers: number;
  budgetSpent: number;
  /** Grows with everything an attempt leaves for the next one. */
  checkpointVersion: number;
  /** The version with which an attempt was last replaced after it died. */
  retriedVersion: number;
  progress: TaskProgress | null;
  checkpoint: SealedValue | null;
  readonly steps: Map<string, SealedStep>;
  readonly questions: Map<string, Question>;
  /** Not published while the task is open; afterwards, what an identical read may have. */
  staged: StagedResult | null;
  journal: Journal | null;
  outcome: StoredOutcome | null;
}

export interface Journal {
  readonly entry: JournalEntry;
  /** Of the attempt that bound or moved it last. */
  readonly token: number;
}

/** With its values as JSON text, so that what is found is never an object that somebody still holds. */
export interface Question {
  readonly method: InputMethod;
  readonly paramsText: string;
  answerText: string | null;
}

export type StoredOutcome = { readonly kind: "result"; readonly text: string } | Extract<TaskOutcome, { kind: "error" }>;

/** Moves the task along the table; false when the table refuses. */
export function transit(entry: Entry, event: TaskEvent): boolean {
  const next = TRANSITIONS[entry.phase][event];
  if (next === "refused") return false;
  entry.phase = next;
  return true;
}

export function isLive({ phase }: Entry): boolean {
  return phase === "queued" || phase === "running" || phase === "parked";
}

export function hasExpired(entry: Entry, at: number): boolean {
  return !isLive(entry) && expiresAt(entry) <= at;
}

export function expiresAt({ createdAt, ttlMs }: Entry): number {
  return createdAt + ttlMs;
}

/** Whether files may be half changed; until they are not, nothing else of ours writes below their root (contract 7.2). */
export function isWriting(entry: Entry): boolean {
  return standsIn(entry, OPEN_JOURNAL_STATES);
}

/** Whether the plan is under way or has been carried out: then it has to be told, and nobody can cancel it any more (contract 8.4). */
export function isBound(entry: Entry): boolean {
  return isWriting(entry) || standsIn(entry, ["committed"]);
}

export function isUnresolved(entry: Entry): boolean {
  return standsIn(entry, ["unresolved"]);
}

function standsIn({ journal }: Entry, states: readonly JournalState[]): boolean {
  return journal !== null && states.includes(journal.entry.state);
}

export function openQuestions({ questions }: Entry): readonly (readonly [key: string, question: Question])[] {
  return [...questions].filter(([, { answerText }]) => answerText === null);
}

/** As its owner sees it. */
export function taskOf(entry: Entry): Task {
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
    attempt: entry.workerId === null ? null : entry.token,
    inputRequests: entry.phase === "parked" ? requestsOf(entry) : {},
    createdAt: new Date(entry.createdAt),
    lastUpdatedAt: new Date(entry.lastUpdatedAt),
    ttlMs: entry.ttlMs,
    pollIntervalMs: request.pollIntervalMs,
    outcome: entry.outcome?.kind === "result" ? { kind: "result", result: JSON.parse(entry.outcome.text) } : entry.outcome,
  };
}

function requestsOf(entry: Entry): InputRequests {
  return Object.fromEntries(openQuestions(entry).map(([key, { method, paramsText }]) => [key, { method, params: objectOf(paramsText) }]));
}

/** Back from a text that was made of an object. */
export function objectOf(text: string): JsonObject {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- we made the text ourselves, of such an object
  return JSON.parse(text) as JsonObject;
}
