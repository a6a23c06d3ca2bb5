import type { AttemptLedger, AttemptRef, Renewal, RenewalAnswer, TaskId, TaskProgress, Telemetry } from "@holdfast/core";
import { createCoalescer } from "./coalescer.ts";

/** Keeps the leases of all attempts of a worker, with one heartbeat for all of them. */
export interface LeaseKeeper {
  start(): void;
  /** From now on the attempt is renewed. `sentAt` is the monotonic time at which its claim was sent, before it was answered. */
  hold(attempt: AttemptRef, options: HoldOptions): HeldLease;
  /** Something about these tasks has changed, perhaps a client wants them cancelled: asks now instead of at the next heartbeat. */
  lookAt(taskIds: readonly TaskId[] | "all"): void;
  /** Ends the heartbeats; leases that are still held are left to expire. */
  stop(): void;
}

export interface HoldOptions {
  readonly sentAt: number;
  /** Called once, when a heartbeat brings the news. */
  onCancelRequested(): void;
  /** Called once: nothing may be done for the attempt any more, and its process must end now. */
  onLost(reason: string): void;
}

export interface HeldLease {
  readonly isLost: boolean;
  /** Travels with the next heartbeat, which comes early for it. */
  report(progress: TaskProgress): void;
  /** Ends the renewals. */
  release(): void;
}

export interface LeaseKeeperOptions {
  readonly ledger: Pick<AttemptLedger, "renew">;
  readonly leaseMs: number;
  /** Told after progress of a task was stored. */
  readonly publish: (taskId: TaskId) => void;
  readonly telemetry: Telemetry;
  /** Told of renewals that failed; the next ones follow anyway. */
  readonly onError: (error: unknown) => void;
}

interface Holding extends HoldOptions {
  readonly attempt: AttemptRef;
  trustedUntil: number;
  trustTimer: NodeJS.Timeout | null;
  isLost: boolean;
  isCancelled: boolean;
  progress: TaskProgress | null;
  /** The last report that was stored. */
  stored: TaskProgress | null;
}

/** How often progress is stored for those who watch, and how soon a hint is followed, at most. */
const PROGRESS_EVERY_MS = 500;
const HINTS_EVERY_MS = 50;
/** A renewal that hangs must not keep the next one from being tried over another connection. */
const MAX_IN_FLIGHT = 2;

/**
 * Trust in a lease ends before the lease does. It runs from when the last successful renewal was *sent*: the database granted
 * the lease later than that, so by our monotonic clock we stop first, whatever clock the database has and however late its
 * answer came. The margin is for the kill itself.
 */
export function createLeaseKeeper(options: LeaseKeeperOptions): LeaseKeeper {
  const { ledger, leaseMs, publish, telemetry, onError } = options;
  const trustMs = leaseMs - Math.max(50, leaseMs / 10);
  const holdings = new Set<Holding>();
  const progressFlush = createCoalescer<Holding>({ everyMs: PROGRESS_EVERY_MS, run: renew });
  const hintFlush = createCoalescer<Holding>({ everyMs: HINTS_EVERY_MS, run: renew });
  let heartbeat: NodeJS.Timeout | null = null;
  let inFlight = 0;

  function renew(wanted: Iterable<Holding>): void {
    const batch = [...wanted].filter((holding) => holdings.has(holding)).map(takeRenewal);
    if (batch.length === 0) return;
    inFlight += 1;
    const sentAt = performance.now();
    ledger
      .renew(
        batch.map(({ renewal }) => renewal),
        leaseMs,
      )
      .then((answers) => {
        for (const [index, { holding, renewal }] of batch.entries()) take(holding, { renewal, answer: answers[index], sentAt });
      })
      .catch(onError)
      .finally(() => (inFlight -= 1));
  }

  function take(holding: Holding, news: { renewal: Renewal; answer: RenewalAnswer | undefined; sentAt: number }): void {
    const { renewal, answer, sentAt } = news;
    // Released, or lost, while the renewal was on its way.
    if (!holdings.has(holding) || answer === undefined) return;
    switch (answer.kind) {
      // Somebody holds the row at the moment: no news, and the trust window does not move.
      case "busy":
        return;
      case "refused":
        telemetry.emit("lease.refused", { taskId: holding.attempt.taskId, token: holding.attempt.token });
        return lose(holding, "its lease was refused");
      case "renewed": {
        trust(holding, Math.max(holding.trustedUntil, sentAt + trustMs));
        if (renewal.progress !== null) {
          holding.stored = renewal.progress;
          publish(holding.attempt.taskId);
        }
        if (answer.cancelRequested && !holding.isCancelled) {
          holding.isCancelled = true;
          holding.onCancelRequested();
        }
      }
    }
  }

  function trust(holding: Holding, until: number): void {
    holding.trustedUntil = until;
    if (holding.trustTimer !== null) clearTimeout(holding.trustTimer);
    holding.trustTimer = setTimeout(
      () => {
        telemetry.emit("lease.untrusted", { taskId: holding.attempt.taskId, token: holding.attempt.token });
        lose(holding, "its lease could not be renewed in time");
      },
      Math.max(0, until - performance.now()),
    );
  }

  function lose(holding: Holding, reason: string): void {
    release(holding);
    holding.isLost = true;
    holding.onLost(reason);
  }

  function release(holding: Holding): void {
    holdings.delete(holding);
    if (holding.trustTimer !== null) clearTimeout(holding.trustTimer);
  }

  return {
    start() {
      heartbeat ??= setInterval(() => {
        if (inFlight < MAX_IN_FLIGHT) renew(holdings);
      }, leaseMs / 3);
    },
    hold(attempt, { sentAt, ...callbacks }) {
      const holding: Holding = {
        ...callbacks,
        sentAt,
        attempt,
        trustedUntil: sentAt,
        trustTimer: null,
        isLost: false,
        isCancelled: false,
        progress: null,
        stored: null,
      };
      holdings.add(holding);
      trust(holding, sentAt + trustMs);
      return {
        get isLost() {
          return holding.isLost;
        },
        report(progress) {
          holding.progress = progress;
          progressFlush.add(holding);
        },
        release: () => release(holding),
      };
    },
    lookAt(taskIds) {
      const named = taskIds === "all" ? null : new Set(taskIds);
      for (const holding of holdings) if (named === null || named.has(holding.attempt.taskId)) hintFlush.add(holding);
    },
    stop() {
      if (heartbeat !== null) clearInterval(heartbeat);
      progressFlush.stop();
      hintFlush.stop();
      for (const holding of holdings) release(holding);
    },
  };
}

/** Progress that a failed renewal carried goes with the next one, unless there is newer. */
function takeRenewal(holding: Holding): { holding: Holding; renewal: Renewal } {
  const isNew = holding.progress !== holding.stored;
  return { holding, renewal: { attempt: holding.attempt, progress: isNew ? holding.progress : null } };
}
