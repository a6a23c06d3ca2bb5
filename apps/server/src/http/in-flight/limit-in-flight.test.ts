import { Hono } from "hono";
import { expect, test } from "vitest";
import type { HttpEnv } from "../env.ts";
import { startHttpServer } from "../http-server.ts";
import { limitInFlight } from "./limit-in-flight.ts";

test("the request over the limit is told to come back, and room is made by requests that end, also those that fail", async () => {
  const releases: (() => void)[] = [];
  const app = new Hono<HttpEnv>().use(limitInFlight({ maxRequests: 2, maxHeavyBytes: 0 })).get("/:how", async (context) => {
    await new Promise<void>((resolve) => releases.push(resolve));
    if (context.req.param("how") === "fail") throw new Error("a bug");
    return context.text("served");
  });
  app.onError((_error, context) => context.text("failed", 500));
  const [first, second] = [app.request("/well"), app.request("/fail")];
  const refused = await app.request("/well");
  expect(refused.status).toBe(503);
  expect(refused.headers.get("Retry-After")).toBe("1");
  expect(await refused.json()).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32_603 } });
  releases.splice(0).forEach((release) => release());
  expect([(await first).status, (await second).status]).toEqual([200, 500]);
  const [third, fourth] = [app.request("/well"), app.request("/well")];
  releases.splice(0).forEach((release) => release());
  expect([(await third).status, (await fourth).status]).toEqual([200, 200]);
});

test("large bodies share a budget, small ones and their requests do not wait for it", async () => {
  const releases: (() => void)[] = [];
  const app = new Hono<HttpEnv>().use(limitInFlight({ maxRequests: 100, maxHeavyBytes: 300_000 })).post("/", async (context) => {
    await new Promise<void>((resolve) => releases.push(resolve));
    return context.text("served");
  });
  const post = (headers: Record<string, string>) => app.request("/", { method: "POST", headers }, {});
  const inside = [post({ "Content-Length": "150000" }), post({ "Content-Length": "150000" })];
  const refused = await post({ "Content-Length": "150000" });
  expect(refused.status).toBe(503);
  expect(refused.headers.get("Retry-After")).toBe("1");
  // It may become as long as a body can be.
  expect((await post({ "Transfer-Encoding": "chunked" })).status).toBe(503);
  inside.push(post({ "Content-Length": "60000" }));
  releases.splice(0).forEach((release) => release());
  expect(await Promise.all(inside.map(async (response) => (await response).status))).toEqual([200, 200, 200]);
  const next = post({ "Content-Length": "300000" });
  releases.splice(0).forEach((release) => release());
  expect((await next).status).toBe(200);
});

test("a large body counts until the stream that answers it has ended, however that comes about", async () => {
  const streams: ReadableStreamDefaultController<Uint8Array>[] = [];
  const app = new Hono<HttpEnv>().use(limitInFlight({ maxRequests: 100, maxHeavyBytes: 300_000 })).post("/", async (context) => {
    await context.req.arrayBuffer();
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void streams.push(controller) });
    return context.body(body, 200, { "Content-Type": "text/event-stream" });
  });
  const server = await startHttpServer({ fetch: app.fetch, host: "127.0.0.1", port: 0 });
  const post = async (signal?: AbortSignal) =>
    await fetch(`http://127.0.0.1:${server.port}/`, {
      method: "POST",
      body: "x".repeat(200_000),
      ...(signal === undefined ? {} : { signal }),
    });
  try {
    const first = await post();
    expect([first.status, (await post()).status]).toEqual([200, 503]);
    streams[0]?.close();
    await first.text();
    const left = new AbortController();
    const second = await settledAs(200, () => post(left.signal));
    expect([second.status, (await post()).status]).toEqual([200, 503]);
    left.abort();
    expect((await settledAs(200, post)).status).toBe(200);
  } finally {
    await server.close();
  }
});

test("a large body no longer counts behind a stream that has done with it", async () => {
  const app = new Hono<HttpEnv>().use(limitInFlight({ maxRequests: 100, maxHeavyBytes: 300_000 })).post("/", async (context) => {
    await context.req.arrayBuffer();
    context.set("isBodyDone", true);
    return context.body(new ReadableStream<Uint8Array>(), 200, { "Content-Type": "text/event-stream" });
  });
  const server = await startHttpServer({ fetch: app.fetch, host: "127.0.0.1", port: 0 });
  const post = async () => (await fetch(`http://127.0.0.1:${server.port}/`, { method: "POST", body: "x".repeat(200_000) })).status;
  try {
    expect([await post(), await post(), await post()]).toEqual([200, 200, 200]);
  } finally {
    await server.close();
  }
});

/** The connection's end is seen a moment after the client saw it. */
async function settledAs(status: number, post: () => Promise<Response>): Promise<Response> {
  for (const deadline = performance.now() + 5000; ;) {
    const response = await post();
    if (response.status === status || performance.now() > deadline) return response;
  }
}
