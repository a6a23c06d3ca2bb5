import { createServer } from "node:net";
import { once } from "node:events";
import { Client, DatabaseError } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { explainConnectionError } from "./connection-error.ts";
import { testDatabase, type TestDatabase } from "./testing/index.ts";

let database: TestDatabase;
let role: string;
let asksNoPassword = false;

beforeAll(async () => {
  database = await testDatabase();
  role = `${database.name}_role`;
  await connectAnd(database.url, `create role ${role} login password 'right-password' connection limit 0`);
  const refusal: unknown = await connectAnd(withParts({ username: role, password: "wrong-password" }), "select 1").catch(
    (error: unknown) => error,
  );
  asksNoPassword = refusal instanceof DatabaseError && refusal.code === "53300";
});
afterAll(async () => {
  await connectAnd(database.url, `drop role ${role}`);
  await database.drop();
});

test("nobody listens: host and port are named", async () => {
  const port = await closedPort();
  expect(await explained(`postgres://app:hunter2@127.0.0.1:${port}/tasks`)).toBe(
    `cannot use the database postgres://app:***@127.0.0.1:${port}/tasks: connection refused: no Postgres listens at 127.0.0.1:${port}`,
  );
});

test("a file that the URL names and that is not there is told apart from a socket", async () => {
  expect(await explained(`${database.url}?sslrootcert=/no/such/file`)).toMatch(
    /: a file that the URL names is not there \(.*\/no\/such\/file/u,
  );
});

test("a wrong password: the user is named, no password is shown", async ({ skip }) => {
  skip(asksNoPassword, "the server of DATABASE_URL asks for no password");
  const line = await explained(withParts({ username: role, password: "wrong-password" }));
  expect(line).toMatch(new RegExp(`: wrong password for ${role}$`, "u"));
  expect(line).not.toContain("wrong-password");
});

test("an unknown database is named", async () => {
  expect(await explained(withParts({ pathname: "/no_such_database" }))).toMatch(/: there is no database named no_such_database$/u);
});

test("no connection is left: the server's reason is quoted", async () => {
  expect(await explained(withParts({ username: role, password: "right-password" }))).toMatch(
    /: all connections of the server are taken \(too many/u,
  );
});

test("a missing password is said to be missing", async ({ skip }) => {
  skip(asksNoPassword, "the server of DATABASE_URL asks for no password");
  expect(await explained(withParts({ username: role, password: "" }))).toMatch(
    new RegExp(`asks for a password of ${role} and the URL has none$`, "u"),
  );
});

test("a server without TLS is told apart from one that is down", async () => {
  // Answers "no" to the request for TLS, as a Postgres without a certificate does.
  const server = createServer((socket) => socket.once("data", () => socket.write("N"))).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  expect(await explained(`postgres://app:hunter2@127.0.0.1:${port}/tasks?sslmode=verify-full`)).toMatch(
    /: the server speaks no TLS: .*sslmode=disable$/u,
  );
  server.close();
});

test("something that is no Postgres and hangs up is said to be none", async () => {
  const server = createServer((socket) => socket.end()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  expect(await explained(`postgres://app:hunter2@127.0.0.1:${port}/tasks`)).toMatch(/closed the connection; is it a Postgres\?$/u);
  server.close();
});

test("an unknown host is named, also behind a wrapper and among several addresses", () => {
  const cause = new AggregateError([Object.assign(new Error("getaddrinfo ENOTFOUND db.internal"), { code: "ENOTFOUND" })]);
  const error = new Error("cannot start", { cause });
  expect(explainConnectionError(error, "postgres://db.internal/tasks")).toBe(
    "cannot use the database postgres://db.internal/tasks: the host db.internal is unknown",
  );
});

test.each([
  ["", /it is empty/u],
  ["localhost:5432/tasks", /must start with postgres:\/\//u],
  ["mysql://app:hunter2@127.0.0.1/tasks", /starts with mysql:\/\//u],
  ["postgres://app:hunter2#@127.0.0.1/tasks", /percent-encoded/u],
  ["postgres://app:hunter2@127.0.0.1:port/tasks", /percent-encoded/u],
  ["postgres://app:hunter2%@127.0.0.1/tasks", /percent sign/u],
])("the unusable URL %j is refused for what it is and not quoted", (url, reason) => {
  const line = explainConnectionError(new TypeError("Invalid URL"), url);
  expect(line).toMatch(reason);
  expect(line).not.toContain("hunter2");
});

test("a password among the parameters is not shown", () => {
  const error = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  expect(explainConnectionError(error, "postgres://app@127.0.0.1/tasks?password=hunter2")).not.toContain("hunter2");
});

test("an error about anything else is left to its own words", () => {
  expect(explainConnectionError(new Error("relation does not exist"), "postgres://127.0.0.1/tasks")).toBeNull();
});

async function explained(url: string): Promise<string | null> {
  const error: unknown = await connectAnd(url, "select 1").then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Error);
  return explainConnectionError(error, url);
}

function withParts(parts: Partial<Pick<URL, "username" | "password" | "pathname">>): string {
  return Object.assign(new URL(database.url), parts).href;
}

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function connectAnd(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query(statement);
  } finally {
    await client.end();
  }
}
