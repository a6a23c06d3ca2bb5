import type { InputMethod, InputRequests, SealedValue, Settlement, StagedResult, StoredArtifact } from "@holdfast/core";
import fc from "fast-check";
import { GIVEN } from "./comparison.ts";

/** Few values each, so that a sequence meets the same one again; texts are anything. */

export const methods = fc.constantFrom<InputMethod>("elicitation/create", "sampling/createMessage", "roots/list");
export const questionKeys = fc.constantFrom("q1", "q2", "q3", "q4", "q5", "q6");

/** With NULs and halves of surrogate pairs, which workers may well send. */
export function anyText(): fc.Arbitrary<string> {
  return fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)), maxLength: 5 });
}

export function progress() {
  // JSON has one zero.
  const amount = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
  return fc.record({ value: amount, total: fc.option(amount), message: fc.option(anyText()) });
}

export function sealedValue(): fc.Arbitrary<SealedValue> {
  return fc.record({
    text: fc.constantFrom("1", "2", '{ "a" : "\\u0000" }'),
    sourceRevision: fc.constantFrom("r1", "r1", "r2", null),
    seal: fc.constantFrom("s1", "s2"),
  });
}

export function stagedResult(artifact: StoredArtifact): fc.Arbitrary<Omit<StagedResult, "taskId">> {
  return fc.record({
    text: anyText().map((text) => `{ "content": [${JSON.stringify({ type: "text", text })}] }`),
    sourceRevision: fc.constantFrom("r1", "r1", "r2", null),
    seal: fc.constantFrom("s1", "s2"),
    artifacts: fc.constantFrom([], [artifact]),
  });
}

export function settlement(artifact: StoredArtifact): fc.Arbitrary<Settlement> {
  const completed = fc.record({ text: anyText(), artifacts: fc.constantFrom([], [artifact]) }).map(({ text, artifacts }): Settlement => ({
    kind: "completed",
    result: { content: [{ type: "text", text }] },
    artifacts,
  }));
  const failed = fc.record({
    kind: fc.constant("failed" as const),
    code: fc.constantFrom("operation_crashed" as const, "operation_failed" as const, "write_unresolved" as const),
    reference: fc.constant(GIVEN),
    detail: anyText(),
    retry: fc.constantFrom(true, true, true, true, false),
  });
  const interrupted = fc.record({ kind: fc.constant("interrupted" as const), detail: anyText() });
  const suspended = fc.record({ kind: fc.constant("suspended" as const), requests: questions() });
  return fc.oneof(
    { weight: 1, arbitrary: completed },
    { weight: 1, arbitrary: fc.constant<Settlement>({ kind: "published" }) },
    { weight: 5, arbitrary: failed },
    { weight: 3, arbitrary: interrupted },
    { weight: 4, arbitrary: suspended },
    { weight: 1, arbitrary: fc.constant<Settlement>({ kind: "cancelled" }) },
  );
}

function questions(): fc.Arbitrary<InputRequests> {
  const request = fc.record({ method: methods, params: fc.record({ message: anyText() }) });
  return fc.array(fc.tuple(questionKeys, request), { maxLength: 3 }).map((entries) => Object.fromEntries(entries));
}
