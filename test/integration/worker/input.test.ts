import type { InputAnswer, InputMethod, JsonObject, TaskId } from "@holdfast/core";
import { createPostgresTaskManager, openDatabase } from "@holdfast/db";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { createTaskWorld, textOf, type TaskWorld } from "../../support/task-world.ts";
import { startTestWorker, type TestWorker } from "../../support/test-worker.ts";

let world: TaskWorld;
let worker: TestWorker;

beforeAll(async () => {
  world = await createTaskWorld();
  worker = await startTestWorker(world);
});
afterAll(async () => {
  await worker.stop();
  await world[Symbol.asyncDispose]();
});

const form = (message: string): JsonObject => ({
  message,
  requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
});
const elicitation = "elicitation/create";
const sampling = { messages: [{ role: "user", content: { type: "text", text: "Capital?" } }], maxTokens: 100 };
const accepted = (name: string): JsonObject => ({ action: "accept", content: { name } });
const answer = (key: string, given: JsonObject, method: InputMethod = elicitation): InputAnswer => ({ key, method, answer: given });
const saidSchema = z.object({ asked: z.string(), answers: z.array(z.record(z.string(), z.json())) });
const parked = (id: TaskId) => world.until(id, ({ status }) => status === "input_required", 10_000);
const update = (id: TaskId, ...answers: InputAnswer[]) => world.manager.update({ id, principal: world.principal }, answers);

test("a question ends the attempt and its process, and its answer starts another one that goes on", async () => {
  const id = await world.create("durable.ask", { rounds: [{ name: { method: elicitation, params: form("Who?") } }] });
  const task = await parked(id);
  expect(task.inputRequests).toEqual({ name: { method: elicitation, params: form("Who?") } });
  expect(await world.attempts(id)).toMatchObject([{ token: 1, state: "suspended" }]);
  expect(await world.query("select worker_id, parked from holdfast.live_task where task_id = $1", [id])).toEqual([
    { worker_id: null, parked: true },
  ]);
  await expect
    .poll(() => worker.events.map(({ event }) => ("reason" in event ? event.reason : "")), { timeout: 5_000 })
    .toContain("its operation ended as suspended");
  const [step] = await world.query("select value from holdfast.task_step where task_id = $1", [id]);
  await update(id, answer("name", accepted("Mara")));
  const said = saidSchema.parse(JSON.parse(textOf(await world.untilTerminal(id))));
  // The step before the question was not done again.
  expect(said).toEqual({ asked: step?.["value"], answers: [{ name: accepted("Mara") }] });
  expect(await world.attempts(id)).toMatchObject([{ state: "suspended" }, { token: 2, state: "succeeded" }]);
});

test("one call may ask in every way there is, and the next call asks again", async () => {
  const url = { mode: "url", message: "Sign in", url: "https://id.example.com/", elicitationId: "1" };
  const rounds = [
    {
      form: { method: elicitation, params: form("Who?") },
      url: { method: elicitation, params: url },
      model: { method: "sampling/createMessage", params: sampling },
      roots: { method: "roots/list", params: {} },
    },
    { form: { method: elicitation, params: form("Who?") }, again: { method: elicitation, params: form("Sure?") } },
  ];
  const id = await world.create("durable.ask", { rounds });
  expect(Object.keys((await parked(id)).inputRequests).toSorted()).toEqual(["form", "model", "roots", "url"]);
  const text = { role: "assistant", content: { type: "text", text: "Paris" }, model: "m" };
  await update(id, answer("form", accepted("a")), answer("roots", { roots: [] }, "roots/list"));
  await update(id, answer("url", { action: "accept" }), answer("model", text, "sampling/createMessage"));
  // Only what nobody has answered is asked.
  const second = await world.until(id, ({ inputRequests }) => "again" in inputRequests, 10_000);
  expect(Object.keys(second.inputRequests)).toEqual(["again"]);
  await update(id, answer("again", { action: "decline" }));
  expect(saidSchema.parse(JSON.parse(textOf(await world.untilTerminal(id)))).answers).toEqual([
    { form: accepted("a"), url: { action: "accept" }, model: text, roots: { roots: [] } },
    { form: accepted("a"), again: { action: "decline" } },
  ]);
});

