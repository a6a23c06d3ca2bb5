import type { ClaimedAttempt, Operation, StagedResult } from "@holdfast/core";
import { pause } from "@holdfast/process";
import { createWriteTransaction, type WriteRest, type WriteTransaction } from "../journal/write-transaction.ts";
import type { OperationOutcome, OperationRun } from "../sandbox/sandbox.ts";
import type { WorkspacePlace } from "../workspace/inside.ts";
import { sourceRevision } from "../workspace/source-revision.ts";
import type { AttemptServices } from "./attempt-services.ts";
import { createAttemptSeals, type AttemptSeals } from "./left-behind.ts";
import type { HeldLease } from "./lease-keeper.ts";
import { isTransient, retryWhileUnavailable } from "./retry-while-unavailable.ts";
import type { AttemptEnd } from "./settlement-of.ts";

/** A claimed attempt under a lease that is renewed until it is disposed of. */
export interface HeldAttempt extends Disposable {
  readonly attempt: ClaimedAttempt;
  readonly lease: HeldLease;
  /** Aborted when a client wants it cancelled. */
  readonly cancelled: AbortSignal;
  /** Aborted, with the reason, when the attempt is no longer ours. */
  readonly lost: AbortSignal;
  /** Aborted when it has to stop, for whichever reason. */
  readonly stopping: AbortSignal;
}

/** What is under way in an attempt, in the words of its steps. */
interface Conduct {
  readonly held: HeldAttempt;
  readonly worker: AttemptServices;
  readonly seals: AttemptSeals;
  readonly place: WorkspacePlace;
  /** Null for an operation that only reads. */
  readonly write: WriteTransaction | null;
}

/**
 * Finds out how an attempt ends. What earlier attempts have finished but not told is only told; a write that they have begun is brought
 * to an end before anything else; and the operation is run when nothing else is left to do. Never rejects.
 */
export async function conductAttempt(held: HeldAttempt, worker: AttemptServices): Promise<AttemptEnd> {
  const { attempt } = held;
  const root = worker.roots.get(attempt.workspace.root);
  if (root === undefined) return await decline(attempt, worker);
  const place = { root, path: attempt.workspace.path };
  const seals = createAttemptSeals(attempt, worker.seals, worker.telemetry);
  const conduct: Conduct = { held, worker, seals, place, write: attempt.effect === "write" ? beginWrite(held, worker, root) : null };

  const recovered = await recoverWrite(conduct);
  if (recovered !== null) return recovered;
  if (seals.believeResult(attempt.staged) !== null) return published(conduct, "staged");
  const discarded = attempt.staged === null ? null : await discardStaged(conduct);
  if (discarded !== null) return discarded;
  const operation = worker.operations.get(attempt.operation);
  if (operation?.version !== attempt.operationVersion) return await decline(attempt, worker, operation?.version);
  const revision = await sourceRevision(place);
  const reused = await reuse(conduct, revision);
  if (reused !== null) return reused;
  const outcome = await runOperation(conduct, operation, revision);
  if (conduct.write !== null) return endOf(await conduct.write.rest(), outcome);
  return outcome.kind === "result" ? await stage(conduct, { outcome, operation, revision }) : outcome;
}

function beginWrite(held: HeldAttempt, worker: AttemptServices, root: string): WriteTransaction {
  const { attempt, lease, stopping, cancelled } = held;
  return createWriteTransaction({
    attempt,
    root,
    stopping,
    cancelled,
    journal: worker.journal,
    seals: worker.seals,
    telemetry: worker.telemetry,
    isLeaseLost: () => lease.isLost,
    onRetry: warnOf(held, worker, "the journal could not be reached, trying again"),
  });
}

/** Null when there was nothing to recover, or it was undone, so that the operation may run. */
async function recoverWrite({ held, write, worker }: Conduct): Promise<AttemptEnd | null> {
  if (write === null) return null;
  try {
    await write.recover();
  } catch (error) {
    warnOf(held, worker, "the plan of an earlier attempt stays open")(error);
  }
  const rest = await write.rest();
  if (rest.kind !== "none") return endOf(rest, NOTHING_RUN);
  return held.cancelled.aborted ? NOTHING_RUN : null;
}

const NOTHING_RUN: OperationOutcome = { kind: "stopped", by: "cancelled", output: "" };

/** What the journal says goes before what became of the process that had asked for it (contract 8.4). */
function endOf(rest: WriteRest, outcome: OperationOutcome): AttemptEnd {
  const { output } = outcome;
  switch (rest.kind) {
    case "none":
      return outcome;
    case "committed":
      return { kind: "result", result: rest.result, artifacts: rest.artifacts, output };
    case "postponed":
      return { kind: "unavailable", detail: rest.detail, output };
    case "unresolved":
    case "denied":
      return { kind: rest.kind, detail: rest.detail, output };
    case "open":
      return { kind: "storage", error: rest.error, output };
    case "lost":
      return { kind: "stopped", by: "lost", output };
  }
}

function published({ held: { attempt }, worker }: Conduct, from: "staged" | "reusable"): AttemptEnd {
  const { taskId, token, operation } = attempt;
  worker.telemetry.emit("result.published", { taskId, token, operation, from });
  return { kind: "published", output: "" };
}

