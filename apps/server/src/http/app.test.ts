import { expect, test, vi } from "vitest";
import { modernRequest, PROTOCOL_VERSION, readAnswer, toolCall, type ModernRequest } from "../../../../test/support/mcp-request.ts";
import type { VerifyToken } from "../auth/verify-token.ts";
import { createTestNode, type TestNode } from "../testing/test-node.ts";

const url = "http://127.0.0.1/mcp";
const token = "alice";

function post(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): Request {
  const standard = {
    "Content-Type": "application/json",
    Authorization: `Bearer ${token}`,
    "MCP-Protocol-Version": PROTOCOL_VERSION,
    "Mcp-Method": "tools/call",
  };
  return new Request(url, { method: "POST", body, headers: { ...standard, ...headers } });
}

/** A call that would create a task, spoiled in one place. */
function spoiled(replace: (text: string) => string): string {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": PROTOCOL_VERSION,
    "io.modelcontextprotocol/clientCapabilities": { extensions: { "io.modelcontextprotocol/tasks": {} } },
  };
  return replace(
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "test.echo", arguments: {}, _meta: meta } }),
  );
}

async function send(node: TestNode, request: Request): Promise<Response> {
  return await node.request(request);
}

test("without a token the answer says where to get one and for which scopes", async () => {
  const response = await send(createTestNode(), modernRequest(url, { method: "tools/list" }));
  expect(response.status).toBe(401);
  expect(response.headers.get("WWW-Authenticate")).toBe(
    'Bearer scope="test:read", resource_metadata="http://127.0.0.1/.well-known/oauth-protected-resource/mcp"',
  );
});

test.for(["alice", "Basic YWxpY2U6eA==", "Bearer", "Bearer ", "Bearer a b", "Bearer a, Bearer b", 'Bearer "alice"', "Bearer\talice"])(
  "an Authorization header of %j is no bearer token",
  async (authorization) => {
    const node = createTestNode();
    const response = await send(
      node,
      modernRequest(url, toolCall("test.echo", {}, { tasks: true, headers: { Authorization: authorization } })),
    );
    expect(response.status).toBe(401);
    expect(response.headers.get("WWW-Authenticate")).toContain("invalid_token");
    expect(node.writes).toEqual([]);
  },
);

test("a token that fails verification is told which check failed", async () => {
  const verify: VerifyToken = async () => ({ kind: "invalid", reason: 'The access token\'s "aud" claim was not accepted.' });
  const response = await send(createTestNode({ verify }), modernRequest(url, { method: "tools/list", token }));
  expect(response.status).toBe(401);
  expect(response.headers.get("WWW-Authenticate")).toMatch(
    /^Bearer error="invalid_token", error_description="The access token's  aud  claim was not accepted\.", scope="[^"]+", resource_metadata="[^"]+"$/u,
  );
});

test("an issuer out of reach is a 503 with the time to come back, and lets nobody in", async () => {
  const cause = new Error("the key set answered 500");
  const node = createTestNode({ verify: async () => ({ kind: "unavailable", retryAfterMs: 7001, cause }) });
  const response = await send(node, modernRequest(url, toolCall("test.echo", {}, { token, tasks: true })));
  expect(response.status).toBe(503);
  expect(response.headers.get("Retry-After")).toBe("8");
  expect(node.writes).toEqual([]);
  expect(node.events).toMatchObject([{ name: "http.served", error: cause }]);
});

test.for<Record<string, string>>([{ Host: "evil.example" }, { Origin: "https://evil.example" }, { Origin: "null" }])(
  "%j is refused before the token is looked at",
  async (headers) => {
    const verify = vi.fn<VerifyToken>(async () => ({ kind: "invalid", reason: "never asked" }));
    const response = await send(createTestNode({ verify }), modernRequest(url, { method: "tools/list", token, headers }));
    expect(response.status).toBe(403);
    expect(verify).not.toHaveBeenCalled();
  },
);

test("the metadata is served to everybody, at the root and for the path of the resource", async () => {
  const node = createTestNode();
  for (const path of ["", "/mcp"]) {
    const response = await send(node, new Request(`http://127.0.0.1/.well-known/oauth-protected-resource${path}`));
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      resource: "http://127.0.0.1/mcp",
      bearer_methods_supported: ["header"],
      scopes_supported: ["test:read", "test:write"],
    });
  }
});

test("liveness and readiness answer to any name, without a token", async () => {
  const node = createTestNode();
  const [live, ready] = await Promise.all(
    ["livez", "readyz"].map((path) => send(node, new Request(`http://127.0.0.1/${path}`, { headers: { Host: "10.1.2.3:8400" } }))),
  );
  expect(await live?.json()).toEqual({ status: "live" });
  expect(ready?.status).toBe(200);
  expect(await ready?.json()).toEqual({ status: "ready", database: "usable", listener: "up", draining: false });
});

