import { AppError } from "@holdfast/core";
import { expect, test } from "vitest";
import type { OperationOutcome } from "../sandbox/sandbox.ts";
import { settlementOf } from "./settlement-of.ts";

const REFERENCE = "0190b8a0-0000-4000-8000-000000000001";

test.each<[string, OperationOutcome, object]>([
  [
    "a result completes",
    { kind: "result", result: { content: [] }, artifacts: [{ sha256: "ab", name: "a" }], output: "" },
    { kind: "completed", result: { content: [] }, artifacts: [{ sha256: "ab", name: "a" }] },
  ],
  [
    "what the handler throws is final",
    { kind: "threw", error: { name: "TypeError", message: "boo", stack: null }, output: "" },
    { kind: "failed", code: "operation_failed", reference: REFERENCE, detail: "TypeError: boo", retry: false },
  ],
  ["an invalid result is final", { kind: "invalid", detail: "no", output: "" }, { code: "operation_output_invalid", retry: false }],
  ["a crash may be retried", { kind: "crashed", detail: "SIGSEGV", output: "" }, { code: "operation_crashed", retry: true }],
  ["an unknown version may be retried", { kind: "unknown", detail: "v1", output: "" }, { code: "operation_unknown", retry: true }],
  ["the time limit is final", { kind: "stopped", by: "timeout", output: "" }, { code: "operation_timed_out", retry: false }],
  ["a write without its grant is final", { kind: "denied", detail: "no", output: "" }, { code: "workspace_not_found", retry: false }],
  ["cancelled is cancelled", { kind: "stopped", by: "cancelled", output: "" }, { kind: "cancelled" }],
  ["a drain interrupts", { kind: "stopped", by: "drain", output: "" }, { kind: "interrupted" }],
  ["without a child nothing was tried", { kind: "unavailable", detail: "EAGAIN", output: "" }, { kind: "interrupted" }],
  [
    "a store out of reach may be retried",
    { kind: "storage", error: new Error("down"), output: "" },
    { code: "storage_unavailable", retry: true },
  ],
  [
    "an artifact that the store refuses is final",
    { kind: "storage", error: new AppError("operation_output_invalid", "bad type"), output: "" },
    { code: "operation_output_invalid", retry: false },
  ],
])("%s", (_, outcome, settlement) => {
  expect(settlementOf(outcome, REFERENCE)).toMatchObject(settlement);
});

test("an attempt that was lost is not ours to settle", () => {
  expect(settlementOf({ kind: "stopped", by: "lost", output: "" }, REFERENCE)).toBeNull();
});

test("operators find the end of what the process printed with the reason of a failure", () => {
  const settlement = settlementOf({ kind: "crashed", detail: "was ended by SIGABRT", output: "FATAL ERROR: heap\n" }, REFERENCE);
  expect(settlement).toMatchObject({ detail: "was ended by SIGABRT\n--- output ---\nFATAL ERROR: heap" });
});
