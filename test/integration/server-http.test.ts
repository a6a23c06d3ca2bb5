import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { modernRequest, toolCall } from "../support/mcp-request.ts";
import { createServerWorld, type ServerWorld, type TestServer } from "../support/server-world.ts";

let world: ServerWorld;
let node: TestServer;
let token: string;

beforeAll(async () => {
  world = await createServerWorld();
  node = await world.startNode();
  token = await world.token();
});
afterAll(async () => {
  await node[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

/** Sends bytes as they are and answers everything that comes back until the node closes the connection. */
async function raw(...parts: (string | Uint8Array)[]): Promise<string> {
  const socket = connect(Number(new URL(node.url).port), "127.0.0.1");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => void chunks.push(chunk));
  for (const part of parts) socket.write(part);
  await new Promise((resolve, reject) => {
    socket.on("close", resolve);
    socket.on("error", reject);
    socket.setTimeout(10_000, () => socket.destroy(new Error("the node neither answered nor closed")));
  });
  return Buffer.concat(chunks).toString();
}

function head(headers: Readonly<Record<string, string>>, line = "POST /mcp HTTP/1.1"): string {
  const all = { Host: "127.0.0.1", "Content-Type": "application/json", Authorization: `Bearer ${token}`, Connection: "close", ...headers };
  return `${line}\r\n${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n`;
}

async function countTasks(): Promise<number> {
  const [row] = await world.query("select count(*)::int as count from holdfast.task");
  return Number(row?.["count"]);
}

test.for<[string, Record<string, string>]>([
  ["a forged Host", { Host: "evil.example" }],
  ["a forged Host with our name as forwarded host", { Host: "evil.example", "X-Forwarded-Host": "127.0.0.1", Forwarded: "host=127.0.0.1" }],
  ["a hostile Origin", { Origin: "https://evil.example" }],
  ["the Origin null", { Origin: "null" }],
])("%s is a 403 before the token is looked at", async ([, headers]) => {
  const answer = await raw(head({ ...headers, Authorization: "Bearer nonsense", "Content-Length": "2" }), "{}");
  expect(answer).toMatch(/^HTTP\/1\.1 403 /u);
});

test("two Host headers, or none, are refused", async () => {
  expect(await raw(head({ "Content-Length": "2" }).replace("Host: 127.0.0.1\r\n", ""), "{}")).toMatch(/^HTTP\/1\.1 400 /u);
  expect(await raw(head({ "Content-Length": "2" }).replace("Host:", "Host: evil.example\r\nHost:"), "{}")).toMatch(/^HTTP\/1\.1 40[03] /u);
});

test("an absolute request target does not replace the Host", async () => {
  const answer = await raw(head({ Host: "evil.example", "Content-Length": "2" }, "POST http://127.0.0.1/mcp HTTP/1.1"), "{}");
  expect(answer).toMatch(/^HTTP\/1\.1 40[03] /u);
});

test.for<[string, () => (string | Uint8Array)[], number]>([
  [
    "a body in chunks that is not UTF-8",
    () => [head({ "Transfer-Encoding": "chunked" }), "3\r\n", Uint8Array.of(0x22, 0xff, 0x22), "\r\n0\r\n\r\n"],
    400,
  ],
  ["a declared length over the limit", () => [head({ "Content-Length": "4194305" })], 413],
  ["chunks over the limit", () => [head({ "Transfer-Encoding": "chunked" }), `500000\r\n"${"x".repeat(0x500000 - 2)}"\r\n0\r\n\r\n`], 413],
  ["an empty body", () => [head({ "Content-Length": "0" })], 400],
  ["no body at all", () => [head({})], 400],
])("%s is refused and never a fault of ours", async ([, parts, status]) => {
  const before = await countTasks();
  expect(await raw(...parts())).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `, "u"));
  expect(await countTasks()).toBe(before);
  expect(node.events.filter(({ error }) => error !== undefined)).toEqual([]);
});

test("a call in chunks works like one of a declared length", async () => {
  const request = modernRequest(node.url, toolCall("slow_compute", {}, { tasks: true }));
  const body = Buffer.from(await request.text());
  const headers = {
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "slow_compute",
    "Transfer-Encoding": "chunked",
  };
  const chunks = [body.subarray(0, 50), body.subarray(50)].flatMap((part) => [`${part.length.toString(16)}\r\n`, part, "\r\n"]);
  expect(await raw(head(headers), ...chunks, "0\r\n\r\n")).toContain('"resultType":"task"');
});

test("a request id of the caller is answered and logged", async () => {
  const headers = { "X-Request-Id": "from-the-caller" };
  const { headers: answered } = await node.call(toolCall("slow_compute", { label: "logged" }, { token, tasks: true, headers }));
  expect(answered.get("X-Request-Id")).toBe("from-the-caller");
  const mine = node.events.filter(({ event }) => event["requestId"] === "from-the-caller");
  expect(mine.map(({ name }) => name)).toEqual(["task.created", "http.served"]);
});

test("a node with more requests in flight than it serves answers 503 at once, and serves again afterwards", async () => {
  await using small = await world.startNode({ HOLDFAST_MAX_IN_FLIGHT: "2" });
  const controller = new AbortController();
  const waiting = [1, 2].map((id) =>
    small.call(toolCall("slow_compute", { label: `held ${id}` }, { token, id, signal: controller.signal })).catch(() => null),
  );
  await expect.poll(() => small.events.filter(({ name }) => name === "task.created").length, { timeout: 5000 }).toBe(2);
  const refused = await small.call({ method: "tools/list", token });
  expect(refused).toMatchObject({ status: 503, error: { code: -32_603 } });
  expect(refused.headers.get("Retry-After")).toBe("1");
  expect((await fetch(new URL("/readyz", small.url))).status).toBe(200);
  controller.abort();
  await Promise.all(waiting);
  await expect.poll(async () => (await small.call({ method: "tools/list", token })).status, { timeout: 5000 }).toBe(200);
});

test("connections that send nothing do not hold up the end of a node", async () => {
  const leaving = await world.startNode({ HOLDFAST_DRAIN_MS: "60000" });
  const socket = connect(Number(new URL(leaving.url).port), "127.0.0.1");
  await once(socket, "connect");
  // Answered after the node has seen the silent connection too.
  expect((await fetch(new URL("/livez", leaving.url))).status).toBe(200);
  const closed = once(socket, "close");
  await leaving.stop();
  await closed;
});
