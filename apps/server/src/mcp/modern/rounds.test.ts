import { randomBytes } from "node:crypto";
import { expect, test, vi } from "vitest";
import { toolResult, type InputRequests } from "@holdfast/core";
import { taskIdOf, type Answer, type ModernRequest } from "../../../../../test/support/mcp-request.ts";
import { createTestNode, type TestNode } from "../../testing/test-node.ts";
import { askText, sayText } from "../../testing/test-pack.ts";

const token = "alice";
const capabilities = { elicitation: {}, roots: {} };

const askFirst = (params: Record<string, unknown> = {}, extra: Partial<ModernRequest> = {}): ModernRequest => ({
  method: "tools/call",
  params: { name: "test.ask_first", arguments: {}, ...params },
  token,
  tasks: true,
  capabilities,
  ...extra,
});
const askMidway = (params: Record<string, unknown> = {}, extra: Partial<ModernRequest> = {}): ModernRequest => ({
  method: "tools/call",
  params: { name: "test.ask_midway", arguments: {}, ...params },
  token,
  capabilities,
  ...extra,
});

const stateOf = (answer: Answer): string => {
  expect(answer.result).toMatchObject({ resultType: "input_required" });
  const state = answer.result?.["requestState"];
  if (typeof state !== "string") throw new Error("the answer carries no state");
  return state;
};

/** Lets the newest task ask, as its worker would. */
async function park(node: TestNode, requests: InputRequests): Promise<void> {
  await node.settle(node.newestTask(), { kind: "suspended", requests });
}

/** An ordinary call that has come to its question. */
async function parkedCall(node: TestNode): Promise<Answer> {
  const call = node.call(askMidway());
  await vi.waitFor(() => expect(node.events.map(({ name }) => name)).toContain("task.created"));
  await park(node, { name: askText("Your name?"), where: { method: "roots/list", params: {} } });
  return await call;
}

test("questions before a task go round by round, and the task that follows knows the answers", async () => {
  const node = createTestNode();
  const first = await node.call(askFirst());
  expect(first.result).toMatchObject({ inputRequests: { name: askText("Your name?") } });
  const second = await node.call(askFirst({ inputResponses: { name: sayText("Ada") }, requestState: stateOf(first) }));
  expect(second.result).toMatchObject({ inputRequests: { colour: askText("A colour?") } });
  expect(stateOf(second)).not.toBe(stateOf(first));
  expect(node.writes).toEqual([]);
  const third = await node.call(askFirst({ inputResponses: { colour: sayText("blue") }, requestState: stateOf(second) }));
  taskIdOf(third);
  expect(third.result).not.toHaveProperty("requestState");
  expect(node.created).toMatchObject([
    {
      answers: [
        { key: "name", method: "elicitation/create", answer: sayText("Ada") },
        { key: "colour", method: "elicitation/create", answer: sayText("blue") },
      ],
    },
  ]);
});

test("any node of the service continues a round, also after its keys were rotated", async () => {
  const [old, young] = [
    { id: "k1", secret: randomBytes(32) },
    { id: "k2", secret: randomBytes(32) },
  ];
  const first = await createTestNode({ keys: [old] }).call(askFirst());
  const retry = askFirst({ inputResponses: { name: sayText("Ada"), colour: sayText("blue") }, requestState: stateOf(first) });
  taskIdOf(await createTestNode({ keys: [young, old] }).call(retry));
  expect((await createTestNode({ keys: [young] }).call(retry)).error).toMatchObject({ code: -32_602 });
});

test.for<[string, Record<string, unknown>]>([
  ["nothing", {}],
  ["an answer to something else", { nmae: sayText("Ada") }],
  ["an answer of another kind", { name: { roots: [] } }],
  ["something that is no answer", { name: { text: "Ada" } }],
  ["an answer wrapped in its method", { name: { method: "elicitation/create", result: sayText("Ada") } }],
  ["an answer that is not believed", { name: sayText("") }],
])("a client that sends %s is asked again", async ([, inputResponses]) => {
  const node = createTestNode();
  const first = await node.call(askFirst());
  const again = await node.call(askFirst({ inputResponses, requestState: stateOf(first) }));
  expect(again.result).toMatchObject({ resultType: "input_required", inputRequests: { name: askText("Your name?") } });
  expect(node.writes).toEqual([]);
});

test.for<[string, Partial<ModernRequest>, Record<string, unknown>]>([
  ["another principal", { token: "bob" }, {}],
  ["another tool", {}, { name: "test.echo" }],
  ["other arguments", {}, { arguments: { topic: "other" } }],
])("the state of a round is refused from %s, and nothing is written", async ([, extra, params]) => {
  const node = createTestNode();
  const requestState = stateOf(await node.call(askFirst()));
  const answer = await node.call(askFirst({ ...params, inputResponses: { name: sayText("Ada") }, requestState }, extra));
  expect(answer).toMatchObject({ status: 200, error: { code: -32_602, message: expect.stringContaining("requestState") as string } });
  expect(node.writes).toEqual([]);
});

test("a state that is altered, expired or no text is refused, and nothing is written", async () => {
  const node = createTestNode();
  const requestState = stateOf(await node.call(askFirst()));
  for (const altered of [`${requestState}A`, requestState.slice(1), "", "x", 7, null, {}]) {
    const answer = await node.call(askFirst({ inputResponses: { name: sayText("Ada") }, requestState: altered }));
    expect(answer).toMatchObject({ status: 200, error: { code: -32_602 } });
  }
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61 * 60_000 });
  try {
    expect((await node.call(askFirst({ requestState }))).error).toMatchObject({ code: -32_602 });
  } finally {
    vi.useRealTimers();
  }
  expect(node.writes).toEqual([]);
});

