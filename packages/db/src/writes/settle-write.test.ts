import { randomUUID } from "node:crypto";
import {
  JOURNAL_STATES,
  type ErrorCode,
  type JournalState,
  type Settlement,
  type SettlementAnswer,
  type WriteJournal,
} from "@holdfast/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stagedResult, writePlan, writing } from "../testing/attempt-records.ts";
import { openBench, type Bench } from "../testing/bench.ts";
import { createPostgresWriteJournal } from "../write-journal.ts";

let bench: Bench;
let journal: WriteJournal;
beforeAll(async () => {
  bench = await openBench();
  journal = createPostgresWriteJournal(bench.database);
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

const failed = (code: ErrorCode): Settlement => ({ kind: "failed", code, reference: randomUUID(), detail: "", retry: false });
const endings = {
  completed: { kind: "completed", result: { content: [] }, artifacts: [] },
  published: { kind: "published" },
  failed: failed("operation_failed"),
  "failed as unresolved": failed("write_unresolved"),
  cancelled: { kind: "cancelled" },
  suspended: { kind: "suspended", requests: { roots: { method: "roots/list", params: {} } } },
  interrupted: { kind: "interrupted", detail: "drain" },
} as const satisfies Record<string, Settlement>;

type Ending = keyof typeof endings;
/** What each ending comes to; the others contradict the journal. */
const allowed: Record<JournalState, Partial<Record<Ending, SettlementAnswer>>> = {
  planned: { interrupted: "requeued" },
  applying: { interrupted: "requeued" },
  rolling_back: { interrupted: "requeued" },
  committed: { completed: "completed", published: "completed", interrupted: "requeued" },
  restored: {
    completed: "completed",
    published: "completed",
    failed: "failed",
    "failed as unresolved": "failed",
    cancelled: "cancelled",
    suspended: "parked",
    interrupted: "requeued",
  },
  unresolved: { "failed as unresolved": "failed", interrupted: "failed" },
};
const cells = JOURNAL_STATES.flatMap((state) =>
  (Object.keys(endings) as Ending[]).map((ending) => ({ state, ending, answer: allowed[state][ending] })),
);

describe("a write whose journal is", () => {
  test.each(cells.filter(({ answer }) => answer !== undefined))("$state ends as $ending: $answer", async ({ state, ending, answer }) => {
    expect(await bench.ledger.settle(await journaled(state), endings[ending])).toBe(answer);
  });

  test.each(cells.filter(({ answer }) => answer === undefined))("$state cannot end as $ending, and goes on", async ({ state, ending }) => {
    const attempt = await journaled(state);
    const error: unknown = await bench.ledger.settle(attempt, endings[ending]).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: "internal" });
    expect(String(error)).toContain(state);
    expect(await bench.ledger.renew([{ attempt, progress: null }], 60_000)).toEqual([{ kind: "renewed", cancelRequested: false }]);
    expect(await bench.sql("select state from holdfast.attempt where task_id = $1", [attempt.taskId])).toEqual([{ state: "running" }]);
  });
});

test("nothing staged is nothing to publish", async () => {
  const attempt = await bench.claim((await bench.createTask()).id);
  await expect(bench.ledger.settle(attempt, { kind: "published" })).rejects.toMatchObject({ code: "internal" });
  expect(await bench.ledger.settle(attempt, endings.completed)).toBe("completed");
});

/** A running attempt with a staged result, whose plan stands there. */
async function journaled(state: JournalState) {
  // Room below the root.
  await bench.sql("update holdfast.journal_entry set state = 'restored'");
  const attempt = await bench.claim((await bench.createTask(writing)).id);
  await journal.bind(attempt, writePlan());
  expect(await journal.move(attempt, { from: ["planned"], to: state })).toBe("moved");
  await bench.ledger.stage(attempt, stagedResult({ content: [] }));
  return attempt;
}
