import { randomUUID } from "node:crypto";
import type { ClaimedAttempt, SettlementAnswer, TaskId } from "@holdfast/core";
import type { AttemptServices } from "./attempt-services.ts";
import { conductAttempt, type HeldAttempt } from "./conduct-attempt.ts";
import { settleAttempt } from "./settle-attempt.ts";
import { settlementOf, type AttemptEnd } from "./settlement-of.ts";

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
  const end = await conductAttempt(held, worker);
  const answer = await settle(attempt, end, worker);
  worker.telemetry.emit("attempt.settled", {
    taskId,
    token,
    operation,
    outcome: answer,
    durationMs: Math.round(performance.now() - startedAt),
  });
}

function hold(attempt: ClaimedAttempt, sentAt: number, { leases, interruption }: AttemptServices): HeldAttempt {
  const cancelled = new AbortController();
  const lost = new AbortController();
  const lease = leases.hold(attempt, { sentAt, onCancelRequested: () => cancelled.abort(), onLost: (reason) => lost.abort(reason) });
  if (attempt.cancelRequested) cancelled.abort();
  return {
    attempt,
    lease,
    cancelled: cancelled.signal,
    lost: lost.signal,
    stopping: AbortSignal.any([cancelled.signal, lost.signal, interruption]),
    [Symbol.dispose]: lease.release,
  };
}

/** `lost`: the attempt is no longer ours. `unsettled`: the store could not be told, and the lease will expire. */
async function settle(attempt: ClaimedAttempt, end: AttemptEnd, worker: AttemptServices): Promise<SettlementAnswer | "lost" | "unsettled"> {
  const { taskId, token, operation } = attempt;
  const logger = worker.logger.child({ taskId, token, operation });
  const reference = randomUUID();
  const settlement = settlementOf(end, reference);
  if (settlement === null) return "lost";
  if (settlement.kind === "failed") logger.warn({ code: settlement.code, reference, detail: settlement.detail }, "the operation failed");
  else if (end.output !== "") logger.debug({ output: end.output }, "the operation wrote to its standard output");
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
