import { randomBytes } from "node:crypto";
import { expect, test, vi } from "vitest";
import { AppError, taskIdFrom, toolResult } from "@holdfast/core";
import { taskIdOf, toolCall, type ModernRequest } from "../../../../test/support/mcp-request.ts";
import { createTestNode, principalOf, type TestNode } from "../testing/test-node.ts";

const token = "alice~test_read+test_write";
const change = (args: Record<string, unknown>, extra: Partial<ModernRequest> = {}): ModernRequest =>
  toolCall("test.change", args, { token, tasks: true, ...extra });

test("the key stands in the schema of every write and of no read, and is required where only a task will do", async () => {
  const { result } = await createTestNode().call({ method: "tools/list", token });
  const tools = result?.["tools"] as { name: string; inputSchema: { properties: object; required?: string[] } }[];
  const shown = tools.filter(({ inputSchema }) => "requestKey" in inputSchema.properties).map(({ name }) => name);
  expect(shown).toEqual(["test.change", "test.rebuild"]);
  const required = tools.filter(({ inputSchema }) => inputSchema.required?.includes("requestKey")).map(({ name }) => name);
  expect(required).toEqual(["test.rebuild"]);
});

test("a keyed write of a client that declares tasks is a task, and the operation never sees the key (C4.1)", async () => {
  const node = createTestNode();
  taskIdOf(await node.call(change({ requestKey: "k", text: "a" })));
  expect(node.created[0]).toMatchObject({ waiter: "client", input: { workspaceId: "current", text: "a" }, receipt: { key: "k" } });
  expect(node.created[0]?.input).not.toHaveProperty("requestKey");
  expect(node.created[0]?.contentAddress).toBeNull();
});

test("the same key with the same request returns the same task, whatever retention is asked for (C4.3)", async () => {
  const node = createTestNode();
  const first = taskIdOf(await node.call(change({ requestKey: "k", text: "a" })));
  const again = await node.call(change({ text: "a", requestKey: "k" }, { meta: { "holdfast/ttlMs": 60_000 } }));
  expect(taskIdOf(again)).toBe(first);
  expect(again.result).toMatchObject({ ttlMs: 86_400_000 });
});

test.for<[string, ModernRequest]>([
  ["another input", change({ requestKey: "k", text: "b" })],
  ["an input with a member less", change({ requestKey: "k" })],
  ["another operation", toolCall("test.rebuild", { requestKey: "k" }, { token, tasks: true })],
])("the same key with %s is a conflict and changes nothing (C4.4)", async ([, request]) => {
  const node = createTestNode();
  const first = taskIdOf(await node.call(change({ requestKey: "k", text: "a" })));
  expect((await node.call(request)).error).toEqual({
    code: -32_602,
    message: "This requestKey stands for another request already. Nothing was done: give this one a key of its own.",
  });
  expect(taskIdOf(await node.call(change({ requestKey: "k", text: "a" })))).toBe(first);
});

test("an ordinary call shares the receipt: a repeat of a finished write answers at once (C4.7)", async () => {
  const node = createTestNode();
  taskIdOf(await node.call(change({ requestKey: "k" })));
  await node.settle(node.newestTask(), { kind: "completed", result: toolResult({ text: "changed" }), artifacts: [] });
  const read = vi.fn<() => Promise<null>>(async () => null);
  node.faults.find = read;
  const ordinary = await node.call(change({ requestKey: "k" }, { tasks: false }));
  expect(ordinary.result).toMatchObject({ resultType: "complete", content: [{ type: "text", text: "changed" }] });
  expect(read).not.toHaveBeenCalled();
  expect(node.hub.size).toBe(0);
});

test("an ordinary repeat of a write that is under way waits for the same task", async () => {
  const node = createTestNode();
  taskIdOf(await node.call(change({ requestKey: "k" })));
  const original = node.newestTask();
  const ordinary = node.call(change({ requestKey: "k" }, { tasks: false }));
  await vi.waitFor(() => expect(node.created).toHaveLength(2));
  await node.settle(original, { kind: "completed", result: toolResult({ text: "changed" }), artifacts: [] });
  expect((await ordinary).result).toMatchObject({ content: [{ type: "text", text: "changed" }] });
});

