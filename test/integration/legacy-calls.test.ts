import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  answerTo,
  callRequest,
  openLegacySession,
  type LegacyEvent,
  type LegacyMessage,
  type LegacyResponse,
} from "../support/legacy-client.ts";
import { toolCall } from "../support/mcp-request.ts";
import { createServerWorld, type ServerWorld, type TestServer } from "../support/server-world.ts";
import { untilValue } from "../support/task-world.ts";

let world: ServerWorld;
let nodes: readonly [TestServer, TestServer];
let token: string;
let cleanup: AsyncDisposableStack;
beforeAll(async () => {
  cleanup = new AsyncDisposableStack();
  world = cleanup.use(await createServerWorld());
  nodes = [cleanup.use(await world.startNode()), cleanup.use(await world.startNode())];
  cleanup.use(await world.startWorker({ HOLDFAST_SLOTS: "4" }));
  token = await world.token();
});
afterAll(async () => {
  await cleanup.disposeAsync();
});

const open = (options: { revision?: string; capabilities?: object; token?: string; url?: string } = {}) =>
  openLegacySession({ url: nodes[0].url, token, ...options });
const isAnswer = ({ method }: LegacyMessage): boolean => method === undefined;
const asks = ({ method, id }: LegacyMessage): boolean => method !== undefined && id !== undefined;
const slow = (id: string | number, seconds: number) => callRequest(id, "slow_compute", { seconds, label: randomUUID() });

async function newestTask(): Promise<string> {
  const [row] = await world.query("select id from holdfast.task order by id desc limit 1");
  return String(row?.["id"]);
}

async function statusOf(id: string): Promise<unknown> {
  return (await world.query("select status from holdfast.task where id = $1", [id]))[0]?.["status"];
}

const untilStatus = (id: string, status: string) =>
  untilValue(
    () => statusOf(id),
    (found) => found === status,
    10_000,
  );

/** The id of the event with which a stream begins. */
async function startOf(response: LegacyResponse): Promise<string> {
  const first = await response.next();
  if (first?.id === null || first?.id === undefined || first.message !== null) throw new Error(`no start: ${JSON.stringify(first)}`);
  return first.id;
}

function answerIn(events: readonly LegacyEvent[]): LegacyMessage | null | undefined {
  return events.findLast(({ message }) => message !== null && isAnswer(message))?.message;
}

test("an ordinary call answers what the modern protocol answers", async () => {
  const session = await open();
  const legacy = await session.request("tools/call", { name: "test_simple_text", arguments: {} });
  const modern = await nodes[1].call(toolCall("test_simple_text", {}, { token }));
  expect(legacy.result?.["content"]).toEqual(modern.result?.["content"]);
  expect(Object.keys(legacy.result ?? {})).toEqual(["content"]);
});

test("unknown tools, malformed arguments and misused task support are told by the codes that the revision names", async () => {
  const session = await open();
  const codeOf = async (name: string, args: object, extra: object = {}) =>
    (await session.request("tools/call", { name, arguments: args, ...extra })).error?.code;
  expect(await codeOf("nothing", {})).toBe(-32_602);
  expect(await codeOf("slow_compute", { seconds: -1 })).toBe(-32_602);
  expect(await codeOf("failing_job", {})).toBe(-32_601);
  expect(await codeOf("greet", { name: "x" }, { task: {} })).toBe(-32_601);
  expect(await codeOf("slow_compute", {}, { task: { ttl: -1 } })).toBe(-32_602);
});

test.for([0, "", 7, "p"])("progress comes before the answer, under the token %j", async (progressToken) => {
  // Of a principal of its own, which nobody's earlier result answers.
  const subject = `asker-${JSON.stringify(progressToken)}`;
  await world.grant(subject);
  const session = await open({ token: await world.token({ subject }) });
  await using response = await session.post(callRequest(1, "test_tool_with_progress", {}, { _meta: { progressToken } }));
  const events = await response.rest();
  const reports = events.flatMap(({ message }) => (message?.method === "notifications/progress" ? [message.params] : []));
  expect(reports.length).toBeGreaterThan(0);
  expect(new Set(reports.map((report) => report?.["progressToken"]))).toEqual(new Set([progressToken]));
  const values = reports.map((report) => Number(report?.["progress"]));
  expect(values).toEqual([...new Set(values)].toSorted((left, right) => left - right));
  expect(answerIn(events)).toMatchObject({ id: 1, result: {} });
  expect(events.at(-1)?.message).toBe(answerIn(events));
});

