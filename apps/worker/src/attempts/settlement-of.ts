import { AppError, type ErrorCode, type Settlement } from "@holdfast/core";
import type { ErrorData } from "../sandbox/frames.ts";
import type { OperationOutcome } from "../sandbox/sandbox.ts";

/** How an attempt ended; `published`: its result is stored already. */
export type AttemptEnd = OperationOutcome | { readonly kind: "published"; readonly output: string };

/**
 * What the store is told of an outcome; null when the attempt is no longer ours to end. `reference` is what a client can
 * quote and an operator can find. Whether the same again may help decides `retry`: an operation that throws, answers
 * nonsense or takes too long will do so again, a process that ended may have been unlucky.
 */
export function settlementOf(outcome: AttemptEnd, reference: string): Settlement | null {
  const fail = (code: ErrorCode, detail: string, retry: boolean): Settlement => ({
    kind: "failed",
    code,
    reference,
    detail: withOutput(detail, outcome.output),
    retry,
  });
  switch (outcome.kind) {
    case "result":
      return { kind: "completed", result: outcome.result, artifacts: outcome.artifacts };
    case "published":
      return { kind: "published" };
    case "suspended":
      return { kind: "suspended", requests: outcome.requests };
    case "denied":
      return fail("workspace_not_found", outcome.detail, false);
    case "unresolved":
      return fail("write_unresolved", outcome.detail, false);
    case "threw":
      return fail("operation_failed", describeError(outcome.error), false);
    case "invalid":
      return fail("operation_output_invalid", outcome.detail, false);
    case "unknown":
      return fail("operation_unknown", outcome.detail, true);
    case "crashed":
      return fail("operation_crashed", outcome.detail, true);
    case "storage":
      return storageFailure(outcome.error, fail);
    // Not the operation's fault, and not worth an attempt.
    case "unavailable":
      return { kind: "interrupted", detail: outcome.detail };
    case "stopped":
      return stopped(outcome.by, fail);
  }
}

type Fail = (code: ErrorCode, detail: string, retry: boolean) => Settlement;

function stopped(by: Extract<AttemptEnd, { kind: "stopped" }>["by"], fail: Fail): Settlement | null {
  switch (by) {
    case "cancelled":
      return { kind: "cancelled" };
    case "drain":
      return { kind: "interrupted", detail: "the worker was draining" };
    case "timeout":
      return fail("operation_timed_out", "the operation exceeded its time limit", false);
    case "lost":
      return null;
  }
}

/** The store refuses what it is given for what it says, or could not be reached. */
function storageFailure(error: unknown, fail: Fail): Settlement {
  const detail = `what the attempt made could not be stored: ${error instanceof Error ? error.message : String(error)}`;
  if (error instanceof AppError && error.code === "operation_output_invalid") return fail("operation_output_invalid", detail, false);
  return fail("storage_unavailable", detail, true);
}

function describeError({ name, message, stack }: ErrorData): string {
  return stack ?? `${name}: ${message}`;
}

const DETAIL_LENGTH = 16_000;

function withOutput(detail: string, output: string): string {
  const whole = output.trim() === "" ? detail : `${detail}\n--- output ---\n${output.trim()}`;
  return whole.slice(0, DETAIL_LENGTH);
}
