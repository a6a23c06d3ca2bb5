import { randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject, TaskId } from "@holdfast/core";
import { createTaskWorld, textOf, untilValue, type TaskWorld } from "../../support/task-world.ts";
import { startTestWorker, type TestWorker } from "../../support/test-worker.ts";

let world: TaskWorld;
let worker: TestWorker;

beforeAll(async () => {
  world = await createTaskWorld();
  worker = await startTestWorker(world);
  await writeFile(path.join(world.root, "mod", "source.txt"), "source");
});
afterAll(async () => {
  await worker.stop();
  await world[Symbol.asyncDispose]();
});

const newAddress = () => randomBytes(32).toString("hex");
const read = (contentAddress: string | null, input: JsonObject = {}) => world.create("durable.once", input, {}, { contentAddress });
const textAfter = async (id: TaskId) => textOf(await world.untilTerminal(id));
const publications = (id: TaskId) =>
  worker.events.flatMap(({ name, event }) => (name === "result.published" && "from" in event && event.taskId === id ? [event.from] : []));

test("an identical read of unchanged files has the first one's result, artifacts included, without running", async () => {
  const address = newAddress();
  const first = await world.untilTerminal(await read(address, { links: 2 }));
  const id = await read(address, { links: 2 });
  const second = await world.untilTerminal(id);
  expect(second).toMatchObject({ status: "completed", outcome: first.outcome });
  expect(publications(id)).toEqual(["reusable"]);
  const links = await world.query("select sha256 from holdfast.task_artifact where task_id = $1", [id]);
  expect(links).toHaveLength(2);
  // And so may the next one have that of the second.
  expect(await textAfter(await read(address, { links: 2 }))).toBe(textOf(first));
});

test.each<[string, () => Promise<unknown>]>([
  ["a file changed", () => writeFile(path.join(world.root, "mod", "source.txt"), "ecruos")],
  ["a file came", () => writeFile(path.join(world.root, "mod", "other.txt"), "")],
  ["a file went", () => rm(path.join(world.root, "mod", "other.txt"))],
])("the read is done again when %s", async (_, change) => {
  const address = newAddress();
  const first = await textAfter(await read(address));
  await change();
  const id = await read(address);
  expect(await textAfter(id)).not.toBe(first);
  expect(publications(id)).toEqual([]);
});

test("a result that was made while the files changed is good for its own task, and for no other", async () => {
  const address = newAddress();
  const stay = () => world.create("durable.stay", { after: "while-it-ran.txt" }, {}, { contentAddress: address });
  const id = await stay();
  // Its checkpoint shows that the operation runs, on the files as they were.
  const checkpoint = () => world.query("select from holdfast.task_checkpoint where task_id = $1", [id]);
  await untilValue(checkpoint, (rows) => rows.length === 1, 20_000);
  await writeFile(path.join(world.root, "mod", "while-it-ran.txt"), "");
  await world.untilTerminal(id);
  expect(await world.query("select source_revision from holdfast.task_result where task_id = $1", [id])).toEqual([
    { source_revision: null },
  ]);
  const next = await stay();
  await world.untilTerminal(next);
  expect(publications(next)).toEqual([]);
});

test("a result that was changed in the store is made again, and operators are told", async () => {
  const address = newAddress();
  const first = await read(address);
  await textAfter(first);
  await world.query(`update holdfast.task_result set result = '{"content":[{"type":"text","text":"forged"}]}' where task_id = $1`, [first]);
  const id = await read(address);
  expect(await textAfter(id)).not.toBe("forged");
  expect(worker.events).toContainEqual({ name: "seal.refused", event: { taskId: id, record: "staged result" } });
});

test("a result whose seal another service made is not believed", async () => {
  const address = newAddress();
  const first = await textAfter(await read(address));
  await worker.stop();
  const elsewhere = { ...world, keys: `k1:${randomBytes(32).toString("base64url")}` };
  await using stranger = await startTestWorker(elsewhere);
  expect(await textAfter(await read(address))).not.toBe(first);
  await stranger.stop();
  worker = await startTestWorker(world);
});