test("requests with one id at a time from two clients, and from one, are each answered where they were asked", async () => {
  const [one, other] = [await open(), await open({ token: await world.token({ subject: "bob" }) })];
  const names = ["a", "b", "c"];
  const greet = (name: string) => ({ name: "greet", arguments: { name } });
  const answers = await Promise.all([
    one.request("tools/call", greet("a"), { id: "" }),
    one.request("tools/call", greet("b"), { id: "", url: nodes[1].url }),
    other.request("tools/call", greet("c"), { id: "" }),
  ]);
  expect(answers.map(({ result }) => JSON.stringify(result?.["content"]))).toEqual(
    names.map((name) => expect.stringContaining(name) as string),
  );
});

test("questions before and in the middle of a call are answered at another node than asked", async () => {
  const session = await open();
  const elsewhere = { url: nodes[1].url };
  const said = (content: object) => ({ action: "accept", content });
  await using twice = await session.post(callRequest(1, "test_input_required_result_multi_round"));
  for (const content of [{ name: "Ada" }, { color: "red" }]) {
    const question = (await twice.until(asks)).at(-1)?.message;
    expect(question?.method).toBe("elicitation/create");
    expect((await session.post(answerTo(question, said(content)), elsewhere)).status).toBe(202);
  }
  expect(JSON.stringify(answerIn(await twice.rest())?.result)).toMatch(/Ada.*red/u);

  await using midway = await session.post(callRequest(2, "multi_input"));
  const questions = [(await midway.until(asks)).at(-1)?.message, (await midway.until(asks)).at(-1)?.message];
  expect(new Set(questions.map((question) => question?.id)).size).toBe(2);
  await Promise.all(questions.map((question, index) => session.post(answerTo(question, said({ name: `name-${index}` })), elsewhere)));
  const answer = answerIn(await midway.rest());
  expect(JSON.stringify(answer?.result)).toMatch(/name-0.*name-1|name-1.*name-0/u);
});

test("a prompt asks as a call does", async () => {
  const session = await open();
  await using response = await session.post({
    jsonrpc: "2.0",
    id: 1,
    method: "prompts/get",
    params: { name: "test_input_required_result_prompt" },
  });
  const question = (await response.until(asks)).at(-1)?.message;
  await session.post(answerTo(question, { action: "accept", content: { context: "of the test" } }), { url: nodes[1].url });
  expect(answerIn(await response.rest())?.result).toHaveProperty("messages");
});

test("a question that the client cannot be asked is refused before anything is done", async () => {
  const session = await open({ capabilities: {} });
  expect(await session.request("tools/call", { name: "test_input_required_result_elicitation", arguments: {} })).toMatchObject({
    error: { code: -32_021 },
  });
});

test("a client that answers with an error ends its call and the task of it", async () => {
  const session = await open();
  await using response = await session.post(callRequest(1, "confirm_delete", { filename: randomUUID() }));
  const question = (await response.until(asks)).at(-1)?.message;
  const task = await newestTask();
  await session.post({ jsonrpc: "2.0", id: question?.id, error: { code: -1, message: "no" } }, { url: nodes[1].url });
  expect(answerIn(await response.rest())).toMatchObject({ id: 1, error: { code: -32_603 } });
  await untilStatus(task, "cancelled");
});

test("another session cannot answer, not even another's of the same principal", async () => {
  const [session, own, foreign] = [await open(), await open(), await open({ token: await world.token({ subject: "bob" }) })];
  await using response = await session.post(callRequest(1, "confirm_delete", { filename: randomUUID() }));
  const question = (await response.until(asks)).at(-1)?.message;
  for (const other of [own, foreign])
    expect((await other.post(answerTo(question, { action: "accept", content: { confirm: true } }))).status).toBe(202);
  expect(
    await world.query("select count(*)::int as answers from holdfast.session_question where answer is not null and call_id::text = $1", [
      String(question?.id).split(".")[1],
    ]),
  ).toEqual([{ answers: 0 }]);
  await session.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
});

