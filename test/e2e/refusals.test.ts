import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createScratch, runHoldfast, type Scratch } from "../support/holdfast-command.ts";

let scratch: Scratch;
beforeAll(() => {
  scratch = createScratch();
});
afterAll(() => {
  scratch.end();
  scratch.remove();
});

const issuers = JSON.stringify([{ issuer: "https://id.example", jwksUrl: "https://id.example/jwks" }]);
const keys = { HOLDFAST_KEYS: `k:${"A".repeat(43)}` };
const server = { HOLDFAST_ISSUERS: issuers, ...keys };
const nobodyListens = "postgres://mara:secret@127.0.0.1:1/holdfast";

describe("what cannot work is refused with exit code 2 and one line", () => {
  test.concurrent.for([
    ["an unknown command", ["fly"], {}, /unknown command "fly"/u],
    ["an unknown option", ["up", "--fly"], {}, /Unknown option '--fly'/u],
    ["a port that is none", ["up", "--port", "99999"], {}, /--port: expected a port number/u],
    ["no database at all", ["workspace", "list"], {}, /start one with `npm start`/u],
    ["a URL that is no database", ["migrate"], { DATABASE_URL: "https://example.com" }, /must start with postgres:\/\//u],
    ["a database that does not answer, by migrate", ["migrate"], { DATABASE_URL: nobodyListens }, /connection refused/u],
    ["a database that does not answer, by up", ["up"], { DATABASE_URL: nobodyListens }, /connection refused/u],
    ["a database that does not answer, by the server", ["server"], { DATABASE_URL: nobodyListens, ...server }, /connection refused/u],
    ["a database that does not answer, by the worker", ["worker"], { DATABASE_URL: nobodyListens, ...keys }, /connection refused/u],
    ["a server without issuers", ["server"], { DATABASE_URL: nobodyListens, ...keys }, /HOLDFAST_ISSUERS is required/u],
    ["a worker without keys", ["worker"], { DATABASE_URL: nobodyListens }, /HOLDFAST_KEYS is required/u],
    ["a worker with a root that is none", ["worker"], { DATABASE_URL: nobodyListens, ...keys, HOLDFAST_ROOTS: "mods" }, /HOLDFAST_ROOTS/u],
    ["the development issuer in production", ["dev-issuer"], { NODE_ENV: "production" }, /refuses to start with NODE_ENV=production/u],
    ["a service with that issuer in production", ["up"], { NODE_ENV: "production" }, /refuses to start with NODE_ENV=production/u],
    ["a token of that issuer in production", ["token"], { NODE_ENV: "production" }, /gives no tokens with NODE_ENV=production/u],
    ["a token before there is an issuer", ["token"], {}, /there is no development issuer in .* yet/u],
  ] as const)("%s", async ([, args, environment, reason]) => {
    const { code, stderr } = await runHoldfast(scratch, args, environment);
    const [line = "", ...others] = stderr.trimEnd().split("\n");
    expect(code).toBe(2);
    expect(line).toMatch(reason);
    // A wrong command line is followed by how a right one looks, and by nothing else.
    expect(others.filter((other) => !other.startsWith("Usage: holdfast "))).toEqual([]);
    expect(stderr).not.toContain("secret");
  });
});

test("the table of commands is the help, and asking for it is no mistake", async () => {
  const { code, stdout } = await runHoldfast(scratch, ["--help"]);
  expect(code).toBe(0);
  const names = ["up", "demo", "migrate", "server", "worker", "dev-issuer", "token", "workspace", "grant"];
  const helps = await Promise.all(names.map(async (name) => await runHoldfast(scratch, [name, "--help"])));
  for (const [index, name] of names.entries()) {
    expect(stdout).toMatch(new RegExp(`^  ${name} +\\S`, "mu"));
    expect(helps[index]?.stdout).toMatch(new RegExp(`^Usage: holdfast ${name}`, "u"));
  }
});
