import { randomUUID } from "node:crypto";
import type {
  AttemptLedger,
  AttemptRef,
  ClaimedAttempt,
  OperationRegistry,
  SettlementAnswer,
  TaskId,
  Telemetry,
  WorkerId,
  WorkerReach,
} from "@holdfast/core";
import type { Logger } from "pino";
import type { OperationJob } from "../sandbox/child-conversation.ts";
import type { OperationOutcome, OperationRun, Sandbox } from "../sandbox/sandbox.ts";
import type { HeldLease, LeaseKeeper } from "./lease-keeper.ts";
import { settleAttempt } from "./settle-attempt.ts";
import { settlementOf } from "./settlement-of.ts";
import { pause } from "@holdfast/process";

/** What an attempt needs of its worker. */
export interface AttemptServices {
  readonly workerId: WorkerId;
  readonly leaseMs: number;
  readonly reach: WorkerReach;
  readonly operations: OperationRegistry;
  /** Folders by the name of their root. */
  readonly roots: ReadonlyMap<string, string>;
  readonly ledger: AttemptLedger;
  readonly leases: LeaseKeeper;
  readonly sandbox: Sandbox;
  readonly storeArtifact: (attempt: AttemptRef, file: ArtifactFile) => ReturnType<OperationJob["storeArtifact"]>;
  /** Hints that a task has changed, after the change is durable. */
  readonly publish: (taskId: TaskId) => void;
  /** Aborted when a drain can wait no longer: attempts have `interruptionGraceMs` to end. */
  readonly interruption: AbortSignal;
  readonly interruptionGraceMs: number;
  readonly telemetry: Telemetry;
  readonly logger: Logger;
}

type ArtifactFile = Parameters<OperationJob["storeArtifact"]>[0];

/**
 * Claims a task, runs its operation and settles the attempt. Returns when the slot is free again, whatever happened to the
 * operation; rejects only when the claim failed, and then nothing is held.
 */
export async function runAttempt(taskId: TaskId, worker: AttemptServices): Promise<void> {
  const startedAt = performance.now();
  const attempt = await worker.ledger.claim({ taskId, workerId: worker.workerId, leaseMs: worker.leaseMs, reach: worker.reach });
  // The wake was a hint: somebody else has the task, or it is over.
  if (attempt === null) return;
  const { token, operation } = attempt;
  worker.telemetry.emit("attempt.claimed", { taskId, token, operation });
  using held = hold(attempt, startedAt, worker);
  const outcome = await execute(held, worker);
  const answer = await settle(attempt, outcome, worker);
  worker.telemetry.emit("attempt.settled", {
    taskId,
    token,
    operation,
    outcome: answer,
    durationMs: Math.round(performance.now() - startedAt),
  });
}

/** A claimed attempt under a lease that is renewed until it is disposed of. */
interface HeldAttempt extends Disposable {
  readonly attempt: ClaimedAttempt;
  readonly lease: HeldLease;
  /** What a cancellation aborts and the loss of the lease kills. */
  run: OperationRun | null;
}

function hold(attempt: ClaimedAttempt, sentAt: number, { leases }: AttemptServices): HeldAttempt {
  const lease = leases.hold(attempt, {
    sentAt,
    onCancelRequested: () => held.run?.abort("cancelled"),
    onLost: (reason) => held.run?.kill(reason),
  });
  const held: HeldAttempt = { attempt, lease, run: null, [Symbol.dispose]: lease.release };
  return held;
}

async function execute(held: HeldAttempt, worker: AttemptServices): Promise<OperationOutcome> {
  const { attempt, lease } = held;
  const operation = worker.operations.get(attempt.operation);
  const root = worker.roots.get(attempt.workspace.root);
  if (operation?.version !== attempt.operationVersion || root === undefined) return decline(attempt, operation?.version, worker);
  const run = worker.sandbox.run({
    operation,
    input: attempt.input,
    workspace: { id: attempt.workspace.id, root, path: attempt.workspace.path },
    onProgress: (progress) => lease.report(progress),
    storeArtifact: (file) => worker.storeArtifact(attempt, file),
  });
  held.run = run;
  // The claim may have been answered so late that the lease ended before anything began.
  if (lease.isLost) run.kill("its lease was over before it began");
  return untilInterrupted(run, worker);
}

async function untilInterrupted(run: OperationRun, { interruption, interruptionGraceMs }: AttemptServices): Promise<OperationOutcome> {
  const interrupt = () => run.abort("drain", interruptionGraceMs);
  interruption.addEventListener("abort", interrupt, { once: true });
  if (interruption.aborted) interrupt();
  try {
    return await run.outcome;
  } finally {
    interruption.removeEventListener("abort", interrupt);
  }
}

const DECLINE_AFTER_MS = 1_000;

/**
 * A task of another version than ours. A newer one belongs to a worker of the deploy that is under way, and is handed on at
 * no cost; an older one may never find its worker again, and spends its budget until it fails with that reason. Both wait a
 * moment first, or the workers that cannot run it would toss it around as fast as they can.
 */
async function decline(attempt: ClaimedAttempt, ours: number | undefined, worker: AttemptServices): Promise<OperationOutcome> {
  await pause(Math.min(DECLINE_AFTER_MS, worker.leaseMs / 3), worker.interruption);
  const detail = `the task wants version ${attempt.operationVersion} of ${attempt.operation}, this worker has ${ours ?? "none"}`;
  const isNewer = ours === undefined || attempt.operationVersion > ours;
  return { kind: isNewer ? "unavailable" : "unknown", detail, output: "" };
}

/** `lost`: the attempt is no longer ours. `unsettled`: the store could not be told, and the lease will expire. */
async function settle(
  attempt: ClaimedAttempt,
  outcome: OperationOutcome,
  worker: AttemptServices,
): Promise<SettlementAnswer | "lost" | "unsettled"> {
  const { taskId, token, operation } = attempt;
  const logger = worker.logger.child({ taskId, token, operation });
  const reference = randomUUID();
  const settlement = settlementOf(outcome, reference);
  if (settlement === null) return "lost";
  if (settlement.kind === "failed") logger.warn({ code: settlement.code, reference, detail: settlement.detail }, "the operation failed");
  else if (outcome.output !== "") logger.debug({ output: outcome.output }, "the operation wrote to its standard output");
  try {
    const onRetry = (error: unknown) => logger.warn({ err: error }, "the attempt could not be settled, trying again");
    const answer = await settleAttempt({ ledger: worker.ledger, attempt, settlement, reference, onRetry });
    if (answer !== "refused") worker.publish(taskId);
    return answer;
  } catch (error) {
    logger.error({ err: error, reference }, "the attempt could not be settled, its lease will expire");
    return "unsettled";
  }
}
