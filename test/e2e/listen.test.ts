import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { readWorkerConfig, startWorker } from "@holdfast/worker";
import { expect, test } from "vitest";
import { z } from "zod";
import { modernCaller, taskIdOf, toolCall } from "../support/mcp-request.ts";
import { startRoundRobinProxy } from "../support/round-robin-proxy.ts";
import { createServerWorld } from "../support/server-world.ts";

const taskParams = z.looseObject({ taskId: z.string(), status: z.string() });
type TaskParams = z.infer<typeof taskParams>;

test("the official client hears through a load balancer what a worker does with its task, to the result", async () => {
  await using cleanup = new AsyncDisposableStack();
  const world = cleanup.use(await createServerWorld());
  const root = await realpath(await mkdtemp(path.join(tmpdir(), "holdfast-root-")));
  cleanup.defer(() => rm(root, { recursive: true, force: true }));
  const nodes = [await world.startNode(), await world.startNode()];
  for (const node of nodes) cleanup.use(node);
  const proxy = cleanup.use(await startRoundRobinProxy());
  proxy.targets = nodes.map(({ url }) => url);
  const { DATABASE_URL, HOLDFAST_KEYS, HOLDFAST_PACKS } = world.environment();
  const worker = await startWorker(
    readWorkerConfig({ DATABASE_URL, HOLDFAST_KEYS, HOLDFAST_PACKS, HOLDFAST_ROOTS: `mods=${root}`, HOLDFAST_LOG_LEVEL: "silent" }),
    { telemetry: { emit: () => undefined } },
  );
  cleanup.defer(() => worker.stop());

  const token = await world.token();
  const url = `${proxy.origin}/mcp`;
  const client = new Client(
    { name: "holdfast-tests", version: "1" },
    { versionNegotiation: { mode: "auto" }, capabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }));
  cleanup.defer(() => client.close());
  const heard: TaskParams[] = [];
  client.setNotificationHandler("notifications/tasks", { params: taskParams }, (params) => void heard.push(params));

  const call = toolCall("slow_compute", { label: "heard of", seconds: 1 }, { token, tasks: true });
  const handle = taskIdOf(await modernCaller(url)(call));
  // The client's type of a filter has no extensions; what it sends has them.
  const subscription = await client.listen({ taskIds: [handle] } as Parameters<typeof client.listen>[0]);
  await expect.poll(() => heard.at(-1)?.status, { timeout: 30_000 }).toBe("completed");
  expect(heard.at(-1)).toMatchObject({ taskId: handle, result: { structuredContent: { seconds: 1, label: "heard of" } } });
  expect(await subscription.closed).toBe("graceful");
});
