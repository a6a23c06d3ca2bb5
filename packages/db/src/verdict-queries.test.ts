import { randomUUID } from "node:crypto";
import {
  MAX_REPLACEMENTS,
  OPEN_JOURNAL_STATES,
  type AttemptRef,
  type ClaimedAttempt,
  type ErrorCode,
  type JournalState,
  type TaskId,
  type WriteJournal,
} from "@holdfast/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sealedValue, stagedResult, writePlan, writing } from "./testing/attempt-records.ts";
import { alice, openBench, type Bench } from "./testing/bench.ts";
import { createPostgresWriteJournal } from "./write-journal.ts";
import { rewake } from "./writes/rewake-tasks.ts";

let bench: Bench;
let journal: WriteJournal;
beforeAll(async () => {
  bench = await openBench();
  journal = createPostgresWriteJournal(bench.database);
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

interface Death {
  readonly of: string;
  readonly reason: ErrorCode;
  die(attempt: AttemptRef): Promise<void>;
}

const deaths: readonly Death[] = [
  {
    of: "an attempt whose lease runs out",
    reason: "worker_lost",
    async die(attempt) {
      await bench.sql("update holdfast.live_task set lease_expires_at = now() - interval '1 second' where task_id = $1", [attempt.taskId]);
      expect(await bench.ledger.reap(10)).toEqual([attempt.taskId]);
    },
  },
  {
    of: "an attempt whose failure asks for a retry",
    reason: "operation_crashed",
    async die(attempt) {
      const reference = randomUUID();
      const answer = await bench.ledger.settle(attempt, { kind: "failed", code: "operation_crashed", reference, detail: "", retry: true });
      expect(answer).not.toBe("refused");
    },
  },
];

describe.each(deaths)("after the death of $of", ({ reason, die }) => {
  test("a write that has begun is taken up before anything that waits longer", async () => {
    const ids = [(await bench.createTask(writing)).id, (await bench.createTask(writing)).id] as const;
    const begun = await bench.claim(ids[1]);
    expect(await journal.bind(begun, writePlan())).toBe("bound");
    await die(begun);
    const inTurn = () =>
      bench.sql("select key as id from graphile_worker.jobs where key = any($1) order by priority, run_at, id", [[...ids]]);
    const expected = [{ id: ids[1] }, { id: ids[0] }];
    expect(await inTurn()).toEqual(expected);
    // Also when its job was lost.
    await bench.sql("delete from graphile_worker._private_jobs where key = any($1)", [[...ids]]);
    await bench.sql("update holdfast.live_task set wake_at = now() where task_id = any($1)", [[...ids]]);
    expect(await rewake(bench.database, { limit: 10, afterMs: 30_000 })).toHaveLength(2);
    expect(await inTurn()).toEqual(expected);
    await bench.sql("update holdfast.journal_entry set state = 'restored'");
  });

  test("the same checkpoint is not tried twice", async () => {
    const { id } = await bench.createTask();
    const first = await bench.claim(id);
    await bench.ledger.saveCheckpoint(first, sealedValue(1));
    await die(first);
    expect(await statusOf(id)).toBe("working");
    await die(await bench.claim(id));
    expect(await errorOf(id)).toBe("checkpoint_stuck");
  });

  test("a checkpoint that was saved again without a change is the same one", async () => {
    const { id } = await bench.createTask();
    for (const outcome of ["working", "failed"]) {
      const attempt = await bench.claim(id);
      await bench.ledger.saveCheckpoint(attempt, sealedValue("here"));
      await bench.ledger.saveStep(attempt, { ...sealedValue("there"), key: "parse" });
      await die(attempt);
      expect(await statusOf(id)).toBe(outcome);
    }
    expect(await errorOf(id)).toBe("checkpoint_stuck");
  });

  const advances: readonly [string, (attempt: AttemptRef, round: number) => Promise<unknown>][] = [
    ["checkpoint", (attempt, round) => bench.ledger.saveCheckpoint(attempt, sealedValue(round))],
    [
      "checkpoint of other files",
      (attempt, round) => bench.ledger.saveCheckpoint(attempt, sealedValue(0, { sourceRevision: `r${round}` })),
    ],
    ["step", (attempt, round) => bench.ledger.saveStep(attempt, { ...sealedValue(0), key: `step ${round}` })],
    ["value of a step", (attempt, round) => bench.ledger.saveStep(attempt, { ...sealedValue(round), key: "step" })],
  ];
  test.each(advances)("a new %s each time lets the budget decide", async (_, advance) => {
    const { id } = await bench.createTask();
    for (const [round, outcome] of ["working", "working", "failed"].entries()) {
      const attempt = await bench.claim(id);
      await advance(attempt, round);
      await die(attempt);
      expect(await statusOf(id)).toBe(outcome);
    }
    expect(await errorOf(id)).toBe(reason);
  });

  test("an interruption at the same checkpoint does not count as a try", async () => {
    const { id } = await bench.createTask();
    const first = await bench.claim(id);
    await bench.ledger.saveCheckpoint(first, sealedValue(1));
    await bench.ledger.settle(first, { kind: "interrupted", detail: "drain" });
    await bench.ledger.settle(await bench.claim(id), { kind: "interrupted", detail: "drain" });
    await die(await bench.claim(id));
    expect(await statusOf(id)).toBe("working");
  });

  test("a staged result waits for whoever publishes it, whatever the budget, and costs none of it", async () => {
    const { id } = await bench.createTask();
    for (let round = 0; round < MAX_REPLACEMENTS; round += 1) await die(await bench.claim(id));
    const first = await bench.claim(id);
    await bench.ledger.stage(first, stagedResult({ content: [] }));
    await die(first);
    for (let round = 0; round < 3; round += 1) await die(await bench.claim(id));
    expect(await spentOf(id)).toBe(MAX_REPLACEMENTS);
    const attempt = await bench.claim(id);
    expect(attempt.staged).toEqual({ taskId: id, ...stagedResult({ content: [] }) });
    expect(await bench.ledger.settle(attempt, { kind: "published" })).toBe("completed");
  });

  test("a staged result goes with the task that was to be cancelled", async () => {
    const { id } = await bench.createTask();
    const attempt = await bench.claim(id);
    await bench.ledger.stage(attempt, stagedResult({ content: [] }));
    await bench.manager.requestCancellation({ id, principal: alice });
    await die(attempt);
    expect(await statusOf(id)).toBe("cancelled");
    expect(await bench.sql("select from holdfast.task_result where task_id = $1", [id])).toEqual([]);
  });

  test.each([...OPEN_JOURNAL_STATES, "committed"] as const)(
    "a write that is %s is taken up again, whatever the budget, at no cost, and a wish to cancel is kept for it",
    async (state) => {
      const { id } = await bench.createTask(writing);
      for (let round = 0; round < MAX_REPLACEMENTS; round += 1) await die(await bench.claim(id));
      await die(await journaled(state, id));
      for (let round = 0; round < 3; round += 1) await die(await bench.claim(id));
      expect(await spentOf(id)).toBe(MAX_REPLACEMENTS);
      const running = await bench.claim(id);
      await bench.manager.requestCancellation({ id, principal: alice });
      await die(running);
      const last = await bench.claim(id);
      expect(last).toMatchObject({ journalState: state, cancelRequested: true });
      expect(await journal.move(last, { from: [state], to: "unresolved" })).toBe("moved");
    },
  );

  test("a write that was restored is judged like any other task", async () => {
    const attempt = await journaled("restored");
    await bench.manager.requestCancellation({ id: attempt.taskId, principal: alice });
    await die(attempt);
    expect(await statusOf(attempt.taskId)).toBe("cancelled");
  });

  test("an unresolved write fails as such, also when it was to be cancelled", async () => {
    const attempt = await journaled("unresolved");
    await bench.manager.requestCancellation({ id: attempt.taskId, principal: alice });
    await die(attempt);
    expect(await errorOf(attempt.taskId)).toBe("write_unresolved");
  });
});

test.each(["committed", "restored", "unresolved"] as const)(
  "the bytes of a journal that is %s stay only for who must look at them",
  async (state) => {
    const attempt = await journaled(state);
    await bench.ledger.settle(
      attempt,
      state === "unresolved"
        ? { kind: "failed", code: "write_unresolved", reference: randomUUID(), detail: "", retry: false }
        : { kind: "completed", result: { content: [] }, artifacts: [] },
    );
    const files = await bench.sql(
      "select convert_from(before_bytes, 'UTF8') as before, convert_from(after_bytes, 'UTF8') as after from holdfast.journal_file where task_id = $1",
      [attempt.taskId],
    );
    expect(files).toEqual([state === "unresolved" ? { before: "old", after: "new" } : { before: null, after: null }]);
  },
);

test("a settlement that waited for a bind of its own attempt sees the plan", async () => {
  const { id } = await bench.createTask(writing);
  const attempt = await bench.claim(id);
  await bench.sql("update holdfast.journal_entry set state = 'restored'");
  // The bind stands still in its middle, with the task's lock; its worker has given the answer up.
  await bench.sql(`
    create function public.wait_for_settlement() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock(1); return new; end $$;
    create trigger wait before insert on holdfast.journal_file for each row execute function public.wait_for_settlement()`);
  const holder = await bench.session();
  await holder.query("select pg_advisory_lock(1)");
  const binding = journal.bind(attempt, writePlan());
  await bench.whenBlocked(1);
  const settling = bench.ledger
    .settle(attempt, { kind: "failed", code: "operation_failed", reference: randomUUID(), detail: "", retry: false })
    .catch((error: unknown) => error);
  await bench.whenBlocked(2);
  await holder.query("select pg_advisory_unlock(1)");
  expect(await binding).toBe("bound");
  expect(await settling).toMatchObject({ code: "internal" });
  expect(await statusOf(id)).toBe("working");
  await bench.sql("drop function public.wait_for_settlement cascade");
});

/** A running attempt whose plan stands there. */
async function journaled(state: JournalState, id?: TaskId): Promise<ClaimedAttempt> {
  const attempt = await bench.claim(id ?? (await bench.createTask(writing)).id);
  expect(await journal.bind(attempt, writePlan())).toBe("bound");
  expect(await journal.move(attempt, { from: ["planned"], to: state })).toBe("moved");
  return attempt;
}

async function spentOf(id: TaskId) {
  const [row] = await bench.sql<{ budget_spent: number }>("select budget_spent from holdfast.live_task where task_id = $1", [id]);
  return row?.budget_spent;
}

async function statusOf(id: TaskId) {
  return (await bench.manager.find({ id, principal: alice }))?.status;
}

async function errorOf(id: TaskId) {
  const task = await bench.manager.find({ id, principal: alice });
  expect(task?.status).toBe("failed");
  return task?.outcome?.kind === "error" ? task.outcome.code : null;
}