test("a task that ends while a repeat is being told of it is seen without a hint and without waiting", async () => {
  const node = createTestNode();
  taskIdOf(await node.call(change({ requestKey: "k" })));
  const original = node.newestTask();
  const { create } = node.store;
  node.faults.create = async (request) => {
    const outcome = await create(request);
    await node.settle(original);
    return outcome;
  };
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  try {
    expect((await node.call(change({ requestKey: "k" }, { tasks: false }))).result).toMatchObject({ content: [{ text: "done" }] });
  } finally {
    vi.useRealTimers();
  }
});

test("an ordinary repeat that leaves takes the task from nobody, and the last one who waits takes it with it (C8.5)", async () => {
  const node = createTestNode();
  const leave = async (): Promise<() => Promise<void>> => {
    const controller = new AbortController();
    const call = node.call(change({ requestKey: "k" }, { tasks: false, signal: controller.signal })).catch(() => null);
    const count = node.created.length;
    await vi.waitFor(() => expect(node.created.length).toBeGreaterThan(count));
    await vi.waitFor(() => expect(node.hub.size).toBeGreaterThan(count));
    return async () => {
      controller.abort();
      await call;
      await node.cancellations.idle();
    };
  };
  const leaveFirst = await leave();
  const leaveSecond = await leave();
  const id = node.created[0]?.id ?? taskIdFrom({ unixMs: 0, random: randomBytes(10) });
  const status = async (): Promise<string | undefined> => (await node.store.find({ id, principal: principalOf("alice") }))?.status;
  await leaveSecond();
  expect(await status()).toBe("working");
  await leaveFirst();
  expect(await status()).toBe("cancelled");
});

test("a keyed call that may have been stored in spite of a fault is left for its repeat, which finds it", async () => {
  const node = createTestNode();
  const { create } = node.store;
  node.faults.create = async (request) => {
    await create(request);
    throw new AppError("storage_unavailable", "the connection ended before the answer");
  };
  expect(await node.call(change({ requestKey: "k" }, { tasks: false }))).toMatchObject({ status: 503 });
  await node.cancellations.idle();
  const original = node.newestTask();
  expect(await node.find(original)).toMatchObject({ status: "working", cancelRequested: false });
  delete node.faults.create;
  const repeat = node.call(change({ requestKey: "k" }, { tasks: false }));
  await vi.waitFor(() => expect(node.hub.size).toBe(2));
  await node.settle(original);
  expect((await repeat).result).toMatchObject({ resultType: "complete" });
});

test("a receipt that none of us has sealed is an internal error, and its task is not shown", async () => {
  const secret = randomBytes(32);
  const node = createTestNode({ keys: [{ id: "k1", secret }] });
  await node.call(change({ requestKey: "k" }));
  const { create } = node.store;
  node.faults.create = async (request) => {
    const outcome = await create(request);
    return outcome.kind === "repeated" ? { ...outcome, receipt: { ...outcome.receipt, seal: `k1.${"A".repeat(43)}` } } : outcome;
  };
  const answer = await node.call(change({ requestKey: "k" }));
  expect(answer.error).toMatchObject({ code: -32_603, message: "Internal error." });
  expect(answer.text).not.toContain("taskId");
});

test("a receipt outlives the key that sealed it, as long as that key still verifies (C3.3)", async () => {
  const [old, young] = ["k1", "k2"].map((id) => ({ id, secret: randomBytes(32) }));
  if (old === undefined || young === undefined) throw new Error("two keys were made");
  const before = createTestNode({ keys: [old] });
  const first = taskIdOf(await before.call(change({ requestKey: "k" })));
  const after = createTestNode({ keys: [young, old], store: before.store });
  expect((await after.call({ method: "tasks/get", params: { taskId: first }, token, tasks: true })).result).toMatchObject({
    status: "working",
  });
  expect((await after.call(change({ requestKey: "k" }))).result).toMatchObject({ resultType: "task" });
  const stranger = createTestNode({ keys: [young], store: before.store });
  expect((await stranger.call(change({ requestKey: "k" }))).error).toMatchObject({ code: -32_603 });
});

