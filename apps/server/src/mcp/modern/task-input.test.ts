import { expect, test } from "vitest";
import type { InputRequests } from "@holdfast/core";
import { taskIdOf, toolCall, type Answer, type ModernRequest } from "../../../../../test/support/mcp-request.ts";
import { createTestNode, type TestNode } from "../../testing/test-node.ts";
import { askText, sayText } from "../../testing/test-pack.ts";

const token = "alice";
const capabilities = { elicitation: {}, roots: {} };
const QUESTIONS: InputRequests = { name: askText("Your name?"), where: { method: "roots/list", params: {} } };

interface Parked {
  readonly node: TestNode;
  readonly taskId: string;
  get(extra?: Partial<ModernRequest>): Promise<Answer>;
  update(inputResponses: unknown, extra?: Partial<ModernRequest>): Promise<Answer>;
}

/** A task that waits for its client. */
async function parkedTask(requests: InputRequests = QUESTIONS, scopes = ""): Promise<Parked> {
  const node = createTestNode();
  const [name, args] = scopes === "" ? ["test.ask_midway", {}] : ["test.change", { requestKey: "k" }];
  const taskId = taskIdOf(await node.call(toolCall(name, args, { token: `alice${scopes}`, tasks: true, capabilities })));
  await node.settle(node.newestTask(), { kind: "suspended", requests });
  const shared = { token, tasks: true, capabilities };
  return {
    node,
    taskId,
    get: (extra) => node.call({ method: "tasks/get", params: { taskId }, ...shared, ...extra }),
    update: (inputResponses, extra) => node.call({ method: "tasks/update", params: { taskId, inputResponses }, ...shared, ...extra }),
  };
}

const openKeys = (answer: Answer): readonly string[] => Object.keys(answer.result?.["inputRequests"] ?? {});

test("a task that waits shows all its open questions, and not only once", async () => {
  const task = await parkedTask();
  for (let times = 0; times < 2; times += 1)
    expect((await task.get()).result).toMatchObject({ resultType: "complete", status: "input_required", inputRequests: QUESTIONS });
});

test("answers may come one by one, and the last one lets the task go on (C9.2)", async () => {
  const task = await parkedTask();
  expect(Object.keys((await task.update({ where: { roots: [] } })).result ?? {}).toSorted()).toEqual(["_meta", "resultType"]);
  expect(openKeys(await task.get())).toEqual(["name"]);
  await task.update({ name: sayText("Ada") });
  const resumed = await task.get();
  expect(resumed.result).toMatchObject({ status: "working" });
  expect(resumed.result).not.toHaveProperty("inputRequests");
});

test.for<[string, unknown]>([
  ["an unknown key", { nmae: sayText("Ada") }],
  ["an answer of another kind", { name: { roots: [] } }],
  ["what is no answer", { name: { text: "Ada" }, where: "here" }],
  ["an answer wrapped in its method", { name: { method: "elicitation/create", result: sayText("Ada") } }],
  ["nothing", {}],
])("%s is acknowledged and ignored", async ([, inputResponses]) => {
  const task = await parkedTask();
  expect((await task.update(inputResponses)).result).toMatchObject({ resultType: "complete" });
  expect(openKeys(await task.get())).toEqual(["name", "where"]);
});

test("an answer counts once: a later one to the same question is ignored", async () => {
  const task = await parkedTask();
  await task.update({ name: sayText("Ada") });
  await task.update({ name: sayText("Eve"), where: { roots: [] } });
  const claimed = await task.node.claim(task.node.newestTask());
  expect(claimed.inputs).toMatchObject([{ key: "name", answer: sayText("Ada") }, { key: "where" }]);
});

test("an answer with text that cannot be kept is refused by its place, and nothing is taken", async () => {
  const task = await parkedTask();
  const answer = await task.update({ name: sayText("a\u0000"), where: { roots: [] } });
  expect(answer.error).toMatchObject({ code: -32_602, data: { issues: [{ path: "name.content.text" }] } });
  expect(openKeys(await task.get())).toEqual(["name", "where"]);
});

test.for([undefined, null, 1, "name", [sayText("Ada")]])("an update with %j for answers is malformed", async (inputResponses) => {
  const task = await parkedTask();
  expect((await task.update(inputResponses)).error).toMatchObject({ code: -32_602, data: { issues: [{ path: "inputResponses" }] } });
});

test("a client that cannot be asked all that is open sees none of it, and nothing changes (C9.3)", async () => {
  const task = await parkedTask();
  const before = await task.get();
  const blind = await task.get({ capabilities: { elicitation: { url: {} } } });
  expect(blind).toMatchObject({
    status: 400,
    error: { code: -32_021, data: { requiredCapabilities: { elicitation: { form: {} }, roots: {} } } },
  });
  expect(blind.text).not.toContain("Your name?");
  expect((await task.get()).text).toBe(before.text);
  await task.update({ where: { roots: [] } });
  expect((await task.get({ capabilities: { elicitation: {} } })).result).toMatchObject({ status: "input_required" });
  await task.update({ name: sayText("Ada") });
  expect((await task.get({ capabilities: {} })).result).toMatchObject({ status: "working" });
});

test("stored questions that are none of MCP's fail the poll with a fixed error and leave the task alone (C1.6)", async () => {
  const task = await parkedTask({ name: { method: "elicitation/create", params: { secret: "no message" } } });
  const answer = await task.get();
  expect(answer.error).toMatchObject({ code: -32_603, message: "Internal error." });
  expect(answer.text).not.toContain("secret");
  expect((await task.node.find(task.node.newestTask())).status).toBe("input_required");
});

test("cancelling a task that waits ends it at once and drops its questions (C8.2)", async () => {
  const task = await parkedTask();
  await task.node.call({ method: "tasks/cancel", params: { taskId: task.taskId }, token, tasks: true });
  const cancelled = await task.get({ capabilities: {} });
  expect(cancelled.result).toMatchObject({ status: "cancelled" });
  expect(cancelled.result).not.toHaveProperty("inputRequests");
  expect((await task.update({ name: sayText("late") })).result).toMatchObject({ resultType: "complete" });
});

test("resuming a write takes the scopes of its operation, and looking at it does not (C2.5)", async () => {
  const task = await parkedTask(QUESTIONS, "~test_read+test_write");
  expect((await task.get()).result).toMatchObject({ status: "input_required" });
  expect(await task.update({ name: sayText("Ada") })).toMatchObject({
    status: 403,
    error: { data: { scopes: ["test:read", "test:write"] } },
  });
  expect(openKeys(await task.get())).toEqual(["name", "where"]);
  await task.update({ name: sayText("Ada") }, { token: "alice~test_read+test_write" });
  expect(openKeys(await task.get())).toEqual(["where"]);
});
