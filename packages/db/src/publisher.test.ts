import type { TaskId } from "@holdfast/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabase } from "./pool.ts";
import { createPublisher } from "./publisher.ts";
import { alice, newTaskId, openBench, type Bench } from "./testing/bench.ts";
import { storeArtifact } from "./writes/store-artifact.ts";

/** How long a condition may take on a machine that does other things too. */
const soon = { timeout: 10_000 };

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

/** Collects what is sent to the channel until `payloads` is asked, which sees everything that was committed before. */
async function tap() {
  const client = await bench.session();
  const received: string[] = [];
  client.on("notification", ({ payload = "" }) => received.push(payload));
  await client.query("listen holdfast_task");
  return {
    payloads: async (): Promise<readonly string[]> => {
      await bench.sql("notify holdfast_task, 'end'");
      await expect.poll(() => received.at(-1), soon).toBe("end");
      return received.slice(0, -1);
    },
  };
}

test("two hundred changes of one moment are one notification with all their ids", async () => {
  const { payloads } = await tap();
  const publisher = createPublisher(bench.database);
  const ids = Array.from({ length: 200 }, newTaskId);
  for (const id of ids) publisher.publish(id);
  await publisher.stop();
  expect(await payloads()).toEqual([ids.join(",")]);
});

test("a thousand changes of one moment are one notification that says: look yourself", async () => {
  const { payloads } = await tap();
  const publisher = createPublisher(bench.database);
  for (let count = 0; count < 1_000; count += 1) publisher.publish(newTaskId());
  await publisher.stop();
  expect(await payloads()).toEqual(["*"]);
});

test("a notification stays below what Postgres takes", async () => {
  const { payloads } = await tap();
  const publisher = createPublisher(bench.database);
  for (let count = 0; count < 213; count += 1) publisher.publish(newTaskId());
  await publisher.stop();
  const [payload = ""] = await payloads();
  expect(payload.split(",")).toHaveLength(213);
  expect(Buffer.byteLength(payload)).toBeLessThan(8_000);
});

test("a steady stream of changes is at most one notification for each ten milliseconds, and loses none", async () => {
  const { payloads } = await tap();
  const publisher = createPublisher(bench.database);
  const ids = new Set<TaskId>();
  const start = performance.now();
  while (performance.now() - start < 300) {
    const id = newTaskId();
    ids.add(id);
    publisher.publish(id);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const elapsed = performance.now() - start;
  await publisher.stop();
  const sent = await payloads();
  expect(sent.length).toBeLessThanOrEqual(elapsed / 10 + 2);
  const announced = new Set(sent.flatMap((payload) => payload.split(",")));
  expect([...ids].filter((id) => !announced.has(id) && !announced.has("*"))).toEqual([]);
});

test("a change that is published twice is announced once", async () => {
  const { payloads } = await tap();
  const publisher = createPublisher(bench.database);
  const id = newTaskId();
  publisher.publish(id);
  publisher.publish(id);
  await publisher.stop();
  expect(await payloads()).toEqual([id]);
});

test("a stopped publisher sends nothing more", async () => {
  const { payloads } = await tap();
  const publisher = createPublisher(bench.database);
  await publisher.stop();
  publisher.publish(newTaskId());
  await publisher.stop();
  expect(await payloads()).toEqual([]);
});

test("a database that is away costs the hint, not the caller", async () => {
  const errors: Error[] = [];
  const database = openDatabase({ url: bench.url, applicationName: "away", maxConnections: 1, onError: (error) => errors.push(error) });
  await database.close();
  const publisher = createPublisher(database);
  publisher.publish(newTaskId());
  await publisher.stop();
  expect(errors.map(({ message }) => message)).toEqual(["could not publish hints: nodes learn of the changes when they poll"]);
});

test("no transaction of a task sends a notification on the channel", async () => {
  const { payloads } = await tap();
  const { id } = await bench.createTask();
  const first = await bench.claim(id);
  await bench.ledger.renew([{ attempt: first, progress: { value: 1, total: 2, message: "half" } }], 0);
  await storeArtifact(bench.database, first, { bytes: Buffer.from("x"), name: "x", mimeType: "text/plain" });
  await bench.ledger.reap(10);
  await bench.manager.requestCancellation({ id, principal: alice });
  const second = await bench.claim((await bench.createTask()).id);
  await bench.ledger.settle(second, { kind: "completed", result: { content: [] }, artifacts: [] });
  expect(await payloads()).toEqual([]);
});

test("the lists that changed are named once, beside the ids, and also when those are too many", async () => {
  const { payloads } = await tap();
  const publisher = createPublisher(bench.database);
  const id = newTaskId();
  publisher.announce("tools");
  publisher.publish(id);
  publisher.announce("tools");
  await publisher.stop();
  const busy = createPublisher(bench.database);
  busy.announce("prompts");
  for (let count = 0; count < 1_000; count += 1) busy.publish(newTaskId());
  await busy.stop();
  expect(await payloads()).toEqual([`list:tools,${id}`, "list:prompts,*"]);
});
