import { createHash } from "node:crypto";
import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { parseArtifactUri, toolResultSchema, type Task, type TaskId } from "@holdfast/core";
import { readArtifact } from "@holdfast/db";
import { z } from "zod";
import { createTaskWorld, untilValue, type TaskWorld } from "../support/task-world.ts";
import { startTestWorker, type TestWorker } from "../support/test-worker.ts";

const EXAMPLE = path.resolve(import.meta.dirname, "../../examples/lantern-harbour");
const RELATIVE_PATH = "common/national_focus/lantern_focus.txt";

let world: TaskWorld;
let worker: TestWorker;
let file: string;
let original: string;

beforeAll(async () => {
  world = await createTaskWorld();
  worker = await startTestWorker(world, { packs: ["@holdfast/hoi4"] });
  await cp(EXAMPLE, path.join(world.root, "mod"), { recursive: true });
  file = path.join(world.root, "mod", RELATIVE_PATH);
  original = await readFile(file, "utf8");
});
beforeEach(() => writeFile(file, original));
afterAll(async () => {
  await worker.stop();
  await world[Symbol.asyncDispose]();
});

const outputSchema = z.looseObject({
  status: z.string(),
  code: z.string(),
  artifacts: z.array(z.looseObject({ uri: z.string(), name: z.string() })),
  blockers: z.array(z.looseObject({ code: z.string() })),
  data: z.looseObject({ resultHash: z.string() }).nullable(),
});

interface Move {
  readonly focusId: string;
  readonly x?: number;
  readonly y?: number;
}

/** Asks for changes of the file as it was at the beginning. */
function move(...changes: readonly Move[]): Promise<TaskId> {
  const input = {
    relativePath: RELATIVE_PATH,
    treeId: "lantern_focus_tree",
    expectedSourceHash: hashOf(original),
    changes: changes.map((change) => ({ ...change })),
  };
  return world.create("hoi4.focus_rewrite", input, { effect: "write" });
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

async function ended(id: TaskId) {
  const task = await world.untilTerminal(id);
  return { task, ...resultOf(task) };
}

function resultOf({ status, outcome }: Task) {
  if (outcome?.kind !== "result") throw new Error(`the task is ${status} without a result`);
  const { isError, structuredContent } = toolResultSchema.parse(outcome.result);
  return { isError: isError === true, output: outputSchema.parse(structuredContent) };
}

function journalOf(id: TaskId) {
  return world.query("select state from holdfast.journal_entry where task_id = $1", [id]);
}

test("a rewrite changes the file of the mod and keeps what it has changed as artifacts", async () => {
  const id = await move({ focusId: "LHB_relight_the_lamp", x: 4 }, { focusId: "LHB_count_the_boats", y: 3 });
  const { task, output } = await ended(id);
  expect(task.status).toBe("completed");
  expect(output).toMatchObject({ status: "ok", code: "FOCUS_CHANGES_APPLIED" });

  const wanted = original.replace("x = 2\n\t\ty = 0", "x = 4\n\t\ty = 0").replace("x = 3\n\t\ty = 2", "x = 3\n\t\ty = 3");
  expect(await readFile(file, "utf8")).toBe(wanted);
  expect(output.data?.resultHash).toBe(hashOf(wanted));
  expect(await readdir(path.dirname(file))).toEqual([path.basename(file)]);
  expect(await journalOf(id)).toEqual([{ state: "committed" }]);

  const diff = output.artifacts.find(({ name }) => name === "focus-rewrite.diff");
  const address = parseArtifactUri(diff?.uri ?? "")?.address;
  if (address === undefined) throw new Error("the result links no diff");
  const stored = await readArtifact(world.database, { principal: world.principal, address, offset: 0, length: 10_000 });
  const changed = Buffer.from(stored?.bytes ?? [])
    .toString()
    .match(/^[-+]\t.*$/gmu);
  expect(changed).toEqual(["-\t\tx = 2", "+\t\tx = 4", "-\t\ty = 2", "+\t\ty = 3"]);
});

test("a rewrite of a file that is another one by now is a completed task that tells the hash, and binds nothing", async () => {
  const edited = original.replace("cost = 5", "cost = 7");
  await writeFile(file, edited);
  const id = await move({ focusId: "LHB_relight_the_lamp", x: 4 });
  const { task, isError, output } = await ended(id);
  expect(task.status).toBe("completed");
  expect(isError).toBe(true);
  expect(output).toMatchObject({ code: "FOCUS_SOURCE_STALE", blockers: [{ details: { sourceHash: hashOf(edited) } }] });
  expect(await readFile(file, "utf8")).toBe(edited);
  expect(await journalOf(id)).toEqual([]);
});

test("what somebody else writes between reading and writing stays", async () => {
  const client = await world.database.pool.connect();
  let id: TaskId;
  try {
    // The diff is stored after the file was read and before it is written: the rewrite waits there until the lock is gone.
    await client.query("begin");
    await client.query("lock table holdfast.artifact in exclusive mode");
    id = await move({ focusId: "LHB_question_the_keepers", x: 0 });
    const waiting = () => client.query("select from pg_locks where relation = 'holdfast.artifact'::regclass and not granted");
    await untilValue(waiting, ({ rowCount }) => rowCount === 1, 10_000);
    await writeFile(file, `# by hand\n${original}`);
    await client.query("commit");
  } finally {
    client.release(true);
  }
  const { task, isError, output } = await ended(id);
  expect(task.status).toBe("completed");
  expect(isError).toBe(true);
  expect(output.code).toBe("FOCUS_SOURCE_CHANGED");
  expect(await readFile(file, "utf8")).toBe(`# by hand\n${original}`);
  expect(await journalOf(id)).toEqual([]);
});

test("of several rewrites of the same file one is applied, and the others say that they came too late", async () => {
  const ids = await Promise.all([5, 6, 7, 8].map((x) => move({ focusId: "LHB_relight_the_lamp", x })));
  const results = await Promise.all(ids.map(ended));
  const applied = results.filter(({ output }) => output.code === "FOCUS_CHANGES_APPLIED");
  const late = results.filter(({ output }) => output.code === "FOCUS_SOURCE_STALE" || output.code === "FOCUS_SOURCE_CHANGED");
  expect([applied.length, late.length]).toEqual([1, 3]);
  expect(hashOf(await readFile(file, "utf8"))).toBe(applied[0]?.output.data?.resultHash);
});

test("a rewrite that is blocked binds nothing and leaves the file alone", async () => {
  const id = await move({ focusId: "LHB_relight_the_lamp", x: 4 }, { focusId: "LHB_sink_the_boats", x: 1 });
  const { isError, output } = await ended(id);
  expect(isError).toBe(false);
  expect(output).toMatchObject({ status: "blocked", code: "FOCUS_CHANGES_BLOCKED", blockers: [{ code: "FOCUS_MISSING" }] });
  expect(await readFile(file, "utf8")).toBe(original);
  expect(await journalOf(id)).toEqual([]);
});
