import { toolResult, type Settlement } from "@holdfast/core";
import { createPublisher } from "@holdfast/db";
import { expect, test } from "vitest";
import { listenFor, openStream, showsTask } from "../support/event-stream.ts";
import { taskIdOf, toolCall } from "../support/mcp-request.ts";
import { createServerWorld, taskIdIn, type ServerWorld, type TestServer } from "../support/server-world.ts";
import { untilValue } from "../support/task-world.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";

const done: Settlement = { kind: "completed", result: toolResult({ text: "done" }), artifacts: [] };

async function begin(world: ServerWorld, node: TestServer, label: string): Promise<{ handle: string; token: string }> {
  const token = await world.token();
  return { token, handle: taskIdOf(await node.call(toolCall("slow_compute", { label }, { token, tasks: true }))) };
}

async function untilListener(node: TestServer, state: string): Promise<void> {
  const readiness = async (): Promise<unknown> => await (await fetch(new URL("/readyz", node.url))).json();
  await untilValue(readiness, (answer) => JSON.stringify(answer).includes(`"listener":"${state}"`), 30_000);
}

test("a listener whose packets vanish costs its streams time and no state: they learn all of it when it is back", async () => {
  await using world = await createServerWorld();
  await using wire = await startTcpProxy(world.url);
  // It does not look by itself while the test runs.
  await using node = await world.startNode({ DATABASE_LISTEN_URL: wire.url }, { listen: { timing: { fallbackMs: 600_000 } } });
  await untilListener(node, "up");
  const { handle, token } = await begin(world, node, "vanished");
  await using stream = await openStream(node.url, listenFor({ toolsListChanged: true, taskIds: [handle] }, { token }));
  await stream.next();
  wire.freeze();
  const publisher = createPublisher(world.database);
  await world.settle(handle, done, { silently: true });
  publisher.publish(taskIdIn(handle));
  await publisher.stop();
  await untilListener(node, "isolated");
  wire.cut();
  wire.mend();
  wire.thaw();
  // Neither its end nor what it may have missed of the lists, which have no state to read.
  const told = [await stream.next(), await stream.next()].map((message) => message?.method);
  expect(new Set(told)).toEqual(new Set(["notifications/tasks", "notifications/tools/list_changed"]));
});

test("while the listener stays away, a change is told within the fifteen seconds in which a node looks by itself", async () => {
  await using world = await createServerWorld();
  await using node = await world.startNode({ DATABASE_LISTEN_URL: "postgres://nobody@127.0.0.1:1/none" });
  const { handle, token } = await begin(world, node, "unheard");
  await using stream = await openStream(node.url, listenFor({ taskIds: [handle] }, { token }));
  await stream.next();
  await world.settle(handle, done);
  const settledAt = performance.now();
  await stream.until(showsTask("completed", handle));
  // And room for a slow machine.
  expect(performance.now() - settledAt).toBeLessThan(17_000);
});

test("a listener that is terminated a hundred times while tasks end under it loses none of their ends", async () => {
  await using world = await createServerWorld();
  await using node = await world.startNode({}, { listen: { timing: { fallbackMs: 600_000 } } });
  await untilListener(node, "up");
  const tasks = [];
  for (let index = 0; index < 20; index += 1) tasks.push(await begin(world, node, `terminated ${index}`));
  const token = tasks[0]?.token ?? "";
  await using stream = await openStream(node.url, listenFor({ taskIds: tasks.map(({ handle }) => handle) }, { token }));
  await stream.next();
  const terminate =
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'holdfast-server-listener' and datname = current_database()";
  const chaos = (async () => {
    for (let times = 0; times < 100; times += 1) await world.query(terminate);
  })();
  for (const { handle } of tasks) await world.settle(handle, done);
  await chaos;
  const ends = (await stream.rest()).filter(showsTask("completed")).map(({ params }) => params?.["taskId"]);
  expect(ends).toHaveLength(tasks.length);
  expect(new Set(ends)).toEqual(new Set(tasks.map(({ handle }) => handle)));
});
