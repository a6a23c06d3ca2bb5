import { createServer } from "node:net";
import { emptyDatabase } from "@holdfast/db/testing";
import { toolResult } from "@holdfast/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { taskIdOf, toolCall } from "../support/mcp-request.ts";
import { runServerProcess, startServerProcess } from "../support/server-process.ts";
import { createServerWorld, type ServerWorld } from "../support/server-world.ts";
import { untilValue } from "../support/task-world.ts";

let world: ServerWorld;

beforeAll(async () => {
  world = await createServerWorld();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

async function handleOf(label: string): Promise<string> {
  const rows = await untilValue(
    () => world.query("select id from holdfast.task where input->>'label' = $1", [label]),
    ({ length }) => length === 1,
    10_000,
  );
  return `m.k1.current.${String(rows[0]?.["id"])}.x`;
}

test("after its node is killed a task is fetched from another, with a fresh token of the same subject", async () => {
  await using first = await startServerProcess(world.environment());
  const taskId = taskIdOf(await first.call(toolCall("slow_compute", {}, { token: await world.token({ subject: "alice" }), tasks: true })));
  first.signal("SIGKILL");
  expect((await first.exit).signal).toBe("SIGKILL");
  await world.settle(taskId, { kind: "completed", result: toolResult({ text: "survived" }), artifacts: [] });
  await using second = await startServerProcess(world.environment());
  const token = await world.token({ subject: "alice", claims: { jti: "fresh" } });
  const { result } = await second.call({ method: "tasks/get", params: { taskId }, token, tasks: true });
  expect(result).toMatchObject({ status: "completed", result: { content: [{ type: "text", text: "survived" }] } });
});

test("a draining node finishes the calls it has, takes no more, and ends with 0", async () => {
  await using server = await startServerProcess(world.environment({ HOLDFAST_DRAIN_MS: "20000" }));
  const token = await world.token();
  const ordinary = server.call(toolCall("slow_compute", { label: "drained" }, { token }));
  const handle = await handleOf("drained");
  server.signal("SIGTERM");
  await expect
    .poll(
      () =>
        fetch(new URL("/livez", server.url)).then(
          () => "answered",
          () => "refused",
        ),
      { timeout: 5000 },
    )
    .toBe("refused");
  await world.settle(handle);
  const answer = await ordinary;
  expect(answer.result).toMatchObject({ content: [{ type: "text", text: "done" }] });
  expect(answer.headers.get("Connection")).toBe("close");
  expect(await server.exit).toMatchObject({ code: 0, stderr: "" });
  expect(server.events("process.draining")).toMatchObject([{ role: "server", signal: "SIGTERM" }]);
  expect(server.events("process.stopped")).toHaveLength(1);
});

test("at the drain's deadline waiting calls are told to come back, and their tasks go on", async () => {
  await using server = await startServerProcess(world.environment({ HOLDFAST_DRAIN_MS: "200" }));
  const ordinary = server.call(toolCall("slow_compute", { label: "cut off" }, { token: await world.token() }));
  const handle = await handleOf("cut off");
  server.signal("SIGTERM");
  expect(await ordinary).toMatchObject({ status: 503, error: { code: -32_603 } });
  expect(await server.exit).toMatchObject({ code: 0 });
  const [row] = await world.query("select status from holdfast.task where id::text = $1", [handle.split(".")[3]]);
  expect(row).toEqual({ status: "working" });
});

test("a second signal ends the process at once", async () => {
  await using server = await startServerProcess(world.environment({ HOLDFAST_DRAIN_MS: "60000" }));
  const ordinary = server.call(toolCall("slow_compute", { label: "impatient" }, { token: await world.token() })).catch(() => "cut");
  await handleOf("impatient");
  server.signal("SIGTERM");
  await expect.poll(() => server.events("process.draining").length, { timeout: 5000 }).toBe(1);
  server.signal("SIGTERM");
  expect(await server.exit).toMatchObject({ code: 1 });
  expect(await ordinary).toBe("cut");
});

test("no log line of a node holds a token or a key", async () => {
  await using server = await startServerProcess(world.environment({ HOLDFAST_LOG_LEVEL: "trace" }));
  const token = await world.token();
  await server.call(toolCall("slow_compute", {}, { token, tasks: true }));
  await server.call({ method: "tools/list", token });
  await fetch(server.url, { method: "POST", headers: { Authorization: `Bearer ${token}x` } });
  await expect.poll(() => server.events("http.served").length, { timeout: 5000 }).toBe(3);
  const secrets = [token, token.split(".")[2] ?? "", world.environment()["HOLDFAST_KEYS"]?.split(":")[1] ?? ""];
  for (const secret of secrets) expect(server.output()).not.toContain(secret);
});

/** A refusal is one line that names what to mend, and exit code 2. */
async function refusalOf(environment: Record<string, string>): Promise<string> {
  const { code, stderr } = await runServerProcess(environment);
  expect(code).toBe(2);
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  expect(stderr).not.toMatch(/^\s+at /mu);
  return stderr;
}

test("a port in use is one line and exit code 2", async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => {
    taken.listen(0, "127.0.0.1", resolve);
  });
  const address = taken.address();
  const port = typeof address === "object" && address !== null ? String(address.port) : "";
  try {
    expect(await refusalOf(world.environment({ HOLDFAST_PORT: port }))).toContain(`127.0.0.1:${port}: the port is in use`);
  } finally {
    taken.close();
  }
});

test("a database that nobody serves is one line and exit code 2, without its password", async () => {
  const line = await refusalOf(world.environment({ DATABASE_URL: "postgres://holdfast:hunter2@127.0.0.1:1/holdfast" }));
  expect(line).toContain("127.0.0.1:1");
  expect(line).toContain("connection refused");
  expect(line).not.toContain("hunter2");
});

test("a database without the schema is one line and exit code 2", async () => {
  await using database = await emptyDatabase();
  expect(await refusalOf(world.environment({ DATABASE_URL: database.url }))).toContain("holdfast migrate");
});

test("a pack that does not load is one line and exit code 2", async () => {
  expect(await refusalOf(world.environment({ HOLDFAST_PACKS: "/nowhere/pack" }))).toContain("HOLDFAST_PACKS");
});

test("a configuration that cannot be used is one line and exit code 2", async () => {
  const { DATABASE_URL: _dropped, ...rest } = world.environment({ HOLDFAST_PORT: "eighty" });
  const line = await refusalOf(rest);
  expect(line).toContain("DATABASE_URL is required");
  expect(line).toContain("HOLDFAST_PORT is not usable");
});
