import type { ClaimedAttempt } from "../attempt-ledger.ts";
import type { StoredReceipt } from "../receipt.ts";
import type { CreateOutcome, CreateTask } from "../task.ts";
import { hasExpired, isLive, taskOf, type Entry } from "./entry.ts";
import type { Shelf } from "./shelf.ts";

export interface CreationOptions {
  readonly now: () => number;
  readonly maxTtlMs: number;
  readonly pollIntervalMs: number;
}

/** Creates the task unless its key or its address stands for one already. */
export function createTask(shelf: Shelf, options: CreationOptions, request: CreateTask): CreateOutcome {
  const workspace = shelf.placeFor(request);
  if (workspace === null) return { kind: "denied" };
  const name = receiptName(request, workspace);
  const receipt = name === null ? undefined : shelf.receipts.get(name);
  if (receipt !== undefined) return repeat(shelf, options, request, receipt);
  const twin = identicalRead(shelf, request);
  if (twin !== null) {
    join(twin, request);
    return { kind: "joined", task: taskOf(twin) };
  }
  const entry = newEntry(options, request, workspace);
  shelf.add(entry);
  if (name !== null && request.receipt !== null) {
    const { inputSha256, seal } = request.receipt;
    const { name: operation, version: operationVersion } = request.operation;
    shelf.receipts.set(name, { taskId: request.id, operation, operationVersion, inputSha256, seal });
  }
  return { kind: "created", task: taskOf(entry) };
}

/** A key counts for a principal in a workspace, and there in the place that the workspace had (contract 4.2). */
function receiptName({ principal, receipt }: CreateTask, workspace: ClaimedAttempt["workspace"]): string | null {
  if (receipt === null) return null;
  return JSON.stringify([principal.issuer, principal.subject, workspace.id, workspace.root, workspace.path, receipt.key]);
}

/** The task that the key stands for. If its time had passed it is shown again, for the time that is asked for now (contract 4.5, 4.6). */
function repeat(shelf: Shelf, { now, maxTtlMs }: CreationOptions, request: CreateTask, receipt: StoredReceipt): CreateOutcome {
  const { operation } = request;
  const isSame =
    receipt.operation === operation.name &&
    receipt.operationVersion === operation.version &&
    receipt.inputSha256 === request.receipt?.inputSha256;
  const entry = shelf.entries.get(receipt.taskId);
  if (!isSame || entry === undefined) return { kind: "conflict" };
  if (hasExpired(entry, now())) entry.ttlMs = now() - entry.createdAt + Math.min(request.ttlMs, maxTtlMs);
  join(entry, request);
  return { kind: "repeated", task: taskOf(entry), receipt };
}

/** One that is open and that nobody wished to cancel (contract 4.8). A key stands for a task of its own. */
function identicalRead(shelf: Shelf, { contentAddress, receipt }: CreateTask): Entry | null {
  if (contentAddress === null || receipt !== null) return null;
  const isIdentical = (entry: Entry): boolean =>
    isLive(entry) && !entry.cancelRequested && entry.request.receipt === null && entry.request.contentAddress === contentAddress;
  return [...shelf.entries.values()].find(isIdentical) ?? null;
}

/** One more who waits for it: its caller's going away does not cancel it for the others (contract 8.5). */
function join(entry: Entry, { waiter }: CreateTask): void {
  if (waiter === "client") entry.hasHandle = true;
  else entry.callers += 1;
}

function newEntry({ now, maxTtlMs, pollIntervalMs }: CreationOptions, request: CreateTask, workspace: Entry["workspace"]): Entry {
  return {
    request: { ...request, pollIntervalMs },
    workspace,
    inputText: JSON.stringify(request.input),
    createdAt: now(),
    ttlMs: Math.min(request.ttlMs, maxTtlMs),
    phase: "queued",
    lastUpdatedAt: now(),
    token: 0,
    workerId: null,
    leaseExpiresAt: 0,
    cancelRequested: false,
    hasHandle: request.waiter === "client",
    callers: request.waiter === "call" ? 1 : 0,
    budgetSpent: 0,
    checkpointVersion: 0,
    retriedVersion: 0,
    progress: null,
    checkpoint: null,
    steps: new Map(),
    questions: new Map(
      request.answers.map(({ key, method, answer }) => [key, { method, paramsText: "{}", answerText: JSON.stringify(answer) }]),
    ),
    staged: null,
    journal: null,
    outcome: null,
  };
}
