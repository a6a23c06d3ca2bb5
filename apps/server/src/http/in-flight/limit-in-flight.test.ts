import { Hono } from "hono";
import { expect, test } from "vitest";
import type { HttpEnv } from "../env.ts";
import { limitInFlight } from "./limit-in-flight.ts";

test("the request over the limit is told to come back, and room is made by requests that end, also those that fail", async () => {
  const releases: (() => void)[] = [];
  const app = new Hono<HttpEnv>().use(limitInFlight(2)).get("/:how", async (context) => {
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
