import type { AttemptRef, JournalPlan, Principal, WriteJournal } from "@holdfast/core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { version, writePlan, writing } from "../testing/attempt-records.ts";
import { alice, alpha, openBench, type Bench } from "../testing/bench.ts";
import { createPostgresWriteJournal } from "../write-journal.ts";
import { addGrant, removeGrant, type GrantMember } from "./change-grants.ts";
import { storeArtifact } from "./store-artifact.ts";

let bench: Bench;
let journal: WriteJournal;
beforeAll(async () => {
  bench = await openBench();
  journal = createPostgresWriteJournal(bench.database);
});
beforeEach(async () => {
  // Every test begins with no plan open below the root.
  await bench.sql("update holdfast.journal_entry set state = 'restored'");
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

const everyByte = Uint8Array.from({ length: 256 }, (_, index) => index);
const files: JournalPlan["files"] = [
  { path: "changed/ä \u0000 \ud800.txt", before: version(everyByte), after: version(everyByte.toReversed()) },
  { path: "made.txt", before: null, after: version("") },
  { path: "removed.txt", before: version("a\nb"), after: null },
];

describe("a bound plan", () => {
  test("is read by the next attempt as it was bound: every byte, absent files, the result's text, and the claim says where it stands", async () => {
    const attempt = await writer();
    const result = { content: [{ type: "text", text: "\u0000 \ud800" }], structuredContent: { b: 1, a: 2 } };
    const plan = writePlan({ files, resultText: JSON.stringify(result), seal: "seal of this plan" });
    expect(await journal.read(attempt)).toBeNull();
    expect(await journal.bind(attempt, plan)).toBe("bound");
    expect(await journal.read(attempt)).toEqual({ ...plan, state: "planned", recoveries: 0 });
    await bench.ledger.settle(attempt, { kind: "interrupted", detail: "drain" });
    expect(await journal.read(attempt)).toBeNull();
    const next = await bench.claim(attempt.taskId);
    expect(next).toMatchObject({ effect: "write", journalState: "planned" });
    expect(await journal.read(next)).toEqual({ ...plan, state: "planned", recoveries: 0 });
  });

  test("may have views into larger buffers, and many files in their order", async () => {
    const attempt = await writer();
    const many = Array.from({ length: 40 }, (_, index) => ({
      path: `${40 - index}.txt`,
      before: { sha256: version(everyByte.subarray(index, index + 5)).sha256, bytes: everyByte.subarray(index, index + 5) },
      after: null,
    }));
    await journal.bind(attempt, writePlan({ files: many }));
    const entry = await journal.read(attempt);
    expect(entry?.files.map(({ path }) => path)).toEqual(many.map(({ path }) => path));
    expect(entry?.files.map(({ before }) => before?.bytes)).toEqual(many.map(({ before }) => Buffer.from(before.bytes)));
  });

  test("links the artifacts of its result, and is not bound when one is not stored", async () => {
    const attempt = await writer();
    const other = await bench.claim((await bench.createTask()).id);
    const stored = await storeArtifact(bench.database, other, { bytes: Buffer.from("x"), name: "x", mimeType: "text/plain" });
    if (stored.kind !== "stored") throw new Error("the artifact was refused");
    const artifact = { sha256: stored.address.sha256, name: "x" };
    const gone = { sha256: "0".repeat(64), name: "gone" };
    await expect(journal.bind(attempt, writePlan({ artifacts: [artifact, gone] }))).rejects.toMatchObject({
      code: "operation_output_invalid",
    });
    expect(await journal.read(attempt)).toBeNull();
    expect(await journal.bind(attempt, writePlan({ artifacts: [artifact] }))).toBe("bound");
    expect(await bench.sql("select name from holdfast.task_artifact where task_id = $1", [attempt.taskId])).toEqual([{ name: "x" }]);
    expect((await journal.read(attempt))?.artifacts).toEqual([artifact]);
  });

  test("is bound once: again by its own attempt it is the same, another plan or another attempt's is refused", async () => {
    const attempt = await writer();
    const plan = writePlan();
    await journal.bind(attempt, plan);
    expect(await journal.bind(attempt, plan)).toBe("bound");
    expect(await journal.bind(attempt, { ...plan, seal: "of another plan" })).toBe("refused");
    await bench.ledger.settle(attempt, { kind: "interrupted", detail: "drain" });
    const next = await bench.claim(attempt.taskId);
    expect(await journal.bind(next, plan)).toBe("refused");
    await journal.move(next, { from: ["planned"], to: "restored" });
    expect(await journal.bind(next, plan)).toBe("refused");
    expect(await journal.read(next)).toMatchObject({ ...plan, state: "restored" });
  });
});

test.each([
  ["the same plan", "seal of a plan", ["bound", "bound"]],
  ["another plan", "of another plan", ["bound", "refused"]],
])("a bind of %s that waits for the first one of its attempt answers what came of that", async (_, seal, answers) => {
  const attempt = await writer();
  const holder = await bench.session();
  await holder.query("begin");
  await holder.query("select from holdfast.live_task where task_id = $1 for update", [attempt.taskId]);
  const binding = Promise.all([journal.bind(attempt, writePlan()), journal.bind(attempt, writePlan({ seal }))]);
  await bench.whenBlocked(2);
  await holder.query("commit");
  expect((await binding).toSorted()).toEqual(answers);
});

describe("a grant to write that was withdrawn meanwhile (C2.6)", () => {
  const bob: Principal = { ...alice, subject: "bob", groups: ["modders", "testers"] };
  const group: GrantMember = { workspaceId: alpha, issuer: bob.issuer, memberKind: "group", member: "modders" };

  test("keeps every plan from being bound", async () => {
    await addGrant(bench.database, { ...group, actions: ["write"], expiresAt: null });
    const attempt = await bench.claim((await bench.createTask({ ...writing, principal: bob })).id);
    await removeGrant(bench.database, group);
    expect(await journal.bind(attempt, writePlan())).toBe("denied");
    expect(await bench.sql("select from holdfast.journal_entry where task_id = $1", [attempt.taskId])).toEqual([]);
  });

  test("is found in the groups that the owner's token named", async () => {
    await addGrant(bench.database, { ...group, actions: ["write"], expiresAt: null });
    const attempt = await bench.claim((await bench.createTask({ ...writing, principal: bob })).id);
    expect(await journal.bind(attempt, writePlan())).toBe("bound");
  });

  test("leaves a plan that has begun to its end", async () => {
    await addGrant(bench.database, { ...group, actions: ["write"], expiresAt: null });
    const attempt = await bench.claim((await bench.createTask({ ...writing, principal: bob })).id);
    await journal.bind(attempt, writePlan());
    await journal.move(attempt, { from: ["planned"], to: "applying" });
    await removeGrant(bench.database, group);
    expect(await journal.move(attempt, { from: ["applying"], to: "applying" })).toBe("moved");
    expect(await journal.move(attempt, { from: ["applying"], to: "committed" })).toBe("moved");
  });
});

describe("below one root", () => {
  test.each(["planned", "applying", "rolling_back"] as const)("a plan that is %s keeps others out, which leave no trace", async (state) => {
    const [first, second] = [await writer(), await writer()];
    await journal.bind(first, writePlan());
    await journal.move(first, { from: ["planned"], to: state });
    const before = await bench.sql("select checkpoint_version from holdfast.live_task where task_id = $1", [second.taskId]);
    expect(await journal.bind(second, writePlan())).toBe("busy");
    expect(await journal.read(second)).toBeNull();
    expect(await bench.sql("select checkpoint_version from holdfast.live_task where task_id = $1", [second.taskId])).toEqual(before);
  });

  test.each(["committed", "restored", "unresolved"] as const)("a plan that is %s makes room", async (state) => {
    const [first, second] = [await writer(), await writer()];
    await journal.bind(first, writePlan());
    await journal.move(first, { from: ["planned"], to: state });
    expect(await journal.bind(second, writePlan())).toBe("bound");
  });

  test("of many attempts that bind at once exactly one may write", async () => {
    for (let round = 0; round < 10; round += 1) {
      const attempts = await Promise.all(Array.from({ length: 6 }, writer));
      const answers = await Promise.all(attempts.map((attempt) => journal.bind(attempt, writePlan())));
      expect(answers.toSorted()).toEqual(["bound", "busy", "busy", "busy", "busy", "busy"]);
      const winner = attempts[answers.indexOf("bound")];
      if (winner !== undefined) await journal.move(winner, { from: ["planned"], to: "restored" });
    }
  });

  test("a plan of another root is in nobody's way", async () => {
    const [first, second] = [await writer(), await writer()];
    await bench.sql("update holdfast.task set root = 'disk2' where id = $1", [second.taskId]);
    expect([await journal.bind(first, writePlan()), await journal.bind(second, writePlan())]).toEqual(["bound", "bound"]);
  });
});

test("a bind in whose way a take-over is finds its token old, and binds nothing", async () => {
  const attempt = await writer();
  const holder = await bench.session();
  await holder.query("begin");
  await holder.query("update holdfast.live_task set fencing_token = fencing_token + 1 where task_id = $1", [attempt.taskId]);
  const binding = journal.bind(attempt, writePlan());
  await bench.whenBlocked(1);
  await holder.query("commit");
  expect(await binding).toBe("refused");
  expect(await bench.sql("select from holdfast.journal_entry where task_id = $1", [attempt.taskId])).toEqual([]);
});

async function writer(): Promise<AttemptRef> {
  return await bench.claim((await bench.createTask(writing)).id);
}
