import { ConfigError } from "@holdfast/process";
import { expect, test } from "vitest";
import { readServerConfig } from "./config.ts";

const secret = Buffer.alloc(32, 7).toString("base64url");

function environment(overrides: Record<string, string | undefined> = {}): Record<string, string | undefined> {
  return {
    DATABASE_URL: "postgres://holdfast:hunter2@db.example/holdfast",
    HOLDFAST_ISSUERS: JSON.stringify([{ issuer: "https://id.example", jwksUrl: "https://id.example/jwks" }]),
    HOLDFAST_KEYS: `k2:${secret},k1:${Buffer.alloc(32, 1).toString("base64url")}`,
    ...overrides,
  };
}

test("the audience of tokens is the public URL unless the issuer names another", () => {
  const issuers = [
    { issuer: "https://a.example", jwksUrl: "https://a.example/jwks" },
    { issuer: "https://b.example", jwksUrl: "https://b.example/jwks", audience: "api://holdfast" },
  ];
  const config = readServerConfig(
    environment({ HOLDFAST_PUBLIC_URL: "https://mcp.example/mcp", HOLDFAST_ISSUERS: JSON.stringify(issuers) }),
  );
  expect(config.issuers.map(({ audience }) => audience)).toEqual(["https://mcp.example/mcp", "api://holdfast"]);
});

test("keys keep their order, because the first one signs", () => {
  expect(readServerConfig(environment()).keys.map(({ id }) => id)).toEqual(["k2", "k1"]);
});

test("a service under a public name accepts that name only, one on loopback all loopback names", () => {
  expect(readServerConfig(environment({ HOLDFAST_PUBLIC_URL: "https://mcp.example/mcp" })).allowedHosts).toEqual(["mcp.example"]);
  expect(readServerConfig(environment()).allowedHosts).toEqual(["localhost", "127.0.0.1", "[::1]"]);
});

test("an empty variable counts as absent", () => {
  expect(readServerConfig(environment({ HOLDFAST_PORT: "", DATABASE_LISTEN_URL: "" }))).toMatchObject({
    port: 8400,
    listenUrl: "postgres://holdfast:hunter2@db.example/holdfast",
  });
});

test.for([
  ["DATABASE_URL", undefined, "DATABASE_URL is required"],
  ["DATABASE_URL", "mysql://root@db/x", "DATABASE_URL is not usable: expected postgres://"],
  ["HOLDFAST_PORT", "65536", "HOLDFAST_PORT is not usable: expected at most 65535"],
  ["HOLDFAST_PORT", "eighty", "HOLDFAST_PORT is not usable: expected a whole number"],
  ["HOLDFAST_HOST", "two words", "HOLDFAST_HOST makes no URL: expected a host name or an address without brackets"],
  ["HOLDFAST_HOST", "[::1]", "HOLDFAST_HOST makes no URL"],
  ["HOLDFAST_PUBLIC_URL", "https://me:secret@mcp.example/mcp", "HOLDFAST_PUBLIC_URL is not usable: expected a URL without user"],
  ["HOLDFAST_ISSUERS", undefined, "HOLDFAST_ISSUERS is required"],
  ["HOLDFAST_ISSUERS", "https://id.example", "HOLDFAST_ISSUERS is not usable: expected a JSON list"],
  ["HOLDFAST_ISSUERS", "[]", "HOLDFAST_ISSUERS is not usable: expected at least one issuer"],
  [
    "HOLDFAST_ISSUERS",
    `[{"issuer":"a","jwksUrl":"https://a.example","algorithms":["HS256"]}]`,
    "HOLDFAST_ISSUERS.0.algorithms.0 is not usable",
  ],
  ["HOLDFAST_ISSUERS", `[{"issuer":"a","jwksUrl":"file:///etc/passwd"}]`, "HOLDFAST_ISSUERS.0.jwksUrl is not usable"],
  ["HOLDFAST_KEYS", "k1:c2hvcnQ", "HOLDFAST_KEYS is not usable: expected id:secret"],
  ["HOLDFAST_KEYS", `k1:${secret},k1:${secret}`, `HOLDFAST_KEYS is not usable: the key id "k1" is used twice`],
  ["HOLDFAST_ALLOWED_ORIGINS", "app.example.com", "HOLDFAST_ALLOWED_ORIGINS is not usable: expected origins"],
  ["HOLDFAST_ALLOWED_HOSTS", "mcp.example:443", "HOLDFAST_ALLOWED_HOSTS is not usable: expected host names"],
  ["HOLDFAST_LOG_LEVEL", "loud", "HOLDFAST_LOG_LEVEL is not usable"],
] as const)("%s=%s is refused in one line that names the variable", ([name, value, expected]) => {
  const read = (): unknown => readServerConfig(environment({ [name]: value }));
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(expected);
  expect(read).not.toThrow("\n");
});

test("a refusal never repeats a secret", () => {
  expect(() => readServerConfig(environment({ HOLDFAST_KEYS: `k1:${secret}extra` }))).not.toThrow(secret);
});
