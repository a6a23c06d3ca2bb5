import { testDatabase } from "@holdfast/db/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startBalancedService, type BalancedService } from "../support/balanced-service.ts";
import { modernCaller, taskIdOf, toolCall, type CallModern } from "../support/mcp-request.ts";
import { CONFORMANCE_PACK } from "../support/server-world.ts";
import { untilValue } from "../support/task-world.ts";

let cleanup: AsyncDisposableStack;
let service: BalancedService;
let call: CallModern;

beforeAll(async () => {
  cleanup = new AsyncDisposableStack();
  const { url, drop } = await testDatabase();
  cleanup.defer(drop);
  service = cleanup.use(await startBalancedService({ databaseUrl: url, packs: CONFORMANCE_PACK }));
  call = modernCaller(service.url);
});
afterAll(async () => {
  await cleanup.disposeAsync();
});

/** For an answer of a node that waits for no worker, on a machine that is busy with other tests. */
const AT_ONCE_MS = 2000;

async function job(tool: "job_inspect" | "job_cancel", jobId: string) {
  const askedAt = performance.now();
  const { result } = await call(toolCall(`conformance.${tool}`, { jobId }));
  return { job: result?.["structuredContent"], isAtOnce: performance.now() - askedAt < AT_ONCE_MS };
}

async function statusOf(taskId: string): Promise<string> {
  return String((await call({ method: "tasks/get", params: { taskId }, tasks: true })).result?.["statusMessage"]);
}

test("with every slot of every worker taken, jobs are inspected and cancelled at once", async () => {
  const labels = Array.from({ length: service.slots }, (_none, index) => `busy ${index}`);
  const busy = await Promise.all(
    labels.map(async (label) => taskIdOf(await call(toolCall("slow_compute", { seconds: 100, label }, { tasks: true })))),
  );
  // Each says that it computes once its operation has begun.
  for (const taskId of busy)
    await untilValue(
      () => statusOf(taskId),
      (message) => message.startsWith("computing"),
      15_000,
    );
  const waiting = taskIdOf(await call(toolCall("slow_compute", { seconds: 0, label: "waits for a slot" }, { tasks: true })));

  for (const taskId of busy)
    expect(await job("job_inspect", taskId)).toMatchObject({ isAtOnce: true, job: { jobId: taskId, status: "running" } });
  expect(await job("job_inspect", waiting)).toMatchObject({ isAtOnce: true, job: { status: "queued" } });
  expect(await job("job_cancel", waiting)).toMatchObject({ isAtOnce: true, job: { status: "cancelled" } });
  for (const taskId of busy) expect(await job("job_cancel", taskId)).toMatchObject({ isAtOnce: true, job: { cancelRequested: true } });
});
