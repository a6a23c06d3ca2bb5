import { Hono } from "hono";
import { expect, test } from "vitest";
import type { HttpEnv } from "../env.ts";
import { requestId } from "./request-id.ts";

const app = new Hono<HttpEnv>().use(requestId).get("/", (context) => context.text(context.get("requestId")));

async function idFor(given: string | null): Promise<string> {
  const response = await app.request("/", { headers: given === null ? {} : { "X-Request-Id": given } });
  const id = response.headers.get("X-Request-Id");
  expect(await response.text()).toBe(id);
  return id ?? "";
}

test("the caller's request id is kept and answered", async () => {
  expect(await idFor("trace-4711.a:b")).toBe("trace-4711.a:b");
});

test.for([null, "", "two words", 'quo"te', "{json}", "x".repeat(129), "-leading"])("instead of %j a new id is made", async (given) => {
  expect(await idFor(given)).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/u);
});
