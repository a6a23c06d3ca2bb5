// What Holdfast relies on in the pinned release of the MCP SDK beyond its documentation. A red test here means: look at what the
// new release does, and decide again.
import { createRequire } from "node:module";
import { createMcpHandler, Server, type Result } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { z } from "zod";
import { modernCaller, modernRequest, toolCall, type Answer } from "../../../../../test/support/mcp-request.ts";
import { ExactServer } from "./exact-server.ts";

const url = "http://127.0.0.1/mcp";
const params = z.looseObject({});
const taskResult: Result = { resultType: "task", taskId: "t1", status: "working" };

// oxlint-disable-next-line typescript/no-deprecated -- the pins are about this class
class SdkServer extends Server {}

/** One exchange with a server of the SDK that `setUp` gave its handlers. */
async function exchange(
  request: Parameters<typeof modernRequest>[1],
  setUp: (server: SdkServer) => void,
  kind: typeof SdkServer = SdkServer,
): Promise<Answer> {
  const handler = createMcpHandler(
    () => {
      const server = new kind(
        { name: "pins", version: "1" },
        { capabilities: { tools: {}, extensions: { "io.modelcontextprotocol/tasks": {} } } },
      );
      setUp(server);
      return server;
    },
    { legacy: "reject" },
  );
  try {
    return await modernCaller(url, (sent) => handler.fetch(sent))(request);
  } finally {
    await handler.close();
  }
}

test("the release is the one that was measured", () => {
  const manifest = createRequire(import.meta.url)
    .resolve("@modelcontextprotocol/server")
    .replace(/dist\/.*$/u, "package.json");
  expect(createRequire(import.meta.url)(manifest)).toMatchObject({ version: "2.4.0" });
});

test("tasks/get, tasks/cancel and tasks/update reach handlers that were registered with a schema of their own", async () => {
  for (const method of ["tasks/get", "tasks/cancel", "tasks/update"]) {
    const answer = await exchange({ method, params: { taskId: "t1" } }, (server) =>
      server.setRequestHandler(method, { params }, async () => ({ reached: method })),
    );
    expect(answer.result).toMatchObject({ reached: method, resultType: "complete" });
  }
});

test("tasks/result and tasks/list do not exist for this revision unless somebody registers them", async () => {
  for (const method of ["tasks/result", "tasks/list"]) {
    expect(await exchange({ method, params: { taskId: "t1" } }, () => undefined)).toMatchObject({ status: 404, error: { code: -32_601 } });
  }
});

test("the SDK's own server adds content to a task handle, and ours does not", async () => {
  const setUp = (server: SdkServer): void => server.setRequestHandler("tools/call", { params }, async () => taskResult);
  expect((await exchange(toolCall("x"), setUp)).result).toHaveProperty("content", []);
  expect((await exchange(toolCall("x"), setUp, ExactServer)).result).not.toHaveProperty("content");
});

test("the SDK's own server rebuilds a result, and ours keeps the order of its members", async () => {
  const result = { isError: true, structuredContent: { b: 1, a: 2 }, content: [{ text: "x", type: "text" }] };
  const setUp = (server: SdkServer): void => server.setRequestHandler("tools/call", { params }, async () => result);
  expect((await exchange(toolCall("x"), setUp, ExactServer)).text).toContain(JSON.stringify(result).slice(1, -1));
  expect((await exchange(toolCall("x"), setUp)).text).not.toContain(JSON.stringify(result).slice(1, -1));
});

test("the SDK's check of the request still runs around our exact answers", async () => {
  const answer = await exchange(
    { method: "tools/call", params: { name: "x", arguments: 7 } },
    (server) => server.setRequestHandler("tools/call", { params }, async () => ({ content: [] })),
    ExactServer,
  );
  expect(answer.error).toMatchObject({ code: -32_602 });
});

test("inputResponses are taken out of the params and handed over beside them", async () => {
  const sent = { taskId: "t1", inputResponses: { a: { action: "accept" }, b: "no object" } };
  const answer = await exchange({ method: "tasks/update", params: sent }, (server) =>
    server.setRequestHandler("tasks/update", { params }, async (given, context) => ({ given, beside: context.mcpReq.inputResponses })),
  );
  expect(answer.result).toMatchObject({ given: { taskId: "t1" }, beside: { a: { action: "accept" } } });
  expect(answer.result).not.toHaveProperty("given.inputResponses");
  expect(answer.result).not.toHaveProperty("beside.b");
});

test("the text of an exception in a handler would reach the caller", async () => {
  const answer = await exchange(toolCall("x"), (server) =>
    server.setRequestHandler("tools/call", { params }, () => Promise.reject(new Error("select secret from table"))),
  );
  expect(answer.error?.message).toBe("select secret from table");
});

test("the request that is handed to the handler is the one that the factory sees", async () => {
  const seen: unknown[] = [];
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      seen.push(requestInfo);
      return new SdkServer({ name: "pins", version: "1" }, { capabilities: {} });
    },
    { legacy: "reject" },
  );
  const request = modernRequest(url, { method: "server/discover" });
  await handler.fetch(request, { parsedBody: await request.clone().json() });
  expect(seen).toEqual([request]);
  expect(seen[0]).toBe(request);
});

test("the signal of a handler is aborted when the client leaves, with a connection error as reason", async () => {
  const controller = new AbortController();
  const reason = Promise.withResolvers<unknown>();
  const answer = exchange({ ...toolCall("x"), signal: controller.signal }, (server) =>
    server.setRequestHandler("tools/call", { params }, async (_given, context) => {
      context.mcpReq.signal.addEventListener("abort", () => reason.resolve(context.mcpReq.signal.reason));
      controller.abort();
      return await new Promise<Result>(() => undefined);
    }),
  );
  expect(await reason.promise).toMatchObject({ message: "Connection closed" });
  // The exchange ended without a JSON-RPC answer: 499, and nothing to parse.
  await expect(answer).rejects.toThrow("JSON");
});

test("subscriptions/listen is answered by the SDK before any handler of ours", async () => {
  const handler = createMcpHandler(() => new SdkServer({ name: "pins", version: "1" }, { capabilities: {} }), { legacy: "reject" });
  const response = await handler.fetch(
    modernRequest(url, { method: "subscriptions/listen", params: { notifications: { taskIds: ["t1"] } } }),
  );
  expect(response.headers.get("Content-Type")).toContain("text/event-stream");
  expect(await response.text()).toContain("notifications/subscriptions/acknowledged");
  await handler.close();
});