test.for<[string, string | Uint8Array<ArrayBuffer>, number, number]>([
  ["an empty body", "", 400, -32_700],
  ["half a document", spoiled((text) => text.slice(0, -1)), 400, -32_700],
  ["a byte order mark", spoiled((text) => `\uFEFF${text}`), 400, -32_700],
  ["invalid UTF-8", Buffer.concat([Buffer.from('{"a":"'), Uint8Array.of(0xc3, 0x28), Buffer.from('"}')]), 400, -32_700],
  ["a batch", spoiled((text) => `[${text}]`), 400, -32_600],
  ["an empty batch", "[]", 400, -32_600],
  ["a number", "7", 400, -32_600],
  ["null", "null", 400, -32_600],
  ["text", '"tools/call"', 400, -32_600],
  ["another jsonrpc", spoiled((text) => text.replace('"2.0"', '"1.0"')), 400, -32_600],
  ["no jsonrpc", spoiled((text) => text.replace('"jsonrpc":"2.0",', "")), 400, -32_600],
  ["the id null", spoiled((text) => text.replace('"id":1', '"id":null')), 400, -32_600],
  ["an object as id", spoiled((text) => text.replace('"id":1', '"id":{}')), 400, -32_600],
  ["a list as id", spoiled((text) => text.replace('"id":1', '"id":[1]')), 400, -32_600],
  ["a fraction as id", spoiled((text) => text.replace('"id":1', '"id":1.5')), 400, -32_600],
  ["a method that is no text", spoiled((text) => text.replace('"method":"tools/call"', '"method":7')), 400, -32_600],
  ["a member named twice", spoiled((text) => text.replace('"id":1', '"id":1,"id":2')), 400, -32_600],
  ["an argument named twice", spoiled((text) => text.replace('"arguments":{}', '"arguments":{"text":"a","text":"b"}')), 400, -32_600],
  ["an argument beyond every double", spoiled((text) => text.replace('"arguments":{}', '"arguments":{"limit":1e999}')), 400, -32_600],
  ["nesting 200 deep", spoiled((text) => text.replace("{}", `${'{"a":'.repeat(200)}1${"}".repeat(200)}`)), 400, -32_600],
  ["nesting 100,000 deep", `${"[".repeat(100_000)}${"]".repeat(100_000)}`, 400, -32_600],
  ["a body over the limit", spoiled((text) => text.replace("{}", `{"text":"${"x".repeat(4 * 1024 * 1024)}"}`)), 413, -32_600],
  ["params that are a list", spoiled((text) => text.replace(/"params":.*$/u, '"params":[]}')), 400, -32_600],
])("%s is refused and starts nothing", async ([, body, status, code]) => {
  const node = createTestNode();
  const answer = await readAnswer(await send(node, post(body)));
  expect({ status: answer.status, code: answer.error?.code }).toEqual({ status, code });
  expect(answer.result).toBeUndefined();
  expect(node.writes).toEqual([]);
});

test("the same call unspoiled creates a task", async () => {
  const node = createTestNode();
  const headers = { "Mcp-Name": "test.echo" };
  expect(
    (
      await readAnswer(
        await send(
          node,
          post(
            spoiled((text) => text),
            headers,
          ),
        ),
      )
    ).result,
  ).toMatchObject({ resultType: "task" });
});

test.for<[string, Partial<ModernRequest>, number, number]>([
  ["no protocol version", { headers: { "MCP-Protocol-Version": "" } }, 400, -32_020],
  ["another protocol version than the body", { headers: { "MCP-Protocol-Version": "2025-11-25" } }, 400, -32_020],
  ["another method than the body", { headers: { "Mcp-Method": "tools/list" } }, 400, -32_020],
  ["another name than the body", { headers: { "Mcp-Name": "test.foreground" } }, 400, -32_020],
  ["a name in broken Base64", { headers: { "Mcp-Name": "=?base64?%%%?=" } }, 400, -32_020],
])("a request whose headers name %s is refused", async ([, extra, status, code]) => {
  const node = createTestNode();
  const answer = await node.call(toolCall("test.echo", {}, { token, tasks: true, ...extra }));
  expect({ status: answer.status, code: answer.error?.code }).toEqual({ status, code });
  expect(node.writes).toEqual([]);
});

test("a name in Base64 is decoded before it is compared", async () => {
  const name = `=?base64?${Buffer.from("test.echo").toString("base64")}?=`;
  expect((await createTestNode().call(toolCall("test.echo", {}, { token, tasks: true, headers: { "Mcp-Name": name } }))).status).toBe(200);
});

