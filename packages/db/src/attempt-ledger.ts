import type { AttemptLedger } from "@holdfast/core";
import type { Database } from "./pool.ts";
import { claimAttempt } from "./writes/claim-attempt.ts";
import { reapLeases } from "./writes/reap-leases.ts";
import { renewLeases } from "./writes/renew-leases.ts";
import { saveCheckpoint } from "./writes/save-checkpoint.ts";
import { saveStep } from "./writes/save-step.ts";
import { settleAttempt } from "./writes/settle-attempt.ts";
import { stageResult } from "./writes/stage-result.ts";
import { unstageResult } from "./writes/unstage-result.ts";

/** The worker's side of the store. Renewals and settlements use the reserved connections. */
export function createPostgresAttemptLedger(database: Database): AttemptLedger {
  return {
    claim: (request) => claimAttempt(database, request),
    renew: (renewals, leaseMs) => renewLeases(database, renewals, leaseMs),
    settle: (attempt, settlement) => settleAttempt(database, attempt, settlement),
    saveCheckpoint: (attempt, value) => saveCheckpoint(database, attempt, value),
    saveStep: (attempt, step) => saveStep(database, attempt, step),
    stage: (attempt, result) => stageResult(database, attempt, result),
    unstage: (attempt) => unstageResult(database, attempt),
    reap: (limit) => reapLeases(database, limit),
  };
}
