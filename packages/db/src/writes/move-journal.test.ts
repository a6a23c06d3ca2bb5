import { JOURNAL_STATES, type AttemptRef, type JournalState, type WriteJournal } from "@holdfast/core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { writePlan, writing } from "../testing/attempt-records.ts";
import { openBench, type Bench } from "../testing/bench.ts";
import { createPostgresWriteJournal } from "../write-journal.ts";

let bench: Bench;
let journal: WriteJournal;
beforeAll(async () => {
  bench = await openBench();
  journal = createPostgresWriteJournal(bench.database);
});
beforeEach(async () => {
  await bench.sql("update holdfast.journal_entry set state = 'restored'");
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

const open: readonly JournalState[] = ["planned", "applying", "rolling_back"];
const mayFollow: Record<JournalState, readonly JournalState[]> = {
  planned: JOURNAL_STATES,
  applying: JOURNAL_STATES,
  rolling_back: JOURNAL_STATES,
  committed: ["committed", "unresolved"],
  restored: ["restored"],
  unresolved: ["unresolved"],
};
const cells = JOURNAL_STATES.flatMap((from) => JOURNAL_STATES.map((to) => ({ from, to, allowed: mayFollow[from].includes(to) })));

describe("a journal", () => {
  test.each(cells)("that is $from moves to $to: $allowed", async ({ from, to, allowed }) => {
    const attempt = await successorOf(await journaled(from));
    expect(await journal.move(attempt, { from: [from], to })).toBe(allowed ? "moved" : "refused");
    expect(await journal.read(attempt)).toMatchObject({ state: allowed ? to : from });
  });

  test("does not move from where it does not stand", async () => {
    const attempt = await journaled("planned");
    expect(await journal.move(attempt, { from: ["applying", "rolling_back"], to: "committed" })).toBe("refused");
    expect(await journal.move(attempt, { from: [], to: "applying" })).toBe("refused");
    expect(await journal.read(attempt)).toMatchObject({ state: "planned" });
  });

  test("has moved already when the attempt repeats itself, and not when another attempt did it", async () => {
    const attempt = await journaled("applying");
    const commit = { from: ["applying"], to: "committed" } as const;
    expect([await journal.move(attempt, commit), await journal.move(attempt, commit)]).toEqual(["moved", "moved"]);
    const next = await successorOf(attempt);
    expect(await journal.move(next, commit)).toBe("refused");
  });

  test("counts each attempt that takes it up, once, however often it asks", async () => {
    let attempt = await journaled("applying");
    expect(await journal.move(attempt, { from: open, to: "applying", recovered: true })).toBe("moved");
    expect(await journal.read(attempt)).toMatchObject({ recoveries: 0 });
    for (const recoveries of [1, 2, 3]) {
      attempt = await successorOf(attempt);
      for (let asked = 0; asked < 2; asked += 1) {
        expect(await journal.move(attempt, { from: ["applying"], to: "applying", recovered: true })).toBe("moved");
        expect(await journal.read(attempt)).toMatchObject({ recoveries });
      }
    }
  });

  test("is not begun for an owner who may no longer write, and may be undone", async () => {
    const attempt = await successorOf(await journaled("planned"));
    await bench.sql("update holdfast.access_grant set actions = array['read', 'run']");
    expect(await journal.move(attempt, { from: ["planned"], to: "planned", recovered: true })).toBe("moved");
    expect(await journal.move(attempt, { from: ["planned", "applying"], to: "applying" })).toBe("denied");
    expect(await journal.read(attempt)).toMatchObject({ state: "planned" });
    expect(await journal.move(attempt, { from: ["planned"], to: "restored" })).toBe("moved");
    await bench.sql("update holdfast.access_grant set actions = array['read', 'run', 'write']");
  });

  test("comes to its end once it was begun, whatever its owner may", async () => {
    const attempt = await successorOf(await journaled("applying"));
    await bench.sql("update holdfast.access_grant set actions = array['read', 'run']");
    expect(await journal.move(attempt, { from: ["planned", "applying"], to: "applying" })).toBe("moved");
    expect(await journal.move(attempt, { from: ["applying"], to: "committed" })).toBe("moved");
    await bench.sql("update holdfast.access_grant set actions = array['read', 'run', 'write']");
  });

  test("keeps what operators must know, losslessly, and each change of state once", async () => {
    const attempt = await journaled("planned");
    await journal.move(attempt, { from: ["planned"], to: "applying" });
    await journal.move(attempt, { from: ["applying"], to: "applying" });
    await journal.move(attempt, { from: ["applying"], to: "unresolved", detail: "a\u0000 \ud800" });
    const [row] = await bench.sql<{ detail: string }>("select detail::text as detail from holdfast.journal_entry where task_id = $1", [
      attempt.taskId,
    ]);
    expect(JSON.parse(row?.detail ?? "")).toBe("a\u0000 \ud800");
    expect(
      await bench.sql(
        "select kind, fencing_token as token from holdfast.task_event where task_id = $1 and kind like 'journal.%' order by id",
        [attempt.taskId],
      ),
    ).toEqual(["planned", "applying", "unresolved"].map((state) => ({ kind: `journal.${state}`, token: attempt.token })));
  });
});

test("an attempt that is replaced while it asks whether it may still write is told no", async () => {
  const attempt = await journaled("applying");
  const holder = await bench.session();
  await holder.query("begin");
  await holder.query("update holdfast.live_task set worker_id = null, lease_expires_at = null where task_id = $1", [attempt.taskId]);
  const asking = journal.move(attempt, { from: ["applying"], to: "applying" });
  await bench.whenBlocked(1);
  await holder.query("commit");
  expect(await asking).toBe("refused");
});

test("of two attempts that decide at once, the second finds what the first has decided", async () => {
  const attempt = await journaled("applying");
  const holder = await bench.session();
  await holder.query("begin");
  await holder.query("select from holdfast.live_task where task_id = $1 for update", [attempt.taskId]);
  const commit = journal.move(attempt, { from: ["applying"], to: "committed" });
  await bench.whenBlocked(1);
  const restore = journal.move(attempt, { from: ["applying"], to: "rolling_back" });
  await bench.whenBlocked(2);
  await holder.query("commit");
  expect(await Promise.all([commit, restore])).toEqual(["moved", "refused"]);
  expect(await journal.read(attempt)).toMatchObject({ state: "committed" });
});

async function journaled(state: JournalState): Promise<AttemptRef> {
  const attempt = await bench.claim((await bench.createTask(writing)).id);
  expect(await journal.bind(attempt, writePlan())).toBe("bound");
  expect(await journal.move(attempt, { from: ["planned"], to: state })).toBe("moved");
  return attempt;
}

/** The next attempt, as if the one before had lost its lease. */
async function successorOf({ taskId }: AttemptRef): Promise<AttemptRef> {
  await bench.sql("update holdfast.live_task set worker_id = null, lease_expires_at = null where task_id = $1", [taskId]);
  return await bench.claim(taskId);
}
