import { Hono } from "hono";
import { expect, test } from "vitest";
import type { HttpEnv } from "../env.ts";
import { checkOrigin } from "./check-origin.ts";

const publicService = { allowedHosts: ["mcp.example"], allowedOrigins: ["https://mcp.example", "https://app.example:8443"] };
const localService = { allowedHosts: ["localhost", "127.0.0.1", "[::1]"], allowedOrigins: ["http://127.0.0.1:8400"] };

async function statusFor(rules: typeof publicService, headers: Record<string, string>): Promise<number> {
  const app = new Hono<HttpEnv>().use(checkOrigin(rules)).get("/", (context) => context.text("reached"));
  return (await app.request("/", { headers })).status;
}

test.for([
  { Host: "mcp.example" },
  { Host: "MCP.example:443" },
  { Host: "mcp.example", Origin: "https://mcp.example" },
  { Host: "mcp.example", Origin: "https://app.example:8443" },
])("a public service serves %j", async (headers) => {
  expect(await statusFor(publicService, headers)).toBe(200);
});

test.for([
  { Host: "evil.example" },
  { Host: "mcp.example.evil.example" },
  { Host: "localhost" },
  { Host: "127.0.0.1:8400" },
  { Host: "mcp.example@evil.example" },
  { Host: "evil.example", "X-Forwarded-Host": "mcp.example", Forwarded: "host=mcp.example" },
  { Host: "mcp.example", Origin: "https://evil.example" },
  { Host: "mcp.example", Origin: "null" },
  { Host: "mcp.example", Origin: "" },
  { Host: "mcp.example", Origin: "http://mcp.example" },
  { Host: "mcp.example", Origin: "https://app.example" },
  { Host: "mcp.example", Origin: "https://mcp.example/path" },
  { Host: "mcp.example", Origin: "https://mcp.example, https://evil.example" },
  { Host: "mcp.example", Origin: "file://" },
])("a public service refuses %j", async (headers) => {
  expect(await statusFor(publicService, headers)).toBe(403);
});

test.for([
  { Host: "localhost:8400", Origin: "http://localhost:6274" },
  { Host: "127.0.0.1:8400", Origin: "http://127.0.0.1:3000" },
  { Host: "[::1]:8400", Origin: "http://[::1]:3000" },
])("a service on loopback serves %j, whatever the port", async (headers) => {
  expect(await statusFor(localService, headers)).toBe(200);
});

test.for([
  { Host: "evil.example:8400" },
  { Host: "localhost:8400", Origin: "http://evil.example" },
  { Host: "localhost:8400", Origin: "http://localhost.evil.example" },
  { Host: "localhost:8400", Origin: "chrome-extension://localhost" },
])("a service on loopback refuses %j", async (headers) => {
  expect(await statusFor(localService, headers)).toBe(403);
});
