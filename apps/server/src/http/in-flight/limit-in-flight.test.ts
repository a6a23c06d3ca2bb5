import { Hono } from "hono";
import { expect, test } from "vitest";
import type { HttpEnv } from "../env.ts";
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
  const post = (headers: Record<string, string>) => app.request("/", { method: "POST", headers });
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
