import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { toolResult } from "@holdfast/core";
import { taskIdOf, toolCall, type Answer } from "../../../../test/support/mcp-request.ts";
import { createTestNode, type TestNode } from "../testing/test-node.ts";
import { askText } from "../testing/test-pack.ts";

const token = "alice";
const submit = async (node: TestNode): Promise<string> => taskIdOf(await node.call(toolCall("test.fresh", {}, { token, tasks: true })));
const inspect = (node: TestNode, jobId: string, extra = {}): Promise<Answer> =>
  node.call(toolCall("test.job_inspect", { jobId }, { token, ...extra }));
const cancel = (node: TestNode, jobId: string, extra = {}): Promise<Answer> =>
  node.call(toolCall("test.job_cancel", { jobId }, { token, ...extra }));

test("a job is reported from the queue to its question, for callers that declare tasks or not", async () => {
  const node = createTestNode();
  const jobId = await submit(node);
  const report = async (): Promise<unknown> => (await inspect(node, jobId, { tasks: true })).result?.["structuredContent"];
  expect(await report()).toMatchObject({ jobId, status: "queued", tool: "test.fresh", progress: null, cancelRequested: false });
  const attempt = await node.claim(node.newestTask());
  await node.store.renew([{ attempt, progress: { value: 3, total: 10, message: "parsing" } }], 60_000);
  expect(await report()).toMatchObject({ status: "running", progress: { value: 3, total: 10, message: "parsing" } });
  await node.store.settle(attempt, { kind: "suspended", requests: { name: askText("Your name?") } });
  const { result } = await inspect(node, jobId);
  expect(result).toMatchObject({ resultType: "complete", structuredContent: { status: "input_required" } });
  expect(result?.["content"]).toEqual([{ type: "text", text: JSON.stringify(result?.["structuredContent"]) }]);
});

test("a completed job answers with the original result, byte for byte", async () => {
  const node = createTestNode();
  const jobId = await submit(node);
  const result = { isError: true, structuredContent: { z: 1, a: "\u0000\ud800" }, content: [{ text: "x", type: "text" as const }] };
  await node.settle(node.newestTask(), { kind: "completed", result, artifacts: [] });
  expect((await inspect(node, jobId)).text).toContain(JSON.stringify(result).slice(1, -1));
});

test("a failed job says why, and nothing of what operators see", async () => {
  const node = createTestNode();
  const jobId = await submit(node);
  const reference = randomUUID();
  await node.settle(node.newestTask(), { kind: "failed", code: "operation_timed_out", reference, detail: "secret", retry: false });
  const answer = await inspect(node, jobId);
  expect(answer.result?.["structuredContent"]).toMatchObject({
    status: "failed",
    error: { message: "The operation exceeded its time limit.", reference },
  });
  expect(answer.text).not.toContain("secret");
});

test("cancelling a queued job ends it, a running one is asked to end, and one that is over stays as it is", async () => {
  const node = createTestNode();
  const queued = await submit(node);
  const cancelled = (await cancel(node, queued)).result?.["structuredContent"];
  expect(cancelled).toMatchObject({ status: "cancelled" });
  expect(cancelled).not.toHaveProperty("cancelRequested");
  const running = await submit(node);
  const attempt = await node.claim(node.newestTask());
  expect((await cancel(node, running)).result).toMatchObject({ structuredContent: { status: "running", cancelRequested: true } });
  await node.store.settle(attempt, { kind: "completed", result: toolResult({ text: "done" }), artifacts: [] });
  expect((await cancel(node, running)).result).toMatchObject({ structuredContent: { status: "completed" } });
  expect((await inspect(node, running)).result).toMatchObject({ content: [{ text: "done" }] });
});

test("inspecting and cancelling create no task and start nothing (C13.1)", async () => {
  const node = createTestNode();
  const jobId = await submit(node);
  for (let times = 0; times < 3; times += 1) await inspect(node, jobId, { tasks: true });
  await cancel(node, jobId, { tasks: true });
  expect(node.writes).toEqual(["create test.fresh", "cancel"]);
});

test("jobs that are unknown, foreign, malformed, expired or elsewhere answer alike (C2.4)", async () => {
  const node = createTestNode();
  const own = await submit(node);
  const foreign = taskIdOf(await node.call(toolCall("test.fresh", {}, { token: "bob", tasks: true })));
  const answers: Answer[] = [];
  for (const tool of ["test.job_inspect", "test.job_cancel"]) {
    for (const jobId of [foreign, `${own}x`, own.toUpperCase(), "nonsense", "", "\u0000", "x".repeat(5000)])
      answers.push(await node.call(toolCall(tool, { jobId }, { token })));
    answers.push(await node.call(toolCall(tool, { jobId: own, workspaceId: "hidden" }, { token })));
  }
  node.grants.splice(0);
  answers.push(await inspect(node, own), await cancel(node, own));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(answers[0]?.error).toEqual({ code: -32_602, message: "Task not found." });
});

test("cancelling a write takes the scopes of its operation, and looking at it does not (C2.5)", async () => {
  const node = createTestNode();
  const change = toolCall("test.change", { requestKey: "k" }, { token: "alice~test_read+test_write", tasks: true });
  const jobId = taskIdOf(await node.call(change));
  expect((await inspect(node, jobId)).result).toMatchObject({ structuredContent: { status: "queued" } });
  expect(await cancel(node, jobId)).toMatchObject({ status: 403, error: { data: { scopes: ["test:read", "test:write"] } } });
  expect((await inspect(node, jobId)).result).toMatchObject({ structuredContent: { status: "queued" } });
});

test.for<[unknown, string]>([
  [{}, "jobId"],
  [{ jobId: 7 }, "jobId"],
  [{ jobId: "x", taskId: "y" }, "taskId"],
  [{ jobId: "x", workspaceId: "No Such" }, "workspaceId"],
  [[], "arguments"],
])("arguments %j are refused by name", async ([args, path]) => {
  const node = createTestNode();
  const answer = await node.call(toolCall("test.job_inspect", args, { token }));
  expect(answer.error).toMatchObject({ code: -32_602, data: { issues: [{ path }] } });
});