test("a dropped connection cancels nothing, and the answer is fetched at another node", async () => {
  const session = await open();
  await using response = await session.post(slow(3, 2));
  const start = await startOf(response);
  const task = await newestTask();
  await response.close();
  await untilStatus(task, "completed");
  await using resumed = await session.get(start, { url: nodes[1].url });
  const answer = answerIn(await resumed.rest());
  expect(answer).toMatchObject({ id: 3, result: { content: [{ type: "text" }] } });
});

test("a client that goes before its call is admitted does not take the call with it", async () => {
  const session = await open();
  const label = randomUUID();
  const found = () => world.query("select status from holdfast.task where input ->> 'label' = $1", [label]);
  const lock = await world.database.pool.connect();
  await lock.query("begin; lock table holdfast.session_call in exclusive mode");
  const controller = new AbortController();
  const headers = { Accept: "application/json, text/event-stream", "Content-Type": "application/json", Authorization: `Bearer ${token}` };
  const asked = fetch(nodes[0].url, {
    method: "POST",
    headers: { ...headers, "Mcp-Session-Id": session.name },
    body: JSON.stringify(callRequest(1, "slow_compute", { label })),
    signal: controller.signal,
  }).catch(() => null);
  const blocked = () => world.query("select from pg_stat_activity where wait_event_type = 'Lock' and query like '%session_call%'");
  await untilValue(blocked, (rows) => rows.length > 0, 10_000);
  const served = () => nodes[0].events.filter(({ name }) => name === "http.served").length;
  const before = served();
  controller.abort();
  expect(await asked).toBeNull();
  await untilValue(
    async () => served(),
    (count) => count > before,
    10_000,
  );
  await lock.query("commit");
  lock.release();
  expect(await untilValue(found, (rows) => rows[0]?.["status"] === "completed", 10_000)).toHaveLength(1);
});

test("a stream that is resumed before the task ends waits for it, and the node that held it lets go", async () => {
  const session = await open();
  await using response = await session.post(slow(4, 3));
  const start = await startOf(response);
  await using resumed = await session.get(start, { url: nodes[1].url });
  const [there, here] = await Promise.all([resumed.rest(), response.rest()]);
  expect(answerIn(there)).toMatchObject({ id: 4, result: { content: [{ type: "text" }] } });
  expect(answerIn(here)).toBeUndefined();
});

test("a call whose node died before there was a task is not begun anew: the client is told to try again", async () => {
  const session = await open();
  const id = randomUUID();
  await world.query(
    `insert into holdfast.session_call (id, session_id, request_id, method, params, as_task)
     select $1, s.id, '7', 'tools/call', $3, false from holdfast.session as s where s.token_sha256 = sha256(convert_to($2, 'UTF8'))`,
    [id, session.name, JSON.stringify({ name: "slow_compute", arguments: { label: id } })],
  );
  await using resumed = await session.get(`c.${id}.0`);
  expect(answerIn(await resumed.rest())).toMatchObject({
    id: 7,
    error: { code: -32_603, message: "The service is busy. Try again shortly." },
  });
  expect(await world.query("select from holdfast.task where input ->> 'label' = $1", [id])).toEqual([]);
});

test("a question that was asked before the drop is not asked again, and one that was not is", async () => {
  const session = await open();
  await using response = await session.post(callRequest(5, "multi_input"));
  const [first] = (await response.until(asks)).slice(-1);
  await response.close();
  await using resumed = await session.get(first?.id ?? "", { url: nodes[1].url });
  const second = (await resumed.until(asks)).at(-1)?.message;
  expect(second?.id).not.toBe(first?.message?.id);
  for (const question of [first?.message, second]) await session.post(answerTo(question, { action: "accept", content: { name: "N" } }));
  expect(answerIn(await resumed.rest())).toMatchObject({ id: 5, result: {} });
});