/** A result that we did not seal would have the task tried without end. Null when it is gone. */
async function discardStaged({ held, worker }: Conduct): Promise<AttemptEnd | null> {
  const onRetry = warnOf(held, worker, "a staged result could not be discarded, trying again");
  try {
    const answer = await retryWhileUnavailable(() => worker.ledger.unstage(held.attempt), { onRetry });
    return answer === "kept" ? null : { kind: "stopped", by: "lost", output: "" };
  } catch (error) {
    return { kind: "storage", error, output: "" };
  }
}

/** The result of an identical read before, when the files are those that it was made from. Null when it has to be made. */
async function reuse(conduct: Conduct, revision: string): Promise<AttemptEnd | null> {
  const { seals, held } = conduct;
  const reusable = seals.believeResult(held.attempt.reusable);
  if (reusable?.sourceRevision !== revision) return null;
  const end = await keepResult(conduct, reusable);
  // An artifact of it may be gone meanwhile.
  if (end.kind === "invalid") return null;
  return end.kind === "published" ? published(conduct, "reusable") : end;
}

/** Keeps the exact result before it is told, so that whatever happens to this worker, nobody has to make it again (contract 6.1). */
async function stage(
  conduct: Conduct,
  made: { readonly outcome: Extract<OperationOutcome, { kind: "result" }>; readonly operation: Operation; readonly revision: string },
): Promise<AttemptEnd> {
  const { outcome, operation, revision } = made;
  // Others may have it when all of it was made from the same files.
  const isShared = operation.contentAddressed && (await sourceRevision(conduct.place)) === revision;
  const { result, artifacts, output } = outcome;
  const end = await keepResult(conduct, { text: JSON.stringify(result), sourceRevision: isShared ? revision : null, artifacts });
  return { ...end, output };
}

async function keepResult(
  { held, worker, seals }: Conduct,
  result: Pick<StagedResult, "text" | "sourceRevision" | "artifacts">,
): Promise<AttemptEnd> {
  const onRetry = warnOf(held, worker, "a result could not be staged, trying again");
  try {
    const answer = await retryWhileUnavailable(() => worker.ledger.stage(held.attempt, seals.sealResult(result)), { onRetry });
    return answer === "kept" ? { kind: "published", output: "" } : { kind: "stopped", by: "lost", output: "" };
  } catch (error) {
    if (isTransient(error)) return { kind: "storage", error, output: "" };
    return { kind: "invalid", detail: error instanceof Error ? error.message : String(error), output: "" };
  }
}

async function runOperation(conduct: Conduct, operation: Operation, revision: string): Promise<OperationOutcome> {
  const { held, worker, seals, place, write } = conduct;
  const { attempt, lease, lost, cancelled } = held;
  const onRetry = warnOf(held, worker, "what an operation keeps could not be stored, trying again");
  const run = worker.sandbox.run({
    operation,
    input: attempt.input,
    workspace: { id: attempt.workspace.id, ...place, revision },
    left: seals.believe(revision),
    onProgress: (progress) => lease.report(progress),
    storeArtifact: (file) => worker.storeArtifact(attempt, file),
    saveCheckpoint: (text) =>
      retryWhileUnavailable(() => worker.ledger.saveCheckpoint(attempt, seals.sealCheckpoint(text, revision)), { onRetry }),
    saveStep: (key, text) => retryWhileUnavailable(() => worker.ledger.saveStep(attempt, seals.sealStep(key, text, revision)), { onRetry }),
    transact: (plan) => write?.transact(plan) ?? Promise.resolve({ kind: "rejected", message: "the task only reads" }),
  });
  // Each of them may have happened before there was anything to stop.
  using _cancel = whenAborted(cancelled, () => run.abort("cancelled"));
  using _lose = whenAborted(lost, () => run.kill(String(lost.reason)));
  return await untilInterrupted(run, worker);
}

async function untilInterrupted(run: OperationRun, { interruption, interruptionGraceMs }: AttemptServices): Promise<OperationOutcome> {
  using _interrupt = whenAborted(interruption, () => run.abort("drain", interruptionGraceMs));
  return await run.outcome;
}

/** Calls once, at once when the signal was aborted already, until it is disposed of. */
function whenAborted(signal: AbortSignal, call: () => void): Disposable {
  signal.addEventListener("abort", call, { once: true });
  if (signal.aborted) call();
  return { [Symbol.dispose]: () => signal.removeEventListener("abort", call) };
}

const DECLINE_AFTER_MS = 1_000;

/**
 * A task of another version than ours. A newer one belongs to a worker of the deploy that is under way, and is handed on at
 * no cost; an older one may never find its worker again, and spends its budget until it fails with that reason. Both wait a
 * moment first, or the workers that cannot run it would toss it around as fast as they can.
 */
async function decline(attempt: ClaimedAttempt, worker: AttemptServices, ours?: number): Promise<OperationOutcome> {
  await pause(Math.min(DECLINE_AFTER_MS, worker.leaseMs / 3), worker.interruption);
  const detail = `the task wants version ${attempt.operationVersion} of ${attempt.operation}, this worker has ${ours ?? "none"}`;
  const isNewer = ours === undefined || attempt.operationVersion > ours;
  return { kind: isNewer ? "unavailable" : "unknown", detail, output: "" };
}

function warnOf({ attempt }: HeldAttempt, { logger }: AttemptServices, message: string): (error: unknown) => void {
  const { taskId, token } = attempt;
  return (error) => logger.warn({ err: error, taskId, token }, message);
}
