import { randomUUID } from "node:crypto";
import {
  JOURNAL_STATES,
  type AttemptRef,
  type ClaimedAttempt,
  type Effect,
  type JournalPlan,
  type Settlement,
  type TaskId,
  type ToolResult,
  type WriteJournal,
} from "@holdfast/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { alice, newWorkerId, openBench, reach, type Bench } from "../testing/bench.ts";
import { createPostgresWriteJournal } from "../write-journal.ts";
import { storeArtifact } from "./store-artifact.ts";

let bench: Bench;
let journal: WriteJournal;
beforeAll(async () => {
  bench = await openBench();
  journal = createPostgresWriteJournal(bench.database);
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

const result: ToolResult = { content: [{ type: "text", text: "done" }] };
const completed: Settlement = { kind: "completed", result, artifacts: [] };
const failed = (retry: boolean): Settlement => ({
  kind: "failed",
  code: "operation_crashed",
  reference: randomUUID(),
  detail: "exit code 134",
  retry,
});
const interrupted: Settlement = { kind: "interrupted", detail: "SIGTERM" };
const cancelled: Settlement = { kind: "cancelled" };

describe("a result", () => {
  const awkward: Record<string, ToolResult> = {
    "NUL and half surrogate pairs": { content: [{ type: "text", text: "a\u0000b \ud83e c \udd8a d 🦊" }] },
    "the same as keys": { content: [], structuredContent: { "\u0000": { "\ud800": ["\udfff"] } } },
    "the text of an escape": { content: [{ type: "text", text: String.raw`\u0000 \\u0000 \ud800` }] },
    "keys in an order of its own, and numbers at the edge": {
      content: [],
      structuredContent: { b: 1, a: 2, "10": 3, "9": 4, n: [0.1 + 0.2, 5e-324, 1.7976931348623157e308, 2 ** 53] },
    },
    "a key that JavaScript treats specially": { content: [], structuredContent: { ["__proto__"]: { polluted: true } } },
    "no key twice, but white space": { content: [{ type: "text", text: ' { "a" : 1 }\n\t\u2028' }], isError: true },
    "a megabyte": { content: [{ type: "text", text: "ä🦊".repeat(180_000) }] },
  };

  test.each(Object.entries(awkward))("with %s is stored and found byte for byte", async (_, stored) => {
    const attempt = await running();
    expect(await bench.ledger.settle(attempt, { kind: "completed", result: stored, artifacts: [] })).toBe("completed");
    const [row] = await bench.sql<{ text: string }>("select result::text as text from holdfast.task_result where task_id = $1", [
      attempt.taskId,
    ]);
    expect(row?.text).toBe(JSON.stringify(stored));
    const task = await found(attempt.taskId);
    expect(task?.outcome).toEqual({ kind: "result", result: stored });
    expect(JSON.stringify(task?.outcome)).toBe(JSON.stringify({ kind: "result", result: stored }));
  });

  test("ends the task once: one status, one terminal event, no mutex row, an attempt that succeeded", async () => {
    const attempt = await running();
    expect(await bench.ledger.settle(attempt, completed)).toBe("completed");
    expect(await found(attempt.taskId)).toMatchObject({ status: "completed", progress: null, cancelRequested: false });
    expect(await traces(attempt.taskId)).toEqual({ live: 0, attempts: ["succeeded"], terminal: ["task.completed"] });
  });

  test("wins over a cancellation that came while it was made", async () => {
    const attempt = await running();
    await bench.manager.requestCancellation({ id: attempt.taskId, principal: alice });
    expect(await bench.ledger.settle(attempt, completed)).toBe("completed");
    expect(await found(attempt.taskId)).toMatchObject({ status: "completed", outcome: { kind: "result", result } });
  });
});

describe("artifacts of a result", () => {
  test("are linked to the task, also when another task stored them, and when one is named twice", async () => {
    const attempt = await running();
    const file = { bytes: Buffer.from("{}"), name: "graph.json", mimeType: "application/json" };
    await storeArtifact(bench.database, await running(), file);
    const artifact = { sha256: "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a", name: "graph.json" };
    expect(await bench.ledger.settle(attempt, { kind: "completed", result, artifacts: [artifact, artifact] })).toBe("completed");
    const links = await bench.sql("select name, encode(sha256, 'hex') as sha256 from holdfast.task_artifact where task_id = $1", [
      attempt.taskId,
    ]);
    expect(links).toEqual([artifact]);
  });

  test("must have been stored: otherwise nothing is settled and the attempt goes on", async () => {
    const attempt = await running();
    const missing = { sha256: "0".repeat(64), name: "missing.json" };
    await expect(bench.ledger.settle(attempt, { kind: "completed", result, artifacts: [missing] })).rejects.toMatchObject({
      code: "operation_output_invalid",
    });
    expect(await traces(attempt.taskId)).toEqual({ live: 1, attempts: ["running"], terminal: [] });
    expect(await bench.ledger.settle(attempt, completed)).toBe("completed");
  });
});

describe("the retry budget", () => {
  test("pays two replacements and then the task fails with the last reason", async () => {
    const { id } = await bench.createTask();
    expect(await bench.ledger.settle(await bench.claim(id), failed(true))).toBe("requeued");
    expect(await bench.ledger.settle(await bench.claim(id), failed(true))).toBe("requeued");
    const last = failed(true);
    expect(await bench.ledger.settle(await bench.claim(id), last)).toBe("failed");
    expect(await found(id)).toMatchObject({
      status: "failed",
      outcome: { kind: "error", code: "operation_crashed", reference: last.kind === "failed" ? last.reference : "" },
    });
    expect(await traces(id)).toEqual({ live: 0, attempts: ["failed", "failed", "failed"], terminal: ["task.failed"] });
  });

  test("is shared by crashed and lost attempts", async () => {
    const { id } = await bench.createTask();
    await bench.ledger.settle(await bench.claim(id), failed(true));
    await bench.claim(id, { leaseMs: 0 });
    expect(await bench.ledger.reap(10)).toEqual([id]);
    expect(await bench.ledger.settle(await bench.claim(id), failed(true))).toBe("failed");
  });

  test("is not touched by interruptions, however many", async () => {
    const { id } = await bench.createTask();
    for (let round = 0; round < 5; round += 1) {
      expect(await bench.ledger.settle(await bench.claim(id), interrupted)).toBe("requeued");
    }
    const [row] = await bench.sql("select budget_spent from holdfast.live_task where task_id = $1", [id]);
    expect(row).toEqual({ budget_spent: 0 });
    expect((await traces(id)).attempts).toEqual(Array.from({ length: 5 }, () => "interrupted"));
  });

  test("is not asked for a failure that a repetition would not help", async () => {
    const attempt = await running();
    expect(await bench.ledger.settle(attempt, failed(false))).toBe("failed");
    expect(await found(attempt.taskId)).toMatchObject({ status: "failed" });
  });

  test("keeps error details for operators losslessly, and away from the owner", async () => {
    const attempt = await running();
    const detail = "\u0000 \ud800 /etc/secret";
    await bench.ledger.settle(attempt, { kind: "failed", code: "operation_failed", reference: randomUUID(), detail, retry: false });
    const [row] = await bench.sql<{ detail: string }>("select error_detail::text as detail from holdfast.attempt where task_id = $1", [
      attempt.taskId,
    ]);
    expect(JSON.parse(row?.detail ?? "")).toBe(detail);
    expect(JSON.stringify(await found(attempt.taskId))).not.toContain("secret");
  });
});

describe("after a request to cancel", () => {
  test.each([
    ["an interrupted attempt", interrupted],
    ["a crash that could be retried", failed(true)],
    ["an attempt that stopped", cancelled],
  ])("%s ends the task instead of starting another", async (_, settlement) => {
    const attempt = await running();
    await bench.manager.requestCancellation({ id: attempt.taskId, principal: alice });
    expect(await bench.ledger.settle(attempt, settlement)).toBe("cancelled");
    expect(await found(attempt.taskId)).toMatchObject({ status: "cancelled", outcome: null });
    expect((await traces(attempt.taskId)).terminal).toEqual(["task.cancelled"]);
  });

  test("a final failure is reported as what happened", async () => {
    const attempt = await running();
    await bench.manager.requestCancellation({ id: attempt.taskId, principal: alice });
    expect(await bench.ledger.settle(attempt, failed(false))).toBe("failed");
  });
});

describe("requeueing", () => {
  test("adds a fresh job although the old one is locked by the worker that ran it, and clears the progress", async () => {
    const attempt = await running();
    const old = await bench.sql<{ id: string }>(
      `update graphile_worker._private_jobs set locked_at = now(), locked_by = 'worker', attempts = 1 where key = $1 returning id`,
      [attempt.taskId],
    );
    await bench.ledger.renew([{ attempt, progress: { value: 5, total: 9, message: "half" } }], 60_000);
    expect(await bench.ledger.settle(attempt, interrupted)).toBe("requeued");
    const fetchable = await bench.sql<{ id: string }>(
      "select id from graphile_worker.jobs where key = $1 and locked_at is null and attempts < max_attempts and run_at <= now()",
      [attempt.taskId],
    );
    expect(fetchable).toHaveLength(1);
    expect(fetchable[0]?.id).not.toBe(old[0]?.id);
    expect(await found(attempt.taskId)).toMatchObject({ status: "working", progress: null });
  });
});

describe("a worker that was paused past its lease", () => {
  const sealed = { text: '"late"', sourceRevision: null, seal: "seal" };
  const plan: JournalPlan = { files: [], resultText: "{}", artifacts: [], seal: "seal" };
  const suspended: Settlement = { kind: "suspended", requests: { late: { method: "roots/list", params: {} } } };
  const endings = [completed, { kind: "published" }, failed(true), failed(false), interrupted, cancelled, suspended] as const;
  const everyWrite = async (late: AttemptRef) => ({
    renewal: (await bench.ledger.renew([{ attempt: late, progress: { value: 99, total: null, message: "late" } }], 60_000))[0]?.kind,
    artifact: (await storeArtifact(bench.database, late, { bytes: Buffer.from(late.taskId), name: "late.txt", mimeType: "text/plain" }))
      .kind,
    checkpoint: await bench.ledger.saveCheckpoint(late, sealed),
    step: await bench.ledger.saveStep(late, { ...sealed, key: "late" }),
    staged: await bench.ledger.stage(late, { ...sealed, artifacts: [] }),
    bind: await journal.bind(late, plan),
    moves: await Promise.all(JOURNAL_STATES.map((to) => journal.move(late, { from: JOURNAL_STATES, to, recovered: true }))),
    read: await journal.read(late),
    settlements: await Promise.all(endings.map((settlement) => bench.ledger.settle(late, settlement))),
  });
  const allRefused = {
    renewal: "refused",
    artifact: "refused",
    checkpoint: "refused",
    step: "refused",
    staged: "refused",
    bind: "refused",
    moves: Array.from({ length: 6 }, () => "refused"),
    read: null,
    settlements: Array.from({ length: 7 }, () => "refused"),
  };

  test("changes nothing after another one claimed the task", async () => {
    const late = await running({ leaseMs: 0 });
    await bench.ledger.reap(10);
    const current = await bench.claim(late.taskId);
    const before = await everything(late.taskId);
    expect(await everyWrite(late)).toEqual(allRefused);
    expect(await everything(late.taskId)).toEqual(before);
    expect(await bench.ledger.settle(current, completed)).toBe("completed");
  });

  test("changes nothing of a write that another one has taken over", async () => {
    const late = await running({ leaseMs: 0, effect: "write" });
    expect(await journal.bind(late, { ...plan, files: [{ path: "a", before: null, after: null }] })).toBe("bound");
    await bench.ledger.reap(10);
    const current = await bench.claim(late.taskId);
    const before = await everything(late.taskId);
    expect(await everyWrite(late)).toEqual(allRefused);
    expect(await everything(late.taskId)).toEqual(before);
    expect(await journal.move(current, { from: ["planned"], to: "restored", recovered: true })).toBe("moved");
    expect(await bench.ledger.settle(current, completed)).toBe("completed");
  });

  test("changes nothing of a task that waits for its client", async () => {
    const late = await running();
    await bench.ledger.settle(late, { kind: "suspended", requests: { name: { method: "elicitation/create", params: {} } } });
    const before = await everything(late.taskId);
    expect(await everyWrite(late)).toEqual(allRefused);
    expect(await everything(late.taskId)).toEqual(before);
  });

  test("changes nothing while the task waits for its next claim", async () => {
    const late = await running({ leaseMs: 0 });
    await bench.ledger.reap(10);
    const before = await everything(late.taskId);
    expect(await everyWrite(late)).toEqual(allRefused);
    expect(await everything(late.taskId)).toEqual(before);
  });

  test("changes nothing under the token of another worker", async () => {
    const current = await running();
    const before = await everything(current.taskId);
    expect(await everyWrite({ ...current, workerId: newWorkerId() })).toEqual(allRefused);
    expect(await everyWrite({ ...current, token: current.token - 1 })).toEqual(allRefused);
    expect(await everything(current.taskId)).toEqual(before);
  });

  test.each([
    ["completed", completed],
    ["failed", failed(false)],
    ["cancelled", cancelled],
  ])("changes nothing of a task that is %s, and neither does anybody else", async (status, settlement) => {
    const attempt = await running();
    await bench.ledger.settle(attempt, settlement);
    const before = await everything(attempt.taskId);
    expect(await everyWrite(attempt)).toEqual(allRefused);
    expect(await bench.ledger.claim({ taskId: attempt.taskId, workerId: newWorkerId(), leaseMs: 60_000, reach })).toBeNull();
    expect(await bench.manager.requestCancellation({ id: attempt.taskId, principal: alice })).toMatchObject({ status });
    await bench.ledger.reap(10);
    expect(await everything(attempt.taskId)).toEqual(before);
  });
});

describe("settlement against", () => {
  /** Lets both wait for the task's row, in this order. */
  const inOrder = async <A, B>(taskId: TaskId, first: () => Promise<A>, second: () => Promise<B>): Promise<[A, B]> => {
    const holder = await bench.session();
    await holder.query("begin");
    await holder.query("select from holdfast.live_task where task_id = $1 for update", [taskId]);
    const early = first();
    await bench.whenBlocked(1);
    const late = second();
    await bench.whenBlocked(2);
    await holder.query("commit");
    return await Promise.all([early, late]);
  };

  test("itself, sent twice: one of them settles", async () => {
    const attempt = await running();
    const answers = await inOrder(
      attempt.taskId,
      () => bench.ledger.settle(attempt, completed),
      () => bench.ledger.settle(attempt, failed(false)),
    );
    expect(answers).toEqual(["completed", "refused"]);
    expect(await traces(attempt.taskId)).toEqual({ live: 0, attempts: ["succeeded"], terminal: ["task.completed"] });
  });

  test("a request to cancel that comes second: the result stands", async () => {
    const attempt = await running();
    const cancel = () => bench.manager.requestCancellation({ id: attempt.taskId, principal: alice });
    const [settled, task] = await inOrder(attempt.taskId, () => bench.ledger.settle(attempt, completed), cancel);
    expect(settled).toBe("completed");
    expect(task).toMatchObject({ status: "completed" });
    expect((await traces(attempt.taskId)).terminal).toEqual(["task.completed"]);
  });

  test("a request to cancel that comes first: an interruption does not start the task again", async () => {
    const attempt = await running();
    const cancel = () => bench.manager.requestCancellation({ id: attempt.taskId, principal: alice });
    const [task, settled] = await inOrder(attempt.taskId, cancel, () => bench.ledger.settle(attempt, interrupted));
    expect(settled).toBe("cancelled");
    expect(task?.id).toBe(attempt.taskId);
    expect(await found(attempt.taskId)).toMatchObject({ status: "cancelled" });
  });

  test("the reaper, which is in the middle of the row: it waits, and is refused", async () => {
    const attempt = await running({ leaseMs: 0 });
    const { settled, reaped } = await whileReaping(attempt.taskId, () => bench.ledger.settle(attempt, completed));
    expect(reaped).toBe(true);
    expect(settled).toBe("refused");
    expect(await found(attempt.taskId)).toMatchObject({ status: "working" });
    expect((await traces(attempt.taskId)).attempts).toEqual(["lost"]);
  });

  test("the reaper, in whose way it is: the reaper leaves the row alone, and the result stands", async () => {
    const attempt = await running({ leaseMs: 0 });
    const holder = await bench.session();
    await holder.query("begin");
    await holder.query("select from holdfast.live_task where task_id = $1 for update", [attempt.taskId]);
    const settling = bench.ledger.settle(attempt, completed);
    await bench.whenBlocked(1);
    expect(await bench.ledger.reap(10)).toEqual([]);
    await holder.query("commit");
    expect(await settling).toBe("completed");
    expect(await bench.ledger.reap(10)).toEqual([]);
    expect((await traces(attempt.taskId)).terminal).toEqual(["task.completed"]);
  });

  /** Holds the reaper in the middle of its statement, after it locked the mutex row and before it can write the task. */
  const whileReaping = async <A>(taskId: TaskId, act: () => Promise<A>): Promise<{ settled: A; reaped: boolean }> => {
    const holder = await bench.session();
    await holder.query("begin");
    await holder.query("select from holdfast.attempt where task_id = $1 for update", [taskId]);
    const reaping = bench.ledger.reap(10);
    await bench.whenBlocked(1);
    const acting = act();
    await bench.whenBlocked(2);
    await holder.query("commit");
    return { settled: await acting, reaped: (await reaping).includes(taskId) };
  };
});

async function running({ effect = "read", ...changes }: { leaseMs?: number; effect?: Effect } = {}): Promise<ClaimedAttempt> {
  const { id } = await bench.createTask({ operation: { name: "test.echo", version: 1, effect, pool: "default" } });
  return await bench.claim(id, changes);
}

async function found(id: TaskId) {
  return await bench.manager.find({ id, principal: alice });
}

/** What is left of a task's life, apart from what its owner sees. */
async function traces(id: TaskId) {
  const live = await bench.sql("select from holdfast.live_task where task_id = $1", [id]);
  const attempts = await bench.sql<{ state: string }>("select state from holdfast.attempt where task_id = $1 order by fencing_token", [id]);
  const terminal = await bench.sql<{ kind: string }>(
    "select kind from holdfast.task_event where task_id = $1 and kind in ('task.completed', 'task.failed', 'task.cancelled')",
    [id],
  );
  return { live: live.length, attempts: attempts.map(({ state }) => state), terminal: terminal.map(({ kind }) => kind) };
}

/** Every row that a write of an attempt could change, its jobs included. */
async function everything(id: TaskId) {
  const rows = await bench.sql(
    `select
       (select to_jsonb(t) from holdfast.task as t where t.id = $1) as task,
       (select to_jsonb(l) from holdfast.live_task as l where l.task_id = $1) as live,
       (select jsonb_agg(a order by a.fencing_token) from holdfast.attempt as a where a.task_id = $1) as attempts,
       (select to_jsonb(r) from holdfast.task_result as r where r.task_id = $1) as result,
       (select jsonb_agg(e order by e.id) from holdfast.task_event as e where e.task_id = $1) as events,
       (select to_jsonb(c) from holdfast.task_checkpoint as c where c.task_id = $1) as checkpoint,
       (select jsonb_agg(s order by s.key) from holdfast.task_step as s where s.task_id = $1) as steps,
       (select jsonb_agg(i order by i.key) from holdfast.task_input as i where i.task_id = $1) as inputs,
       (select to_jsonb(j) from holdfast.journal_entry as j where j.task_id = $1) as journal,
       (select jsonb_agg(f order by f.position) from holdfast.journal_file as f where f.task_id = $1) as files,
       (select count(*) from holdfast.task_artifact as k where k.task_id = $1) as links,
       (select count(*) from holdfast.artifact where sha256 = sha256(convert_to($1::text, 'UTF8'))) as artifacts,
       (select jsonb_agg(j order by j.id) from graphile_worker.jobs as j where j.key = $1::text) as jobs`,
    [id],
  );
  return rows;
}
