import { createHmac } from "node:crypto";
import { exportSPKI, importJWK } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { modernRequest, toolCall } from "../support/mcp-request.ts";
import { createServerWorld, PUBLIC_URL, type ServerWorld, type TestServer } from "../support/server-world.ts";
import { claimsFor, type TokenOptions } from "../support/tokens.ts";

let world: ServerWorld;
let node: TestServer;

beforeAll(async () => {
  world = await createServerWorld();
  node = await world.startNode();
});
afterAll(async () => {
  await node[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

/** Shows a token with a call that would create a task. */
async function show(token: string | null, url = node.url): Promise<Response> {
  return await fetch(modernRequest(url, toolCall("slow_compute", {}, { token, tasks: true })));
}

async function countTasks(): Promise<number> {
  const [row] = await world.query("select count(*)::int as count from holdfast.task");
  return Number(row?.["count"]);
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}

async function withPublicKeyAsSecret(): Promise<string> {
  const key = await importJWK(world.issuer.publicJwk, "ES256");
  if (key instanceof Uint8Array) throw new Error("an EC key is not bytes");
  const signed = `${encode({ alg: "HS256", kid: "key-1" })}.${encode(claimsFor(world.issuer.issuer, { audience: PUBLIC_URL }))}`;
  return `${signed}.${createHmac("sha256", await exportSPKI(key))
    .update(signed)
    .digest("base64url")}`;
}

const good = (options: Partial<TokenOptions> = {}): Promise<string> => world.token(options);

test("a good token is let in, also with the audience in a list", async () => {
  for (const token of [await good(), await good({ audience: ["https://other.example", PUBLIC_URL] })]) {
    expect((await show(token)).status).toBe(200);
  }
});

test.for<[string, () => Promise<string | null>]>([
  ["no token", async () => null],
  ["an expired token", async () => await good({ lifetimeSeconds: -60 })],
  ["a token for another resource", async () => await good({ audience: "https://other.example/mcp" })],
  ["a token without audience", async () => await good({ claims: { aud: undefined } })],
  ["a token without expiry", async () => await good({ claims: { exp: undefined } })],
  ["a token without subject", async () => await good({ claims: { sub: undefined } })],
  ["a token that starts in the future", async () => await good({ claims: { nbf: Math.floor(Date.now() / 1000) + 600 } })],
  ["a token of an issuer nobody trusts", async () => await good({ claims: { iss: "https://stranger.example" } })],
  ["a token of the issuer with a trailing slash", async () => await good({ claims: { iss: `${world.issuer.issuer}/` } })],
  ["a token with an invented key id", async () => await good({ kid: "invented" })],
  ["an unsigned token", async () => `${encode({ alg: "none" })}.${encode(claimsFor(world.issuer.issuer, { audience: PUBLIC_URL }))}.`],
  ["a token signed with the public key as a secret", withPublicKeyAsSecret],
  [
    "a token with another payload under its signature",
    async () => {
      const [header, , signature] = (await good()).split(".");
      return `${header}.${encode(claimsFor(world.issuer.issuer, { audience: PUBLIC_URL, subject: "bob" }))}.${signature}`;
    },
  ],
  ["no token at all but text", async () => "x"],
])("%s is a 401 with a challenge, and nothing is written", async ([, token]) => {
  const before = await countTasks();
  const response = await show(await token());
  expect(response.status).toBe(401);
  expect(response.headers.get("WWW-Authenticate")).toMatch(
    /^Bearer .*resource_metadata="http:\/\/127\.0\.0\.1:8400\/\.well-known\/oauth-protected-resource\/mcp"$/u,
  );
  expect(await countTasks()).toBe(before);
});

test("the challenge leads to the metadata, and the metadata to the issuer", async () => {
  const response = await fetch(new URL("/.well-known/oauth-protected-resource/mcp", node.url));
  expect(await response.json()).toMatchObject({ resource: PUBLIC_URL, authorization_servers: [world.issuer.issuer] });
});

test("a token that expires in mid-task stops nothing: the next one of the same subject finds it", async () => {
  const token = await good({ subject: "alice", lifetimeSeconds: 300 });
  const { result } = await node.call(toolCall("slow_compute", {}, { token, tasks: true }));
  const params = { taskId: result?.["taskId"] };
  const later = await good({ subject: "alice", lifetimeSeconds: 600, claims: { jti: "another" } });
  expect((await node.call({ method: "tasks/get", params, token: later, tasks: true })).result).toMatchObject({ status: "working" });
  const expired = await good({ subject: "alice", lifetimeSeconds: -60 });
  expect((await fetch(modernRequest(node.url, { method: "tasks/get", params, token: expired, tasks: true }))).status).toBe(401);
});

test("while the issuer is away the node answers 503, lets nobody in, and asks it once", async () => {
  await using fresh = await world.startNode();
  const token = await good();
  const fetches = world.issuer.fetches;
  world.issuer.mode = "fail";
  try {
    const responses = await Promise.all(Array.from({ length: 20 }, () => show(token, fresh.url)));
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 503));
    expect(Number(responses[0]?.headers.get("Retry-After"))).toBeGreaterThan(0);
    expect(world.issuer.fetches - fetches).toBe(1);
    // A node that has the keys already goes on working.
    expect((await show(token)).status).toBe(200);
  } finally {
    world.issuer.mode = "answer";
  }
});
