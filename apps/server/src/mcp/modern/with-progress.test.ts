import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { toolResult } from "@holdfast/core";
import { openStream } from "../../../../../test/support/event-stream.ts";
import { toolCall } from "../../../../../test/support/mcp-request.ts";
import { createTestNode } from "../../testing/test-node.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const call = toolCall("test.fresh", {}, { token: "alice", meta: { progressToken: 0 }, id: 0 });

test("a silent call with a token shows that it is alive long before an idle connection is cut, and leaves no timer", async () => {
  const node = createTestNode();
  const opening = openStream("http://127.0.0.1/mcp", call, node.request);
  await vi.advanceTimersByTimeAsync(15_000);
  const stream = await opening;
  expect(stream.headers.get("Content-Type")).toBe("text/event-stream");
  const beat = await stream.next();
  expect(beat).toMatchObject({ method: "notifications/progress", params: { progressToken: 0 } });
  await vi.advanceTimersByTimeAsync(15_000);
  expect(Number((await stream.next())?.params?.["progress"])).toBeGreaterThan(Number(beat?.params?.["progress"]));
  await node.settle(node.newestTask(), { kind: "completed", result: toolResult({ text: "at last" }), artifacts: [] });
  await vi.advanceTimersByTimeAsync(0);
  expect(await stream.next()).toMatchObject({ id: 0, result: { content: [{ type: "text", text: "at last" }] } });
  expect(await stream.next()).toBeNull();
  expect(stream.comments).not.toEqual([]);
});

test.for(["success", "failure", "cancellation", "disconnect"])("after the call's %s none of its timers is left", async (end) => {
  const node = createTestNode();
  const controller = new AbortController();
  const answer = node.call({ ...call, signal: controller.signal }).catch(() => "gone");
  await vi.advanceTimersByTimeAsync(0);
  expect(vi.getTimerCount()).toBeGreaterThan(0);
  const id = node.newestTask();
  if (end === "success") await node.settle(id);
  if (end === "failure") {
    const reference = "018f4e7a-0000-7000-8000-000000000000";
    await node.settle(id, { kind: "failed", code: "operation_failed", reference, detail: "", retry: false });
  }
  if (end === "cancellation") await node.settle(id, { kind: "cancelled" });
  if (end === "disconnect") controller.abort();
  await answer;
  await node.cancellations.idle();
  await vi.advanceTimersByTimeAsync(0);
  expect(vi.getTimerCount()).toBe(0);
});
