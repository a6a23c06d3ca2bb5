import type { CreateTask, TaskId } from "@holdfast/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readArtifact } from "../reads/read-artifact.ts";
import { sealedValue } from "../testing/attempt-records.ts";
import { alice, alpha, keyed, openBench, taskRequest, type Bench } from "../testing/bench.ts";
import { expireText, expireTasks } from "./expire-tasks.ts";
import { storeArtifact } from "./store-artifact.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

const HOUR = 3_600_000;
const file = (text: string, name = "report.txt") => ({ bytes: Buffer.from(text), name, mimeType: "text/plain" });

/** A completed task that lives an hour and was created so long ago; `leaving` is what its attempt has kept for another one. */
async function endedTask(
  options: { minutesOld?: number; files?: readonly ReturnType<typeof file>[]; leaving?: unknown } & Partial<CreateTask> = {},
) {
  const { minutesOld = 71, files = [], leaving, ...changes } = options;
  const { id } = await bench.createTask({ ttlMs: HOUR, ...changes });
  const attempt = await bench.claim(id);
  const artifacts = [];
  for (const upload of files) {
    const stored = await storeArtifact(bench.database, attempt, upload);
    if (stored.kind === "stored") artifacts.push({ sha256: stored.address.sha256, name: upload.name });
  }
  if (leaving !== undefined) {
    await bench.ledger.saveCheckpoint(attempt, sealedValue(leaving));
    await bench.ledger.saveStep(attempt, { ...sealedValue(leaving), key: "step" });
  }
  await bench.ledger.settle(attempt, { kind: "completed", result: { content: [] }, artifacts });
  await bench.sql("update holdfast.task set created_at = now() - $2 * interval '1 minute' where id = $1", [id, minutesOld]);
  return { id, artifacts };
}

async function isThere(id: TaskId): Promise<boolean> {
  return (await bench.sql("select from holdfast.task where id = $1", [id])).length === 1;
}

async function textOf(artifact: { sha256: string; name: string } | undefined): Promise<string | null> {
  if (artifact === undefined) throw new Error("nothing was stored");
  const read = await readArtifact(bench.database, {
    principal: alice,
    address: { workspaceId: alpha, ...artifact },
    offset: 0,
    length: 100,
  });
  return read === null ? null : Buffer.from(read.bytes).toString();
}

/** Removes all there is to remove. */
async function expireAll(): Promise<number> {
  let count = 0;
  for (;;) {
    const removed = await expireTasks(bench.database, 100);
    count += removed;
    if (removed < 100) return count;
  }
}

test("an ended task goes some minutes after its time, with every row that belongs to it", async () => {
  const { id } = await endedTask({ files: [file("all parts")], answers: [{ key: "a", method: "roots/list", answer: {} }], leaving: 1 });
  const tables = await bench.sql<{ name: string }>(
    "select c.relname as name from pg_attribute as a inner join pg_class as c on c.oid = a.attrelid where attname = 'task_id' and relkind = 'r' and relnamespace = 'holdfast'::regnamespace",
  );
  const parts = async () => {
    const found = [];
    for (const { name } of tables)
      if ((await bench.sql(`select from holdfast.${name} where task_id = $1`, [id])).length > 0) found.push(name);
    return found.toSorted();
  };
  expect(await parts()).toEqual(["attempt", "task_artifact", "task_checkpoint", "task_event", "task_input", "task_result", "task_step"]);
  expect(await expireAll()).toBe(1);
  expect(await parts()).toEqual([]);
  expect(await isThere(id)).toBe(false);
});

test("what can still be seen stays, and for some minutes what no longer can, and what nobody has finished", async () => {
  const visible = await endedTask({ minutesOld: 59 });
  const invisible = await endedTask({ minutesOld: 69 });
  const live = await bench.createTask({ ttlMs: HOUR });
  await bench.sql("update holdfast.task set created_at = now() - interval '1 year' where id = $1", [live.id]);
  expect(await bench.manager.find({ id: invisible.id, principal: alice })).toBeNull();
  expect(await expireAll()).toBe(0);
  expect([await isThere(visible.id), await isThere(invisible.id), await isThere(live.id)]).toEqual([true, true, true]);
});

test("a task with a receipt stays with its artifacts, and a repeat shows it again", async () => {
  const request = keyed("survivor");
  const { id, artifacts } = await endedTask({ ...request, minutesOld: 100_000, files: [file("of a write")] });
  expect(await expireAll()).toBe(0);
  expect(await bench.manager.find({ id, principal: alice })).toBeNull();
  expect(await bench.manager.create(taskRequest(keyed("survivor")))).toMatchObject({
    kind: "repeated",
    task: { id, status: "completed", outcome: { kind: "result", result: { content: [] } } },
  });
  expect(await textOf(artifacts[0])).toBe("of a write");
});

