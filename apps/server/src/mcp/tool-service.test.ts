import { afterEach, expect, test, vi } from "vitest";
import { AppError, parseWorkspaceId, type WorkspaceId } from "@holdfast/core";
import { createTestNode, principalOf, type TestNode } from "../testing/test-node.ts";
import type { Caller } from "./caller.ts";
import type { CallAnswer, ToolCall } from "./tool-service.ts";

afterEach(() => {
  vi.useRealTimers();
});

const workspaceId = parseWorkspaceId("current") as WorkspaceId;

function caller(scopes: readonly string[] = [], declaresTasks = false): Caller {
  return { principal: principalOf("alice", scopes), requestId: "r-1", declaresTasks, capabilities: {} };
}

function callOf(name: string, signal: AbortSignal = new AbortController().signal): ToolCall {
  return { name, arguments: {}, ttlMs: undefined, responses: {}, requestState: null, signal };
}

async function begin(node: TestNode, name: string, who: Caller): Promise<{ answer: Promise<CallAnswer> }> {
  const answer = node.service.call(who, callOf(name));
  await vi.waitFor(() => expect(node.events.some(({ name: event }) => event === "task.created")).toBe(true));
  return { answer };
}

test("a credential that may only read can look at its earlier write and cannot cancel it", async () => {
  const node = createTestNode();
  const { answer } = await begin(node, "test.change", caller(["test:read", "test:write"]));
  const address = { workspaceId, taskId: node.newestTask() };
  expect(await node.service.findTask(caller(), address)).toMatchObject({ status: "working" });
  await expect(node.service.cancelTask(caller(["test:read"]), address)).rejects.toMatchObject({
    code: "insufficient_scope",
    data: { scopes: ["test:read", "test:write"] },
  });
  expect(node.writes).toEqual(["create test.change"]);
  await node.settle(address.taskId);
  await answer;
});

test("looking at a read task needs the scopes of its operation", async () => {
  const node = createTestNode();
  await node.service.call(caller(["test:read"], true), callOf("test.guarded"));
  const address = { workspaceId, taskId: node.newestTask() };
  expect(await node.service.findTask(caller(["test:read"]), address)).toMatchObject({ status: "working" });
  await expect(node.service.findTask(caller(), address)).rejects.toMatchObject({ code: "insufficient_scope" });
});

test("a task is found in its own workspace only", async () => {
  const node = createTestNode();
  await node.service.call(caller([], true), callOf("test.echo"));
  const elsewhere = { workspaceId: parseWorkspaceId("hidden") as WorkspaceId, taskId: node.newestTask() };
  await expect(node.service.findTask(caller(), elsewhere)).rejects.toMatchObject({ code: "task_not_found" });
});

test("a call whose caller left before it was admitted creates nothing", async () => {
  const node = createTestNode();
  const call = callOf("test.echo", AbortSignal.abort(new Error("gone")));
  await expect(node.service.call(caller(), call)).rejects.toThrow("gone");
  await expect(node.service.call(caller([], true), call)).rejects.toThrow("gone");
  await node.cancellations.idle();
  expect(node.writes.filter((write) => write.startsWith("create"))).toEqual([]);
});

test("a call that waited too long ends with a time-out and its task is cancelled", async () => {
  const node = createTestNode({ maxWaitMs: 20 });
  const call = callOf("test.echo");
  await expect(node.service.call(caller(), call)).rejects.toMatchObject({ code: "operation_timed_out" });
  await node.cancellations.idle();
  expect(await node.service.findTask(caller(), { workspaceId, taskId: node.newestTask() })).toMatchObject({ status: "cancelled" });
});

test("a call whose task somebody cancelled says so", async () => {
  const node = createTestNode();
  const { answer } = await begin(node, "test.echo", caller());
  await node.service.cancelTask(caller(), { workspaceId, taskId: node.newestTask() });
  expect(await answer).toEqual({ kind: "cancelled" });
});

test("a call whose grant is revoked while it waits ends like one without a grant", async () => {
  const node = createTestNode();
  const { answer } = await begin(node, "test.echo", caller());
  node.grants.splice(0);
  node.hub.hint("all");
  await expect(answer).rejects.toMatchObject({ code: "workspace_not_found" });
});

test("the cancellation for a caller that left is tried again until the store takes it", async () => {
  vi.useFakeTimers();
  const node = createTestNode();
  const controller = new AbortController();
  const answer = node.service.call(caller(), callOf("test.echo", controller.signal));
  const ending = answer.catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(0);
  node.faults.abandon = () => Promise.reject(new AppError("storage_unavailable", "away"));
  controller.abort(new Error("gone"));
  expect(await ending).toMatchObject({ message: "gone" });
  await vi.advanceTimersByTimeAsync(200);
  delete node.faults.abandon;
  await vi.advanceTimersByTimeAsync(1000);
  await node.cancellations.idle();
  expect(await node.service.findTask(caller(), { workspaceId, taskId: node.newestTask() })).toMatchObject({ status: "cancelled" });
});

test("a cancellation that the store never takes is given up with a line in the log", async () => {
  vi.useFakeTimers();
  const node = createTestNode();
  node.faults.abandon = () => Promise.reject(new AppError("storage_unavailable", "away"));
  await node.service.call(caller([], true), callOf("test.echo"));
  node.cancellations.abandon({ id: node.newestTask(), principal: principalOf("alice") }, "r-2");
  await vi.advanceTimersByTimeAsync(60_000);
  await node.cancellations.idle();
  const given = node.events.filter(({ name }) => name === "task.cancelRequested");
  expect(given).toMatchObject([{ event: { requestId: "r-2" }, error: { code: "storage_unavailable" } }]);
});

test("who names a workspace without a grant is told their own, and the same whether it exists or not", async () => {
  const node = createTestNode();
  const ask = (name: string) =>
    node.call({ method: "tools/call", params: { name: "test.echo", arguments: { workspaceId: name } }, token: "alice", tasks: true });
  const [foreign, unknown] = [await ask("hidden"), await ask("absent")];
  expect(foreign.error).toEqual({
    code: -32_602,
    message: "No such workspace, or no grant for it. You may work in: current.",
    data: { workspaceId: "hidden", workspaces: ["current"] },
  });
  expect(foreign.text.replaceAll("hidden", "absent")).toBe(unknown.text);
});