test("a write that only runs as a task needs a key, and the extension before that", async () => {
  const node = createTestNode();
  expect((await node.call(toolCall("test.rebuild", {}, { token, tasks: true }))).error).toMatchObject({
    code: -32_602,
    message: expect.stringContaining("requestKey") as string,
  });
  expect(await node.call(toolCall("test.rebuild", {}, { token }))).toMatchObject({ status: 400, error: { code: -32_021 } });
  expect(node.writes).toEqual([]);
});

test.for<[string, unknown]>([
  ["empty", ""],
  ["too long", "x".repeat(257)],
  ["no text", 7],
  ["null", null],
  ["NUL", "a\u0000"],
  ["half a surrogate pair", "\ud800"],
])("a key that is %s is refused by its name before anything is written", async ([, requestKey]) => {
  const node = createTestNode();
  expect((await node.call(change({ requestKey }))).error).toMatchObject({ code: -32_602, data: { issues: [{ path: "requestKey" }] } });
  expect(node.writes).toEqual([]);
});

test("256 characters of any script are a key", async () => {
  const node = createTestNode();
  taskIdOf(await node.call(change({ requestKey: "😀".repeat(256) })));
  expect(node.created).toHaveLength(1);
});

test("a read has no key: it would be an unknown argument", async () => {
  const node = createTestNode();
  const answer = await node.call(toolCall("test.echo", { requestKey: "k" }, { token, tasks: true }));
  expect(answer.error).toMatchObject({ data: { issues: [{ path: "requestKey", message: "Unknown argument" }] } });
});

const addressOf = async (node: TestNode, args: Record<string, unknown>, name = "test.echo", subject = "alice"): Promise<string | null> => {
  await node.call(toolCall(name, args, { token: subject, tasks: true }));
  return node.created.at(-1)?.contentAddress ?? null;
};

test("identical reads of one principal meet in one task, and others do not (C4.8)", async () => {
  const node = createTestNode();
  const call = (args: object, subject: string): ReturnType<TestNode["call"]> =>
    node.call(toolCall("test.echo", args, { token: subject, tasks: true }));
  const first = taskIdOf(await call({ text: "a", limit: 1 }, "alice"));
  expect(taskIdOf(await call({ limit: 1, text: "a", workspaceId: "current" }, "alice"))).toBe(first);
  const others = [await call({ text: "b", limit: 1 }, "alice"), await call({ text: "a", limit: 1 }, "bob")].map(taskIdOf);
  expect(new Set([first, ...others]).size).toBe(3);
});

test("a read that is joined by an ordinary call answers both", async () => {
  const node = createTestNode();
  const handle = taskIdOf(await node.call(toolCall("test.echo", {}, { token, tasks: true })));
  const original = node.newestTask();
  const ordinary = node.call(toolCall("test.echo", {}, { token }));
  await vi.waitFor(() => expect(node.hub.size).toBe(2));
  await node.settle(original);
  expect((await ordinary).result).toMatchObject({ content: [{ text: "done" }] });
  expect((await node.call({ method: "tasks/get", params: { taskId: handle }, token, tasks: true })).result).toMatchObject({
    status: "completed",
  });
});

test("the address of a read names its input with defaults, its version and its owner, and an operation may have none", async () => {
  const node = createTestNode();
  const address = await addressOf(node, {});
  expect(address).toMatch(/^[0-9a-f]{64}$/u);
  expect(await addressOf(node, { text: "", workspaceId: "current" })).toBe(address);
  expect(await addressOf(node, { text: "x" })).not.toBe(address);
  expect(await addressOf(node, {}, "test.echo", "bob")).not.toBe(address);
  expect(await addressOf(node, {}, "test.fresh")).toBeNull();
});