test("a revision that is not served is refused with those that are", async () => {
  const body = spoiled((text) => text.replaceAll(PROTOCOL_VERSION, "2099-01-01"));
  const answer = await readAnswer(
    await send(createTestNode(), post(body, { "MCP-Protocol-Version": "2099-01-01", "Mcp-Name": "test.echo" })),
  );
  expect(answer).toMatchObject({ status: 400, error: { code: -32_022, data: { supported: [PROTOCOL_VERSION], requested: "2099-01-01" } } });
});

test("a client of an earlier revision is told in its own handshake which revisions are served", async () => {
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "old", version: "1" } },
  });
  const request = new Request(url, {
    method: "POST",
    body,
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
  });
  const answer = await readAnswer(await send(createTestNode(), request));
  expect(answer).toMatchObject({ status: 400, error: { code: -32_022, data: { supported: [PROTOCOL_VERSION], requested: "2025-11-25" } } });
});

test("another media type is refused without reading the body", async () => {
  const request = post("<xml/>", { "Content-Type": "application/xml" });
  const response = await send(createTestNode(), request);
  expect(response.status).toBe(415);
  expect(request.bodyUsed).toBe(false);
});

test.for(["GET", "DELETE", "PUT"])("%s is no method of the endpoint", async (method) => {
  const response = await send(createTestNode(), new Request(url, { method, headers: { Authorization: `Bearer ${token}` } }));
  expect(response.status).toBe(405);
  expect(response.headers.get("Allow")).toBe("POST");
});

test("a notification is accepted without an answer", async () => {
  const body = JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
  const response = await send(createTestNode(), post(body, { "Mcp-Method": "notifications/cancelled" }));
  expect(response.status).toBe(202);
  expect(await response.text()).toBe("");
});

test("every answer forbids browsers to guess, frame or keep it, and names its request", async () => {
  const node = createTestNode();
  const requests = [
    modernRequest(url, { method: "tools/list", token }),
    modernRequest(url, { method: "tools/list" }),
    modernRequest(url, { method: "tools/list", token, headers: { Origin: "https://evil.example" } }),
    post("{"),
    new Request("http://127.0.0.1/nowhere"),
    new Request("http://127.0.0.1/livez"),
  ];
  for (const request of requests) {
    const { headers } = await send(node, request);
    expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect(headers.get("Content-Security-Policy")).toContain("frame-ancestors 'none'");
    expect(headers.get("Cache-Control")).toBe("no-store");
    expect(headers.get("X-Request-Id")).toMatch(/^[0-9a-f-]{36}$/u);
    expect(headers.has("Access-Control-Allow-Origin")).toBe(false);
  }
});

test("each request leaves one line, and no line holds a token", async () => {
  const node = createTestNode();
  await send(node, modernRequest(`${url}?access_token=secret-1`, { method: "tools/list", token: "secret-2" }));
  await send(node, modernRequest(url, { method: "tools/list", token: "secret-3", headers: { Authorization: "Bearer secret-4 x" } }));
  expect(node.events.map(({ name }) => name)).toEqual(["http.served", "http.served"]);
  expect(node.events).toMatchObject([{ event: { path: "/mcp", status: 200 } }, { event: { status: 401 } }]);
  expect(JSON.stringify(node.events)).not.toContain("secret");
});

test("a token in the query is no token", async () => {
  expect((await send(createTestNode(), modernRequest(`${url}?access_token=alice`, { method: "tools/list" }))).status).toBe(401);
});

test("a bug in verifying is a 500 with a reference and lets nobody in", async () => {
  const node = createTestNode({ verify: () => Promise.reject(new Error("cannot read properties of undefined")) });
  const answer = await readAnswer(await send(node, modernRequest(url, toolCall("test.echo", {}, { token, tasks: true }))));
  expect(answer).toMatchObject({ status: 500, error: { code: -32_603, message: "Internal error." } });
  expect(answer.text).not.toContain("undefined");
  expect(node.writes).toEqual([]);
});

test("bodies of a length that was not declared count as long as they are, so that many small ones may wait", async () => {
  const node = createTestNode();
  const sendInChunks = async (): Promise<Response> => {
    const declared = modernRequest("http://127.0.0.1/mcp", toolCall("test.fresh", {}, { token: "alice" }));
    const [headers, body] = [new Headers(declared.headers), await declared.text()];
    headers.set("Transfer-Encoding", "chunked");
    return await node.request(new Request(declared.url, { method: "POST", headers, body: new Blob([body]).stream(), duplex: "half" }));
  };
  // As many bodies of the longest length would not be let in.
  const waiting: Promise<Response>[] = [];
  for (let count = 1; count <= 20; count += 1) {
    waiting.push(sendInChunks());
    await expect.poll(() => node.created.length).toBe(count);
  }
  for (const { id } of node.created) await node.settle(id);
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(waiting.map(() => 200));
});
