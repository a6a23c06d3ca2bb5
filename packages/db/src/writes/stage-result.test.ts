import { randomUUID } from "node:crypto";
import type { AttemptRef, StoredArtifact, TaskId, ToolResult } from "@holdfast/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stagedResult } from "../testing/attempt-records.ts";
import { alice, openBench, type Bench } from "../testing/bench.ts";
import { storeArtifact } from "./store-artifact.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

const result: ToolResult = { content: [{ type: "text", text: "\u0000 \ud800 🦊" }], structuredContent: { b: 1, a: 2 } };

describe("a staged result", () => {
  test("is nobody's to see until it is published, and then exactly what was staged", async () => {
    const attempt = await running();
    expect(await bench.ledger.stage(attempt, stagedResult(result))).toBe("kept");
    expect(await found(attempt.taskId)).toMatchObject({ status: "working", outcome: null });
    expect(await bench.ledger.settle(attempt, { kind: "published" })).toBe("completed");
    expect((await found(attempt.taskId))?.outcome).toEqual({ kind: "result", result });
    const [row] = await bench.sql<{ text: string }>("select result::text as text from holdfast.task_result where task_id = $1", [
      attempt.taskId,
    ]);
    expect(row?.text).toBe(JSON.stringify(result));
  });

  test("is published by another worker when the one that staged it is lost, with its artifacts linked", async () => {
    const attempt = await running();
    const artifact = await stored(attempt, "graph");
    const staged = stagedResult(result, { artifacts: [artifact], sourceRevision: "r7" });
    await bench.ledger.stage(attempt, staged);
    await bench.sql("update holdfast.live_task set lease_expires_at = now() - interval '1 second' where task_id = $1", [attempt.taskId]);
    await bench.ledger.reap(10);
    const other = await bench.claim(attempt.taskId);
    expect(other.workerId).not.toBe(attempt.workerId);
    expect(other.staged).toEqual({ taskId: attempt.taskId, ...staged });
    expect(await bench.ledger.settle(attempt, { kind: "published" })).toBe("refused");
    expect(await bench.ledger.settle(other, { kind: "published" })).toBe("completed");
    expect(await linksOf(attempt.taskId)).toEqual([artifact]);
  });

  test("is discarded by the attempt that does not believe it, whose death costs again, and by no stale one", async () => {
    const attempt = await running();
    await bench.ledger.stage(attempt, stagedResult(result));
    expect(await bench.ledger.unstage({ ...attempt, token: attempt.token + 1 })).toBe("refused");
    expect(await bench.ledger.unstage(attempt)).toBe("kept");
    expect(await bench.sql("select from holdfast.task_result where task_id = $1", [attempt.taskId])).toEqual([]);
    await bench.sql("update holdfast.live_task set lease_expires_at = now() - interval '1 second' where task_id = $1", [attempt.taskId]);
    await bench.ledger.reap(10);
    expect(await bench.sql("select budget_spent from holdfast.live_task where task_id = $1", [attempt.taskId])).toEqual([
      { budget_spent: 1 },
    ]);
    expect((await bench.claim(attempt.taskId)).staged).toBeNull();
  });

  test("gives way to a newer one", async () => {
    const attempt = await running();
    await bench.ledger.stage(attempt, stagedResult({ content: [] }));
    await bench.ledger.stage(attempt, stagedResult(result, { sourceRevision: null }));
    expect(await bench.ledger.settle(attempt, { kind: "published" })).toBe("completed");
    expect((await found(attempt.taskId))?.outcome).toEqual({ kind: "result", result });
  });

  test("leaves no trace when the task ends otherwise", async () => {
    const [failed, cancelled, completed] = [await running(), await running(), await running()];
    for (const attempt of [failed, cancelled, completed]) await bench.ledger.stage(attempt, stagedResult(result));
    const reference = randomUUID();
    await bench.ledger.settle(failed, { kind: "failed", code: "operation_failed", reference, detail: "", retry: false });
    await bench.ledger.settle(cancelled, { kind: "cancelled" });
    await bench.ledger.settle(completed, { kind: "completed", result: { content: [] }, artifacts: [] });
    expect((await found(failed.taskId))?.outcome).toEqual({ kind: "error", code: "operation_failed", reference });
    expect((await found(cancelled.taskId))?.outcome).toBeNull();
    expect((await found(completed.taskId))?.outcome).toEqual({ kind: "result", result: { content: [] } });
    const rows = await bench.sql<{ error_code: string | null }>(
      "select error_code, seal, source_revision, artifacts from holdfast.task_result where task_id = any($1::uuid[]) order by error_code",
      [[failed.taskId, cancelled.taskId, completed.taskId]],
    );
    const bare = { seal: null, source_revision: null, artifacts: null };
    expect(rows).toEqual([
      { error_code: "operation_failed", ...bare },
      { error_code: null, ...bare },
    ]);
  });

  test("may name an artifact that another task stored, and none that is not stored", async () => {
    const other = await running();
    const artifact = await stored(other, "shared");
    const attempt = await running();
    const gone = { sha256: "0".repeat(64), name: "gone" };
    await expect(bench.ledger.stage(attempt, stagedResult(result, { artifacts: [artifact, gone] }))).rejects.toMatchObject({
      code: "operation_output_invalid",
    });
    expect(await linksOf(attempt.taskId)).toEqual([]);
    await bench.ledger.stage(attempt, stagedResult(result, { artifacts: [artifact] }));
    expect(await linksOf(attempt.taskId)).toEqual([artifact]);
  });
});

async function running() {
  return await bench.claim((await bench.createTask()).id);
}

async function found(id: TaskId) {
  return await bench.manager.find({ id, principal: alice });
}

async function stored(attempt: AttemptRef, content: string): Promise<StoredArtifact> {
  const answer = await storeArtifact(bench.database, attempt, { bytes: Buffer.from(content), name: content, mimeType: "text/plain" });
  if (answer.kind !== "stored") throw new Error("the artifact was refused");
  return { sha256: answer.address.sha256, name: answer.address.name };
}

async function linksOf(id: TaskId) {
  return await bench.sql("select encode(sha256, 'hex') as sha256, name from holdfast.task_artifact where task_id = $1", [id]);
}
