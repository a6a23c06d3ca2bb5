import { AppError, taskIdSchema, workerIdSchema, type Settlement, type SettlementAnswer } from "@holdfast/core";
import { expect, test } from "vitest";
import { settleAttempt } from "./settle-attempt.ts";

const completed: Settlement = { kind: "completed", result: { content: [] }, artifacts: [] };
const away = new AppError("storage_unavailable", "connection lost");

/** Settles with a store that fails as the test says, and answers what it was asked. */
async function settleWith(settlement: Settlement, answers: readonly (SettlementAnswer | Error)[]) {
  const asked: Settlement[] = [];
  const retries: unknown[] = [];
  const answer = await settleAttempt({
    ledger: {
      settle(_, offered) {
        const next = answers[Math.min(asked.length, answers.length - 1)];
        asked.push(offered);
        return next instanceof Error ? Promise.reject(next) : Promise.resolve(next ?? "refused");
      },
    },
    attempt: {
      taskId: taskIdSchema.parse("0190b8a0-0000-7000-8000-000000000001"),
      workerId: workerIdSchema.parse("0190b8a0-0000-4000-8000-00000000000a"),
      token: 1,
    },
    settlement,
    reference: "0190b8a0-0000-4000-8000-000000000002",
    onRetry: (error) => void retries.push(error),
    firstDelayMs: 1,
  }).catch((error: unknown) => error);
  return { answer, asked, retries };
}

test("a store that is away for a moment is tried again", async () => {
  const { answer, retries } = await settleWith(completed, [away, new AppError("overloaded", "too many"), "completed"]);
  expect(answer).toBe("completed");
  expect(retries).toHaveLength(2);
});

test("the tries are bounded", async () => {
  const { answer, asked } = await settleWith(completed, [away]);
  expect(answer).toBe(away);
  expect(asked).toHaveLength(8);
});

test("a result that the store rejects becomes a failure instead of being offered for ever", async () => {
  const { answer, asked } = await settleWith(completed, [new AppError("internal", "value out of range"), "failed"]);
  expect(answer).toBe("failed");
  expect(asked).toMatchObject([{ kind: "completed" }, { kind: "failed", code: "operation_output_invalid", retry: false }]);
});

test("a fault in anything but a result is not repeated", async () => {
  const { answer, asked } = await settleWith({ kind: "cancelled" }, [new AppError("internal", "no such column")]);
  expect(answer).toBeInstanceOf(AppError);
  expect(asked).toHaveLength(1);
});