test("what was answered before there was a task is not asked", async () => {
  const rounds = [{ name: { method: elicitation, params: form("Who?") } }];
  const id = await world.create("durable.ask", { rounds }, {}, { answers: [answer("name", accepted("early"))] });
  expect(saidSchema.parse(JSON.parse(textOf(await world.untilTerminal(id)))).answers).toEqual([{ name: accepted("early") }]);
  expect(await world.attempts(id)).toHaveLength(1);
});

test("no question is no wait", async () => {
  const id = await world.create("durable.ask", { rounds: [{}] });
  expect(saidSchema.parse(JSON.parse(textOf(await world.untilTerminal(id)))).answers).toEqual([{}]);
});

test("the last answer resumes the task once, also when two nodes take answers at the same moment", async () => {
  const rounds = [{ a: { method: elicitation, params: form("a") }, b: { method: elicitation, params: form("b") } }];
  await using other = new AsyncDisposableStack();
  const database = openDatabase({ url: world.url, applicationName: "holdfast-test-node", maxConnections: 1, onError: () => undefined });
  other.defer(database.close);
  const node = createPostgresTaskManager(database);
  for (let round = 0; round < 5; round += 1) {
    const id = await world.create("durable.ask", { rounds });
    await parked(id);
    const ref = { id, principal: world.principal };
    await Promise.all([update(id, answer("a", accepted("1"))), node.update(ref, [answer("b", accepted("2")), answer("a", accepted("3"))])]);
    await world.untilTerminal(id);
    expect(await world.attempts(id)).toMatchObject([{ state: "suspended" }, { state: "succeeded" }]);
  }
});

test.each([
  ["another content", [{ k: { method: elicitation, params: form("Who?") } }, { k: { method: elicitation, params: form("What?") } }]],
  ["another method", [{ k: { method: elicitation, params: form("Who?") } }, { k: { method: "roots/list", params: {} } }]],
])("a key that is asked again with %s is a mistake of the operation", async (_, rounds) => {
  const id = await world.create("durable.ask", { rounds });
  await parked(id);
  await update(id, answer("k", accepted("x")));
  expect(await world.untilTerminal(id)).toMatchObject({ status: "failed", outcome: { code: "operation_failed" } });
  expect((await world.attempts(id)).at(-1)?.detail).toContain("a key stands for one question");
});

test.each([
  ["a form without its schema", { k: { method: elicitation, params: { message: "Who?" } } }, /is no "elicitation\/create"/u],
  [
    "a URL that is none",
    { k: { method: elicitation, params: { mode: "url", message: "Go", url: "nowhere" } } },
    /is no "elicitation\/create"/u,
  ],
  ["sampling without a message", { k: { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } } }, /is no "sampling/u],
  ["a key with a space", { "a key": { method: "roots/list", params: {} } }, /is no key for a question/u],
  [
    "too many questions",
    Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`k${index}`, { method: "roots/list", params: {} }])),
    /more than 64/u,
  ],
])("%s is refused in the handler, and nobody is asked", async (_, round, reason) => {
  const id = await world.create("durable.ask", { rounds: [round] });
  expect(await world.untilTerminal(id)).toMatchObject({ status: "failed", outcome: { code: "operation_failed" } });
  expect((await world.attempts(id)).at(-1)?.detail).toMatch(reason);
  expect(await world.query("select from holdfast.task_input where task_id = $1", [id])).toEqual([]);
});

test("a question that was answered before there was a task needs no mention in the manifest", async () => {
  const id = await world.create("durable.ask_secretly", {}, {}, { answers: [answer("secret", { roots: [] }, "roots/list")] });
  expect(await world.untilTerminal(id)).toMatchObject({ status: "completed" });
});

test("an operation asks only what its manifest says, so that clients are warned before there is a task", async () => {
  const id = await world.create("durable.ask_secretly");
  expect(await world.untilTerminal(id)).toMatchObject({ status: "failed", outcome: { code: "operation_failed" } });
  expect((await world.attempts(id)).at(-1)?.detail).toContain("which the manifest of the operation does not list");
});

test("a parked task that is cancelled ends at once and drops its questions", async () => {
  const id = await world.create("durable.ask", { rounds: [{ k: { method: "roots/list", params: {} } }] });
  await parked(id);
  expect(await world.cancel(id)).toMatchObject({ status: "cancelled", inputRequests: {} });
});
