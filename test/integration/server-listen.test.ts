import { once } from "node:events";
import { IncomingMessage, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createPostgresAttemptLedger, createPublisher, type Publisher } from "@holdfast/db";
import { toolResult, type Settlement } from "@holdfast/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { listenFor, openStream, showsTask, type StreamedResponse } from "../support/event-stream.ts";
import { modernRequest, readAnswer, taskIdOf, toolCall, type ModernRequest } from "../support/mcp-request.ts";
import { createServerWorld, taskIdIn, type ServerWorld, type TestServer } from "../support/server-world.ts";
import { untilValue } from "../support/task-world.ts";

let world: ServerWorld;
let nodeA: TestServer;
let nodeB: TestServer;
let alice: string;
let publisher: Publisher;

beforeAll(async () => {
  world = await createServerWorld();
  // Looks by itself long after the end of any test, unless a test starts its own node.
  const patient = { listen: { timing: { fallbackMs: 600_000 } } };
  [nodeA, nodeB] = await Promise.all([world.startNode({}, patient), world.startNode({}, patient)]);
  alice = await world.token({ subject: "alice" });
  publisher = createPublisher(world.database);
  await Promise.all([nodeA, nodeB].map(isUp));
});
afterAll(async () => {
  await publisher.stop();
  await nodeA[Symbol.asyncDispose]();
  await nodeB[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

async function isUp(node: TestServer): Promise<void> {
  const readiness = async (): Promise<unknown> => await (await fetch(new URL("/readyz", node.url))).json();
  await untilValue(readiness, (state) => JSON.stringify(state).includes('"listener":"up"'), 10_000);
}

async function begin(label: string, token = alice): Promise<string> {
  return taskIdOf(await nodeA.call(toolCall("slow_compute", { label }, { token, tasks: true })));
}

async function listen(node: TestServer, taskIds: readonly string[], extra: Partial<ModernRequest> = {}): Promise<StreamedResponse> {
  return await openStream(node.url, listenFor({ taskIds }, { token: alice, ...extra }));
}

const text = (value: string): Settlement => ({ kind: "completed", result: toolResult({ text: value }), artifacts: [] });

test("a change through any process reaches the listeners of every node, and each of them once", async () => {
  const handle = await begin("told everywhere");
  const streams = await Promise.all([listen(nodeA, [handle]), listen(nodeB, [handle], { id: "b" }), listen(nodeB, [handle], { id: 0 })]);
  for (const stream of streams) expect((await stream.next())?.params?.["notifications"]).toEqual({ taskIds: [handle] });
  await world.settle(handle, text("far away"));
  for (const stream of streams) {
    const [told, answer, ...more] = await stream.rest();
    expect(told).toMatchObject({ method: "notifications/tasks", params: { taskId: handle, status: "completed" } });
    expect(told?.params?.["result"]).toEqual({ content: [{ type: "text", text: "far away" }] });
    expect([answer?.result?.["resultType"], more]).toEqual(["complete", []]);
  }
});

test("a listener hears of its own tasks only", async () => {
  const bob = await world.token({ subject: "bob" });
  const [own, foreign] = [await begin("alice's own"), await begin("bob's own", bob)];
  await using stream = await listen(nodeB, [foreign, own, own.replace("current", "hidden"), "nothing"]);
  expect((await stream.next())?.params?.["notifications"]).toEqual({ taskIds: [own] });
  await world.settle(foreign);
  await world.settle(own);
  expect((await stream.rest()).map(({ params }) => params?.["taskId"])).toEqual([own, undefined]);
});

test("whoever subscribes while a task ends is never left without its end", async () => {
  for (let times = 0; times < 250; times += 1) {
    const handle = await begin(`race ${times}`);
    const attempt = await world.claim(handle);
    const ledger = createPostgresAttemptLedger(world.database);
    const settled = ledger.settle(attempt, text("done")).then(() => publisher.publish(taskIdIn(handle)));
    // Sooner and later within the settlement, so that each step of the opening meets it.
    for (let turns = 0; turns < times % 10; turns += 1) await Promise.resolve();
    const stream = await listen(times % 2 === 0 ? nodeA : nodeB, [handle]);
    const [, told, answer] = await stream.rest();
    expect([told?.params?.["status"], answer?.result?.["resultType"]]).toEqual(["completed", "complete"]);
    await settled;
  }
});

test("what changes while the node's listener is cut off arrives when it is back", async () => {
  const handle = await begin("cut off");
  await using stream = await listen(nodeB, [handle]);
  await stream.next();
  const terminate =
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'holdfast-server-listener' and datname = current_database()";
  expect((await world.query(terminate)).length).toBe(2);
  // The hint is never sent: only looking at everything after the reconnect can find this.
  await world.settle(handle, text("meanwhile"), { silently: true });
  expect((await stream.until(showsTask("completed"))).length).toBe(1);
  await Promise.all([nodeA, nodeB].map(isUp));
});

test("with every hint lost a change arrives within the interval in which a node looks by itself", async () => {
  await using deaf = await world.startNode(
    { DATABASE_LISTEN_URL: "postgres://nobody@127.0.0.1:1/none" },
    { listen: { timing: { fallbackMs: 1000 } } },
  );
  const handle = await begin("unheard");
  await using stream = await listen(deaf, [handle]);
  await stream.next();
  await world.settle(handle, text("unheard"), { silently: true });
  const settledAt = performance.now();
  await stream.until(showsTask("completed"));
  // The interval, and room for a slow machine.
  expect(performance.now() - settledAt).toBeLessThan(3000);
});

test("progress arrives with its newest value, thinned, and never twice the same", async () => {
  const handle = await begin("progress");
  const attempt = await world.claim(handle);
  const ledger = createPostgresAttemptLedger(world.database);
  await using stream = await listen(nodeB, [handle]);
  await stream.next();
  const startedAt = performance.now();
  for (let value = 1; value <= 60; value += 1) {
    await ledger.renew([{ attempt, progress: { value, total: 60, message: null } }], 60_000);
    publisher.publish(attempt.taskId);
  }
  const told = await stream.until(({ params }) => params?.["statusMessage"] === "60 of 60");
  const elapsedMs = performance.now() - startedAt;
  expect(told.length).toBeLessThanOrEqual(2 + Math.ceil(elapsedMs / 250));
  expect(new Set(told.map(({ params }) => params?.["statusMessage"])).size).toBe(told.length);
  await ledger.settle(attempt, text("done"));
  publisher.publish(attempt.taskId);
  expect((await stream.rest()).map(({ params }) => params?.["status"])).toEqual(["completed", undefined]);
});

test("a revoked grant is heard of no more, on a stream that goes on for what is still granted", async () => {
  await world.grant("carol");
  const carol = await world.token({ subject: "carol" });
  const handle = await begin("carol's", carol);
  await using stream = await openStream(nodeB.url, listenFor({ toolsListChanged: true, taskIds: [handle] }, { token: carol }));
  await stream.next();
  await world.revoke("carol");
  await world.settle(handle, text("secret"), { silently: true });
  // Each round goes through Postgres and back, and what the hint before it made the node read would have been sent by then.
  for (let rounds = 0; rounds < 5; rounds += 1) {
    publisher.publish(taskIdIn(handle));
    publisher.announce("tools");
    expect((await stream.next())?.method).toBe("notifications/tools/list_changed");
  }
});

test("a list that changed on one node is told on every other", async () => {
  await using stream = await openStream(nodeB.url, listenFor({ promptsListChanged: true }, { token: alice, tasks: false }));
  expect((await stream.next())?.params?.["notifications"]).toEqual({ promptsListChanged: true });
  publisher.announce("tools");
  publisher.announce("prompts");
  expect((await stream.next())?.method).toBe("notifications/prompts/list_changed");
});

test("a silent stream is kept alive by comments", async () => {
  await using node = await world.startNode({}, { listen: { timing: { keepAliveMs: 20 } } });
  const handle = await begin("silence");
  await using stream = await listen(node, [handle]);
  await stream.next();
  const end = stream.until(showsTask("completed"));
  await untilValue(
    async () => stream.comments.length,
    (count) => count >= 3,
    10_000,
  );
  await world.settle(handle);
  await end;
  expect(new Set(stream.comments)).toEqual(new Set([": keep-alive"]));
});

test("a node that is stopped ends its streams with their answers, long before its drain would be over", async () => {
  const node = await world.startNode({ HOLDFAST_DRAIN_MS: "60000" });
  const streams = await Promise.all(
    ["one", "two"].map(async (label) => await listen(node, [await begin(`drain ${label}`)], { id: label })),
  );
  for (const stream of streams) await stream.next();
  const stopped = node.stop();
  for (const [index, stream] of streams.entries())
    expect(await stream.rest()).toMatchObject([{ id: ["one", "two"][index], result: { resultType: "complete" } }]);
  await stopped;
});

test("a client that hangs up leaves its place to the next", async () => {
  await using node = await world.startNode({}, { listen: { limits: { streams: 1 } } });
  const handle = await begin("one place");
  const first = await listen(node, [handle]);
  await first.next();
  const request = (): Request => modernRequest(node.url, listenFor({ taskIds: [handle] }, { token: alice }));
  const refused = await readAnswer(await fetch(request()));
  expect([refused.status, refused.headers.get("Retry-After"), refused.error?.code]).toEqual([503, "1", -32_603]);
  await first.close();
  await untilValue(
    () => hasPlace(request()),
    (has) => has,
    10_000,
  );
});

async function hasPlace(request: Request): Promise<boolean> {
  const response = await fetch(request);
  await response.body?.cancel();
  return response.status === 200;
}

test("a reader that takes nothing is cut off while the others go on, and no commit waits for it", async () => {
  await using node = await world.startNode({}, { listen: { limits: { streamsOfPrincipal: 1 }, timing: { stallMs: 4000 } } });
  const bob = await world.token({ subject: "bob" });
  // More than what the sockets of both ends take for it.
  const big = "x".repeat(1_000_000);
  const heavy = await Promise.all(Array.from({ length: 24 }, (_, index) => begin(`heavy ${index}`)));
  for (const handle of heavy) await world.settle(handle, text(big));

  const stuck = connect(Number(new URL(node.url).port), "127.0.0.1");
  await sendRaw(stuck, modernRequest(node.url, listenFor({ taskIds: heavy }, { token: alice })));
  const place = (): Promise<boolean> => hasPlace(modernRequest(node.url, listenFor({ taskIds: heavy.slice(0, 1) }, { token: alice })));
  await untilValue(place, (has) => !has, 10_000);

  const others: number[] = [];
  for (let isCut = false; !isCut; isCut = await place()) {
    const handle = await begin(`beside ${others.length}`, bob);
    await using stream = await openStream(node.url, listenFor({ taskIds: [handle] }, { token: bob }));
    await stream.next();
    const startedAt = performance.now();
    await world.settle(handle);
    await stream.until(showsTask("completed"));
    others.push(performance.now() - startedAt);
    expect(others.length).toBeLessThan(2000);
  }
  expect(others.length).toBeGreaterThan(3);
  expect(Math.max(...others)).toBeLessThan(3000);
  const received = await drained(stuck);
  expect(received).not.toContain('"resultType"');
  expect(received.length).toBeLessThan(24 * big.length);
});

/** Sends a request over a socket that reads nothing. */
async function sendRaw(socket: ReturnType<typeof connect>, request: Request): Promise<void> {
  socket.pause();
  const body = await request.text();
  const headers = [...request.headers].map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const { host, pathname } = new URL(request.url);
  socket.write(`POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

/** All that is left in a socket that the other side has cut. */
async function drained(socket: ReturnType<typeof connect>): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => void chunks.push(chunk));
  const closed = new Promise<void>((resolve) => {
    socket.on("error", () => undefined);
    socket.on("close", () => resolve());
  });
  socket.resume();
  await closed;
  return Buffer.concat(chunks).toString();
}

test("streams that are open keep nothing of how much was sent to open them", async () => {
  await using node = await world.startNode({ HOLDFAST_MAX_IN_FLIGHT: "1000" });
  const big = "x".repeat(1024 * 1024);
  const ways: readonly ModernRequest[] = [
    listenFor({ toolsListChanged: true }, { capabilities: { elicitation: { form: { big } }, experimental: { big: { big } } } }),
    listenFor({ toolsListChanged: true }, { meta: { big } }),
    listenFor({ toolsListChanged: true, taskIds: [big], resourceSubscriptions: [big] }),
  ];
  const before = heapBytes();
  const streams: IncomingMessage[] = [];
  for (let round = 0; round < 8; round += 1) for (const way of ways) streams.push(await openBare(node, { ...way, token: alice }));
  await expect.poll(heapBytes, { timeout: 10_000 }).toBeLessThan(before + 16 * big.length);
  for (const stream of streams) stream.destroy();
});

/** Without a client's `Request`, which keeps what it sent for as long as its answer is read, in this very process. */
async function openBare(node: TestServer, wanted: ModernRequest): Promise<IncomingMessage> {
  const described = modernRequest(node.url, wanted);
  const outgoing = httpRequest(node.url, { method: "POST", headers: Object.fromEntries(described.headers) });
  const [response] = await Promise.all([once(outgoing, "response"), described.bytes().then((body) => outgoing.end(body))]);
  const answer: unknown = response[0];
  if (!(answer instanceof IncomingMessage) || answer.statusCode !== 200) throw new Error("the stream was not opened");
  return answer.resume();
}

setFlagsFromString("--expose-gc");
const collect = z.custom<() => void>((value) => typeof value === "function").parse(runInNewContext("gc"));

/** What is still in use after everything else was collected. */
function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