test("no more than asked for go at a time, those first that are overdue longest", async () => {
  const tasks = [await endedTask({ minutesOld: 80 }), await endedTask({ minutesOld: 100 }), await endedTask({ minutesOld: 90 })];
  const there = () => Promise.all(tasks.map(({ id }) => isThere(id)));
  expect(await expireTasks(bench.database, 1)).toBe(1);
  expect(await there()).toEqual([true, false, true]);
  expect(await expireTasks(bench.database, 1)).toBe(1);
  expect(await there()).toEqual([true, false, false]);
  expect(await expireAll()).toBe(1);
});

test("many nodes at once remove each task once and do not wait for each other", async () => {
  for (let index = 0; index < 60; index += 1) await endedTask({ files: [file(`shared ${index % 7}`)] });
  const holder = await bench.session();
  await holder.query("begin");
  const { rows: held } = await holder.query<{ id: TaskId }>(
    "select id from holdfast.task where status = 'completed' and created_at < now() - interval '70 minutes' and not has_receipt limit 3 for update",
  );
  const nodes = [bench.open(), bench.open(), bench.open(), bench.open()];
  const rounds = await Promise.all(
    nodes.map(async (node) => {
      let count = 0;
      // Artifacts that two rounds want at once leave tasks for the next one.
      for (let round = 0; round < 20; round += 1) count += await expireTasks(node, 5);
      return count;
    }),
  );
  await holder.query("commit");
  expect(held).toHaveLength(3);
  const removed = rounds.reduce((sum, count) => sum + count, 0) + (await expireAll());
  expect(removed).toBe(60);
  expect(await bench.sql("select from holdfast.artifact where name = 'report.txt' and size_bytes = 8")).toEqual([]);
});

test("an artifact goes with the last task that links it, and its bytes with their last name", async () => {
  const first = await endedTask({ files: [file("twice"), file("twice", "other-name.txt"), file("once")] });
  const second = await endedTask({ minutesOld: 1, files: [file("twice", "other-name.txt")] });
  await expireAll();
  expect(await isThere(first.id)).toBe(false);
  expect(await textOf(first.artifacts[0])).toBeNull();
  expect(await textOf(first.artifacts[2])).toBeNull();
  expect(await textOf(second.artifacts[0])).toBe("twice");
  const blobs = () =>
    bench.sql(
      "select encode(sha256, 'hex') as sha256 from holdfast.artifact_blob where sha256 = any(select decode(unnest($1::text[]), 'hex'))",
      [first.artifacts.map(({ sha256 }) => sha256)],
    );
  expect(await blobs()).toEqual([{ sha256: second.artifacts[0]?.sha256 }]);
  await bench.sql("update holdfast.task set created_at = now() - interval '1 day' where id = $1", [second.id]);
  await expireAll();
  expect(await blobs()).toEqual([]);
});

test("an artifact that somebody is about to link is left with its task until it is known", async () => {
  const { id, artifacts } = await endedTask({ files: [file("reused")] });
  const reader = await bench.createTask();
  const linker = await bench.session();
  const link = async () => {
    await linker.query("begin");
    await linker.query("insert into holdfast.task_artifact (task_id, workspace_id, sha256, name) values ($1, $2, decode($3, 'hex'), $4)", [
      reader.id,
      alpha,
      artifacts[0]?.sha256,
      artifacts[0]?.name,
    ]);
  };
  await link();
  expect(await expireTasks(bench.database, 10)).toBe(0);
  await linker.query("rollback");
  expect(await isThere(id)).toBe(true);
  await link();
  expect(await expireTasks(bench.database, 10)).toBe(0);
  await linker.query("commit");
  expect(await expireTasks(bench.database, 10)).toBe(1);
  expect(await textOf(artifacts[0])).toBe("reused");
});

test("bytes that are stored again while they are being removed are there afterwards", async () => {
  const { id, artifacts } = await endedTask({ files: [file("again")] });
  const attempt = await bench.claim((await bench.createTask()).id);
  const blocker = await bench.session();
  await blocker.query("begin");
  await blocker.query("select from holdfast.attempt where task_id = $1 for update", [id]);
  // Has locked the artifact, and waits with the parts of the task.
  const sweeping = expireTasks(bench.database, 10);
  await bench.whenBlocked(1);
  const storing = storeArtifact(bench.database, attempt, file("again"));
  await bench.whenBlocked(2);
  await blocker.query("commit");
  expect(await sweeping).toBe(1);
  expect(await storing).toMatchObject({ kind: "stored" });
  expect(await textOf(artifacts[0])).toBe("again");
});

test("looking for expired tasks costs what is found, by the index that is there for it", async () => {
  const client = await bench.session();
  await client.query("set enable_seqscan = off; set enable_bitmapscan = off");
  const { rows } = await client.query<{ "QUERY PLAN": string }>(`explain ${expireText(10)}`);
  expect(rows.map((row) => row["QUERY PLAN"]).join("\n")).toMatch(/Index Scan using task_expires_at_idx on task t\s+\(.*\n\s+Index Cond/u);
});