test("an operation that asks is refused to a client that cannot answer, before anything is created", async () => {
  const node = createTestNode();
  const blind = await node.call(askFirst({}, { capabilities: {} }));
  expect(blind).toMatchObject({ status: 400, error: { code: -32_021, data: { requiredCapabilities: { elicitation: { form: {} } } } } });
  const partly = await node.call(askMidway({}, { capabilities: { elicitation: {} } }));
  expect(partly).toMatchObject({ status: 400, error: { code: -32_021, data: { requiredCapabilities: { roots: {} } } } });
  expect(node.writes).toEqual([]);
});

test("what was answered before belongs to the address of a read", async () => {
  const node = createTestNode();
  for (const name of ["Ada", "Ada", "Eve"]) {
    taskIdOf(await node.call(askFirst({ inputResponses: { name: sayText(name), colour: sayText("blue") } })));
  }
  const [first, second, third] = node.created.map(({ contentAddress }) => contentAddress);
  expect(second).toBe(first);
  expect(third).not.toBe(first);
});

test("an ordinary call whose task parks asks its caller, and goes on with the answers", async () => {
  const node = createTestNode();
  const asked = await parkedCall(node);
  expect(asked.result).toMatchObject({
    resultType: "input_required",
    inputRequests: { name: askText("Your name?"), where: { method: "roots/list" } },
  });
  expect(asked.result).not.toHaveProperty("taskId");
  const partly = await node.call(askMidway({ inputResponses: { name: sayText("Ada") }, requestState: stateOf(asked) }));
  expect(Object.keys(partly.result?.["inputRequests"] ?? {})).toEqual(["where"]);
  const answer = node.call(askMidway({ inputResponses: { where: { roots: [] } }, requestState: stateOf(partly) }));
  await vi.waitFor(async () => expect((await node.find(node.newestTask())).status).toBe("working"));
  await node.settle(node.newestTask(), { kind: "completed", result: toolResult({ text: "Hello, Ada" }), artifacts: [] });
  expect((await answer).result).toMatchObject({ resultType: "complete", content: [{ text: "Hello, Ada" }] });
  expect(node.created).toHaveLength(1);
});

test("a call that is answered twice gets the outcome twice", async () => {
  const node = createTestNode();
  const requestState = stateOf(await parkedCall(node));
  const retry = askMidway({ inputResponses: { name: sayText("Ada"), where: { roots: [] } }, requestState });
  const [first, second] = [node.call(retry), node.call(retry)];
  await vi.waitFor(async () => expect((await node.find(node.newestTask())).status).toBe("working"));
  await node.settle(node.newestTask());
  expect((await first).result).toMatchObject({ resultType: "complete" });
  expect((await second).result).toMatchObject({ resultType: "complete" });
  expect((await node.call(retry)).result).toMatchObject({ resultType: "complete" });
});

test("closing the connection of a continued call cancels its task, and between the rounds nothing is closed", async () => {
  const node = createTestNode();
  const requestState = stateOf(await parkedCall(node));
  await node.cancellations.idle();
  expect((await node.find(node.newestTask())).status).toBe("input_required");
  const controller = new AbortController();
  const retry = askMidway({ inputResponses: { name: sayText("Ada"), where: { roots: [] } }, requestState }, { signal: controller.signal });
  const call = node.call(retry).catch(() => null);
  await vi.waitFor(async () => expect((await node.find(node.newestTask())).status).toBe("working"));
  controller.abort();
  await call;
  await node.cancellations.idle();
  expect((await node.find(node.newestTask())).status).toBe("cancelled");
});

test("a question that the caller did not declare ends its call and lets go of the task", async () => {
  const node = createTestNode();
  const call = node.call(askMidway());
  await vi.waitFor(() => expect(node.events.map(({ name }) => name)).toContain("task.created"));
  await park(node, { go: { method: "elicitation/create", params: { mode: "url", message: "Sign in", url: "https://id.example/" } } });
  expect(await call).toMatchObject({ status: 400, error: { code: -32_021, data: { requiredCapabilities: { elicitation: { url: {} } } } } });
  await node.cancellations.idle();
  expect((await node.find(node.newestTask())).status).toBe("cancelled");
});

test("the state of a parked call is worth nothing to another principal or for another tool", async () => {
  const node = createTestNode();
  const requestState = stateOf(await parkedCall(node));
  const params = { inputResponses: { name: sayText("Eve"), where: { roots: [] } }, requestState };
  const foreign = await node.call(askMidway(params, { token: "bob" }));
  const other = await node.call(askMidway({ ...params, name: "test.ask_first" }));
  for (const answer of [foreign, other]) expect(answer.error).toMatchObject({ code: -32_602 });
  expect((await node.find(node.newestTask())).status).toBe("input_required");
});

test("the state of a call whose task is gone is refused like any other that is worth nothing", async () => {
  const node = createTestNode();
  const requestState = stateOf(await parkedCall(node));
  node.grants.splice(0);
  const answer = await node.call(askMidway({ inputResponses: { name: sayText("Ada") }, requestState }));
  expect(answer.error).toEqual({
    code: -32_602,
    message: "This requestState was not given for this request, or it has expired. Nothing was done.",
  });
});
