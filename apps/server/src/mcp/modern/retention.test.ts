import { expect, onTestFinished, test, vi } from "vitest";
import { toolCall } from "../../../../../test/support/mcp-request.ts";
import { createTestNode } from "../../testing/test-node.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const ask = (ttlMs: unknown, tasks = true) => toolCall("test.echo", {}, { token: "alice", tasks, meta: { "holdfast/ttlMs": ttlMs } });

test.for<[unknown, number]>([
  [undefined, DAY_MS],
  [3_600_000, 3_600_000],
  [1, 60_000],
  [30 * DAY_MS, 7 * DAY_MS],
  [Number.MAX_SAFE_INTEGER, 7 * DAY_MS],
  [2 ** 53, 7 * DAY_MS],
  [null, 7 * DAY_MS],
])("who wants to find the result for %j ms is told %i (C12.1)", async ([asked, ttlMs]) => {
  const { result } = await createTestNode().call(ask(asked));
  expect(result).toMatchObject({ resultType: "task", ttlMs });
});

test.for([0, -1, 0.5, "60000", true, {}, [60_000]])("a retention of %j is refused before anything is created", async (asked) => {
  const node = createTestNode();
  for (const tasks of [true, false])
    expect((await node.call(ask(asked, tasks))).error).toMatchObject({
      code: -32_602,
      data: { issues: [{ path: "_meta.holdfast/ttlMs" }] },
    });
  expect(node.writes).toEqual([]);
});

test("an ordinary call gets its result however much longer than the wanted retention it took", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const node = createTestNode();
  const answer = node.call(ask(60_000, false));
  await expect.poll(() => node.created.length).toBe(1);
  vi.setSystemTime(Date.now() + 20 * 60_000);
  await node.settle(node.newestTask());
  expect((await answer).result).toMatchObject({ resultType: "complete", content: [{ type: "text", text: "done" }] });
});
