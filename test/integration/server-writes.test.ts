import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { taskIdOf, toolCall, type Answer, type ModernRequest } from "../support/mcp-request.ts";
import {
  createServerWorld,
  DURABLE_PACK,
  taskIdIn,
  type ServerWorld,
  type TestServer,
  type WorkerOfWorld,
} from "../support/server-world.ts";
import { untilValue } from "../support/task-world.ts";

let cleanup: AsyncDisposableStack;
let world: ServerWorld;
let nodes: readonly [TestServer, TestServer];
let worker: WorkerOfWorld;
let token: string;

beforeAll(async () => {
  cleanup = new AsyncDisposableStack();
  world = cleanup.use(await createServerWorld());
  const packs = { HOLDFAST_PACKS: DURABLE_PACK };
  nodes = [cleanup.use(await world.startNode(packs)), cleanup.use(await world.startNode(packs))];
  worker = cleanup.use(await world.startWorker(packs));
  token = await world.token({ subject: "alice" });
});
afterAll(async () => {
  await cleanup.disposeAsync();
});

/** A write whose result no other run of it has. */
function rewrite(name: string, text: string, requestKey: string, extra: Partial<ModernRequest> = {}): ModernRequest {
  const capabilities = { elicitation: {}, sampling: {}, roots: {} };
  return toolCall("durable.rewrite", { files: [{ path: name, text }], requestKey }, { token, capabilities, ...extra });
}

async function get(taskId: string): Promise<Answer> {
  return await nodes[0].call({ method: "tasks/get", params: { taskId }, token, tasks: true });
}

async function completed(taskId: string): Promise<string> {
  const { result } = await untilValue(
    () => get(taskId),
    (answer) => answer.result?.["status"] !== "working",
    20_000,
  );
  expect(result).toMatchObject({ status: "completed" });
  return JSON.stringify(result?.["result"]);
}

function bare({ result }: Answer): string {
  const { resultType, _meta, ...rest } = result ?? {};
  expect(resultType).toBe("complete");
  return JSON.stringify(rest);
}

async function attemptsOf(taskId: string): Promise<number> {
  return (await world.query("select 1 from holdfast.attempt where task_id = $1", [taskIdIn(taskId)])).length;
}

test("200 identical keyed writes at two nodes at once, as tasks and as calls, are executed once and answered alike (C4.3)", async () => {
  const before = (await world.query("select 1 from holdfast.task")).length;
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      nodes[index % 2 === 0 ? 0 : 1].call(rewrite("once.txt", "once", "identical", { id: index, tasks: index % 4 < 2 })),
    ),
  );
  const handles = answers.filter((_, index) => index % 4 < 2).map(taskIdOf);
  expect(new Set(handles).size).toBe(1);
  const [handle = ""] = handles;
  const results = answers.filter((_, index) => index % 4 >= 2).map(bare);
  expect(new Set([...results, await completed(handle)]).size).toBe(1);
  expect((await world.query("select 1 from holdfast.task")).length).toBe(before + 1);
  expect(await attemptsOf(handle)).toBe(1);
  expect(await readFile(path.join(worker.folder, "once.txt"), "utf8")).toBe("once");
});

test("of 200 keyed writes with one key and two inputs, those of one input succeed and the others conflict (C4.4)", async () => {
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) => {
      const isOdd = index % 2 === 1;
      return nodes[index % 4 < 2 ? 0 : 1].call(rewrite("either.txt", isOdd ? "b" : "a", "contested", { id: index, tasks: true }));
    }),
  );
  const groups = [0, 1].map((parity) => answers.filter((_, index) => index % 2 === parity));
  const [won, lost] = groups.toSorted(([first]) => (first?.error === undefined ? -1 : 1));
  const handles = (won ?? []).map(taskIdOf);
  expect(new Set(handles).size).toBe(1);
  const conflicts = (lost ?? []).map(({ status, error }) => ({ status, error }));
  const conflict = {
    status: 200,
    error: {
      code: -32_602,
      message: "This requestKey stands for another request already. Nothing was done: give this one a key of its own.",
    },
  };
  expect(conflicts).toEqual(Array.from({ length: 100 }, () => conflict));
  await completed(handles[0] ?? "");
  expect(await attemptsOf(handles[0] ?? "")).toBe(1);
  const written = await readFile(path.join(worker.folder, "either.txt"), "utf8");
  expect(written).toBe(won === groups[0] ? "a" : "b");
});

test("a key is another one for another principal", async () => {
  const bob = await world.token({ subject: "bob" });
  const mine = taskIdOf(await nodes[0].call(rewrite("mine.txt", "mine", "shared name", { tasks: true })));
  const theirs = taskIdOf(await nodes[1].call(rewrite("theirs.txt", "theirs", "shared name", { tasks: true, token: bob })));
  expect(taskIdIn(theirs)).not.toBe(taskIdIn(mine));
  await completed(mine);
});

test("an exact repeat after the result has expired shows it again and runs nothing, and a conflict shows nothing (C4.5)", async () => {
  const handle = taskIdOf(await nodes[0].call(rewrite("kept.txt", "kept", "kept", { tasks: true })));
  const result = await completed(handle);
  await world.query("update holdfast.task set created_at = now() - interval '8 days' where id = $1", [taskIdIn(handle)]);
  expect((await get(handle)).error).toMatchObject({ message: "Task not found." });
  expect((await nodes[1].call(rewrite("kept.txt", "other", "kept", { tasks: true }))).error).toMatchObject({ code: -32_602 });
  expect((await get(handle)).error).toMatchObject({ message: "Task not found." });
  expect(bare(await nodes[1].call(rewrite("kept.txt", "kept", "kept")))).toBe(result);
  expect((await get(handle)).result).toMatchObject({ status: "completed", ttlMs: expect.any(Number) as number });
  expect(await attemptsOf(handle)).toBe(1);
});

test("a receipt that carries the seal of another one is not believed", async () => {
  const [first, second] = [
    taskIdOf(await nodes[0].call(rewrite("first.txt", "first", "first", { tasks: true }))),
    taskIdOf(await nodes[0].call(rewrite("second.txt", "second", "second", { tasks: true }))),
  ];
  await Promise.all([completed(first), completed(second)]);
  await world.query(
    "update holdfast.receipt set seal = (select seal from holdfast.receipt where task_id = $2) where task_id = $1",
    [first, second].map(taskIdIn),
  );
  const answer = await nodes[1].call(rewrite("first.txt", "first", "first", { tasks: true }));
  expect(answer.error).toMatchObject({ code: -32_603, message: "Internal error." });
});
