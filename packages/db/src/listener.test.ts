import { createServer, type AddressInfo } from "node:net";
import type { TaskId, Telemetry } from "@holdfast/core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createListener, type Listener, type ListenerOptions } from "./listener.ts";
import { createPublisher } from "./publisher.ts";
import { newTaskId, openBench, type Bench } from "./testing/bench.ts";
import { startProxy, withoutNotifications } from "./testing/tcp-proxy.ts";

/** How long a condition may take on a machine that does other things too. */
const soon = { timeout: 10_000 };

let bench: Bench;
const started: Listener[] = [];
beforeAll(async () => {
  bench = await openBench();
});
afterEach(async () => {
  for (const listener of started.splice(0)) await listener.stop();
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

interface Ear {
  readonly listener: Listener;
  readonly hints: (readonly TaskId[] | "all")[];
  /** Names of the events, `listener.` left out, with the reason of an isolation. */
  readonly events: string[];
}

/** A listener that pings often, with what it told. */
function listen(changes: Partial<ListenerOptions> = {}): Ear {
  const hints: Ear["hints"] = [];
  const events: string[] = [];
  const telemetry: Telemetry = {
    emit: (name, event) => events.push([name.replace("listener.", ""), "reason" in event ? event.reason : ""].join(" ").trim()),
  };
  const listener = createListener({
    url: bench.url,
    applicationName: "ear",
    database: bench.database,
    onHint: (hint) => hints.push(hint),
    telemetry,
    pingEveryMs: 50,
    pingDeadlineMs: 5_000,
    ...changes,
  });
  started.push(listener);
  listener.start();
  return { listener, hints, events };
}

const isUp = async ({ listener }: Ear): Promise<void> => expect.poll(() => listener.state, { timeout: 10_000 }).toBe("up");

test("a listener comes up, asks to look at everything once, and passes on the ids that others publish", async () => {
  const ear = listen();
  await isUp(ear);
  expect(ear.hints).toEqual(["all"]);
  const publisher = createPublisher(bench.open());
  const ids = Array.from({ length: 3 }, newTaskId);
  for (const id of ids) publisher.publish(id);
  await publisher.stop();
  await expect.poll(() => ear.hints, soon).toEqual(["all", ids]);
  expect(ear.events).toEqual(["up"]);
});

test.each(["*", "", "not an id", `${"0".repeat(36)},x`])("the payload %j means: look yourself", async (payload) => {
  const ear = listen();
  await isUp(ear);
  await bench.sql("select pg_notify('holdfast_task', $1)", [payload]);
  await expect.poll(() => ear.hints, soon).toEqual(["all", "all"]);
});

test("a list that changed is told as such, and every list once after nobody listened", async () => {
  const lists: string[] = [];
  const ear = listen({ onList: (list) => lists.push(list) });
  await isUp(ear);
  expect(lists.splice(0)).toEqual(["tools", "prompts", "resources"]);
  const publisher = createPublisher(bench.open());
  const id = newTaskId();
  publisher.announce("prompts");
  publisher.publish(id);
  await publisher.stop();
  await expect.poll(() => ear.hints, soon).toEqual(["all", [id]]);
  expect(lists).toEqual(["prompts"]);
  await bench.sql("notify holdfast_task, 'list:tools'");
  await expect.poll(() => lists, soon).toEqual(["prompts", "tools"]);
  expect(ear.hints).toHaveLength(2);
});

test("a list that this release does not know is a reason to look", async () => {
  const ear = listen();
  await isUp(ear);
  await bench.sql("notify holdfast_task, 'list:menus'");
  await expect.poll(() => ear.hints, soon).toEqual(["all", "all"]);
});

test("pings of other nodes are not hints", async () => {
  const [one, other] = [listen(), listen()];
  await Promise.all([isUp(one), isUp(other)]);
  const before = await pings();
  await expect.poll(pings, soon).toBeGreaterThan(before + 4);
  expect(one.hints).toEqual(["all"]);
  expect(other.hints).toEqual(["all"]);
});

test("a listener whose backend was terminated comes back, and asks to look at what it missed", async () => {
  const ear = listen();
  await isUp(ear);
  await bench.sql("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'ear'");
  await expect.poll(() => ear.hints, soon).toEqual(["all", "all"]);
  expect(ear.events).toEqual(["up", expect.stringMatching(/^isolated .*terminat/u), "up"]);
  const id = newTaskId();
  await bench.sql("select pg_notify('holdfast_task', $1)", [id]);
  await expect.poll(() => ear.hints, soon).toEqual(["all", "all", [id]]);
});

test("a connection whose packets vanish is found out and replaced, though no socket ever closes", async () => {
  const proxy = await startProxy(new URL(bench.url));
  const ear = listen({ url: proxy.url, pingDeadlineMs: 300 });
  await isUp(ear);
  proxy.swallow();
  await expect.poll(() => ear.listener.state, { timeout: 5_000 }).toBe("isolated");
  expect(ear.events[1]).toMatch(/^isolated .*did not come back within 300 ms/u);
  proxy.restore();
  await expect.poll(() => ear.hints, { timeout: 15_000 }).toEqual(["all", "all"]);
  expect(ear.listener.state).toBe("up");
  await ear.listener.stop();
  await proxy.close();
});

test("behind a transaction pooler it stays isolated, says why once, and keeps trying", async () => {
  let connections = 0;
  const fromServer = () => {
    connections += 1;
    return withoutNotifications();
  };
  const pooler = await startProxy(new URL(bench.url), { fromServer });
  const ear = listen({ url: pooler.url, pingDeadlineMs: 100 });
  await expect.poll(() => connections, { timeout: 10_000 }).toBeGreaterThanOrEqual(3);
  expect(ear.listener.state).toBe("isolated");
  expect(ear.events).toEqual([expect.stringMatching(/^isolated .*transaction pooler.*direct connection.*polling/u)]);
  expect(ear.hints).toEqual([]);
  await ear.listener.stop();
  await pooler.close();
});

describe("a listener that cannot reach its database", () => {
  test("is isolated, says so once, and stops at once", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const ear = listen({ url: `postgres://nobody@127.0.0.1:${port}/nothing` });
    await expect.poll(() => ear.events, soon).toHaveLength(1);
    expect(ear.events[0]).toMatch(/^isolated .*ECONNREFUSED/u);
    await ear.listener.stop();
    expect(ear.listener.state).toBe("stopped");
    expect(ear.events).toHaveLength(1);
  });

  test("is isolated also when only its pings cannot be sent", async () => {
    const database = bench.open();
    await database.close();
    const ear = listen({ database });
    await expect.poll(() => ear.events, soon).toHaveLength(1);
    expect(ear.listener.state).toBe("isolated");
  });
});

test("stopping ends the connection, in every phase and more than once", async () => {
  const ear = listen();
  await ear.listener.stop();
  ear.listener.start();
  expect(ear.listener.state).toBe("stopped");
  const second = listen({ applicationName: "short-lived" });
  await isUp(second);
  await Promise.all([second.listener.stop(), second.listener.stop()]);
  expect(second.listener.state).toBe("stopped");
  await expect.poll(() => bench.sql("select from pg_stat_activity where application_name = 'short-lived'"), soon).toEqual([]);
});

/** How many pings the database has passed on so far. */
async function pings(): Promise<number> {
  const rows = await bench.database.reserved.query<{ uses: string }>(
    "select sum(generic_plans + custom_plans) as uses from pg_prepared_statements where name = 'ping the listener'",
  );
  return Number(rows.rows[0]?.uses ?? 0);
}