test("nobody resumes what is not theirs, and ids that name nothing resume nothing", async () => {
  const [session, own, foreign] = [await open(), await open(), await open({ token: await world.token({ subject: "bob" }) })];
  await using response = await session.post(slow(6, 20));
  const start = await startOf(response);
  for (const other of [own, foreign]) expect((await other.get(start)).status).toBe(400);
  const forged = ["", "c", "c.x.1", start.replace(/.\.0$/u, "g.0"), `${start}.0`, start.replace(/\.0$/u, ".99999999999"), "r.e30", "z.1"];
  const statuses = await Promise.all(forged.map(async (id) => (await session.get(id)).status));
  expect(new Set(statuses)).toEqual(new Set([400]));
  await using behind = await session.get(start.replace(/\.0$/u, ".2147483647"));
  expect((await behind.rest()).filter(({ message }) => message !== null)).toEqual([]);
  await session.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 6 } });
});

test("a notice of cancellation reaches the call whichever node gets it, and there is no answer", async () => {
  const session = await open();
  await using response = await session.post(slow("x", 30));
  await startOf(response);
  const task = await newestTask();
  for (const requestId of ["y", 0])
    await session.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } }, { url: nodes[1].url });
  const wishes = "select count(*)::int as wishes from holdfast.session_call where task_id = $1 and cancelled_at is not null";
  expect(await world.query(wishes, [task])).toEqual([{ wishes: 0 }]);
  expect(
    (await session.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "x" } }, { url: nodes[1].url })).status,
  ).toBe(202);
  expect(answerIn(await response.rest())).toBeUndefined();
  await untilStatus(task, "cancelled");
});

test("a call that another still waits for goes on when one of the two is cancelled", async () => {
  const [one, other] = [await open(), await open()];
  const body = slow(1, 3);
  await using first = await one.post(body);
  await startOf(first);
  await using second = await other.post(body, { url: nodes[1].url });
  await startOf(second);
  const task = await newestTask();
  await one.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } }, { url: nodes[1].url });
  expect(answerIn(await second.rest())).toMatchObject({ result: { content: [{ type: "text" }] } });
  expect(await statusOf(task)).toBe("completed");
});

test("the end of a session ends its calls and lets go of their tasks", async () => {
  const session = await open();
  await using response = await session.post(slow(1, 30));
  await startOf(response);
  const task = await newestTask();
  expect((await session.end({ url: nodes[1].url })).status).toBe(204);
  expect(answerIn(await response.rest())).toBeUndefined();
  await untilStatus(task, "cancelled");
});

test("a node that drains ends its streams at once, and their calls are answered elsewhere", async () => {
  const leaving = await world.startNode({ HOLDFAST_DRAIN_MS: "10000" });
  const session = await open({ url: leaving.url });
  await using response = await session.post(slow(8, 3));
  const start = await startOf(response);
  const startedAt = performance.now();
  await leaving.stop();
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  expect(await response.rest()).toEqual([]);
  await using resumed = await session.get(start, { url: nodes[1].url });
  expect(answerIn(await resumed.rest())).toMatchObject({ id: 8, result: { content: [{ type: "text" }] } });
});

test("a call of an earlier revision is answered on its stream without an id to begin with", async () => {
  const session = await open({ revision: "2025-06-18" });
  await using response = await session.post(slow(9, 1));
  const events = await response.rest();
  expect(events.filter(({ message }) => message === null)).toEqual([]);
  expect(answerIn(events)).toMatchObject({ id: 9, result: {} });
});

test("calls of a batch are answered together", async () => {
  const session = await open({ revision: "2025-03-26" });
  await using response = await session.post([callRequest(1, "greet", { name: "A" }), callRequest(2, "greet", { name: "B" })]);
  const messages = (await response.rest()).flatMap(({ message }) => message ?? []);
  expect(new Set(messages.map(({ id }) => id))).toEqual(new Set([1, 2]));
});

test("the words of an operation's progress are its log for a client that asked for one", async () => {
  const session = await open();
  const logOf = (events: readonly LegacyEvent[]) =>
    events.flatMap(({ message }) => (message?.method === "notifications/message" ? [message.params] : []));
  const call = async () => {
    await using response = await session.post(slow(1, 1), { url: nodes[1].url });
    return logOf(await response.rest());
  };
  expect(await call()).toEqual([]);
  await session.request("logging/setLevel", { level: "debug" });
  expect(await call()).toEqual([{ level: "info", logger: "slow_compute", data: expect.stringContaining("computing") as unknown }]);
  await session.request("logging/setLevel", { level: "warning" });
  expect(await call()).toEqual([]);
});
