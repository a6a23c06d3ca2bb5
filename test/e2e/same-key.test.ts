import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { openDatabase } from "@holdfast/db";
import { testDatabase } from "@holdfast/db/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startBalancedService, type BalancedService } from "../support/balanced-service.ts";
import { modernCaller, taskIdOf, toolCall, type Answer, type CallModern } from "../support/mcp-request.ts";
import { untilValue } from "../support/task-world.ts";

const FILE = "common/national_focus/tree.txt";
const TREE = `focus_tree = {
	id = tree
	focus = {
		id = first
		x = 1
		y = 1
	}
}
`;
const CALLS = 200;

let cleanup: AsyncDisposableStack;
let service: BalancedService;
let call: CallModern;
let query: (text: string) => Promise<readonly Record<string, unknown>[]>;

beforeAll(async () => {
  cleanup = new AsyncDisposableStack();
  const { url, drop } = await testDatabase();
  cleanup.defer(drop);
  const database = openDatabase({ url, applicationName: "holdfast-test", maxConnections: 1, onError: () => undefined });
  cleanup.defer(database.close);
  query = async (text) => (await database.pool.query<Record<string, unknown>>(text)).rows;
  service = cleanup.use(await startBalancedService({ databaseUrl: url, packs: "@holdfast/hoi4", scopes: ["hoi4:read", "hoi4:write"] }));
  call = modernCaller(service.url);
  await mkdir(path.join(service.folder, path.dirname(FILE)), { recursive: true });
});
afterAll(async () => {
  await cleanup.disposeAsync();
});

/** A request to move the tree's only focus, which is where `source` has it. */
function move(requestKey: string, source: string, x: number) {
  const expectedSourceHash = createHash("sha256").update(source).digest("hex");
  const changes = [{ focusId: "first", x }];
  return toolCall("hoi4.focus_rewrite", { requestKey, relativePath: FILE, treeId: "tree", expectedSourceHash, changes }, { tasks: true });
}

async function untilEnded(taskId: string): Promise<Answer> {
  const get = { method: "tasks/get", params: { taskId }, tasks: true };
  return await untilValue(
    () => call(get),
    ({ result }) => result?.["status"] !== "working",
    30_000,
  );
}

async function done() {
  const [row] = await query(
    `select (select count(*)::int from holdfast.task) as tasks, (select count(*)::int from holdfast.attempt) as attempts,
       (select count(*)::int from holdfast.receipt) as receipts`,
  );
  return row;
}

test("two hundred identical keyed writes at once, spread over three nodes, are one task that runs once", async () => {
  await writeFile(path.join(service.folder, FILE), TREE);
  const answers = await Promise.all(Array.from({ length: CALLS }, () => call(move("same", TREE, 7))));
  const taskIds = new Set(answers.map(taskIdOf));
  expect(taskIds.size).toBe(1);
  for (const taskId of taskIds)
    expect((await untilEnded(taskId)).result).toMatchObject({
      status: "completed",
      result: { structuredContent: { code: "FOCUS_CHANGES_APPLIED" } },
    });
  expect(await readFile(path.join(service.folder, FILE), "utf8")).toBe(TREE.replace("x = 1", "x = 7"));
  expect(await done()).toEqual({ tasks: 1, attempts: 1, receipts: 1 });
});

test("two hundred writes under one key that differ in a byte are one request that succeeds, and conflicts", async () => {
  await writeFile(path.join(service.folder, FILE), TREE);
  const before = await done();
  const answers = await Promise.all(
    Array.from({ length: CALLS }, async (_none, index) => ({
      x: 2 + (index % 2),
      answer: await call(move("other", TREE, 2 + (index % 2))),
    })),
  );
  const admitted = answers.filter(({ answer }) => answer.error === undefined);
  const refused = answers.filter(({ answer }) => answer.error !== undefined);
  expect(admitted).toHaveLength(CALLS / 2);
  expect(new Set(admitted.map(({ x }) => x)).size).toBe(1);
  expect(new Set(refused.map(({ answer }) => JSON.stringify(answer.error)))).toEqual(
    new Set([
      JSON.stringify({
        code: -32_602,
        message: "This requestKey stands for another request already. Nothing was done: give this one a key of its own.",
      }),
    ]),
  );
  const taskIds = new Set(admitted.map(({ answer }) => taskIdOf(answer)));
  expect(taskIds.size).toBe(1);
  for (const taskId of taskIds) await untilEnded(taskId);
  expect(await readFile(path.join(service.folder, FILE), "utf8")).toBe(TREE.replace("x = 1", `x = ${admitted[0]?.x}`));
  expect(await done()).toEqual({ tasks: Number(before?.["tasks"]) + 1, attempts: Number(before?.["attempts"]) + 1, receipts: 2 });
});
