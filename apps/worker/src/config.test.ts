import { ConfigError } from "@holdfast/process";
import { expect, test } from "vitest";
import { readWorkerConfig } from "./config.ts";

const DATABASE_URL = "postgres://holdfast:secret@db:5432/holdfast";
const secret = Buffer.alloc(32, 1);
const HOLDFAST_KEYS = `k1:${secret.toString("base64url")}`;
const required = { DATABASE_URL, HOLDFAST_KEYS };

test("a database and the keys are all that a worker has to be told", () => {
  expect(readWorkerConfig(required)).toEqual({
    databaseUrl: DATABASE_URL,
    listenUrl: DATABASE_URL,
    keys: [{ id: "k1", secret }],
    packs: ["@holdfast/hoi4"],
    roots: new Map(),
    pools: ["default"],
    slots: 2,
    leaseMs: 15_000,
    drainMs: 20_000,
    logLevel: "info",
  });
});

test("lists are separated by commas, and roots are named folders", () => {
  const config = readWorkerConfig({
    ...required,
    DATABASE_LISTEN_URL: "postgresql://direct/holdfast",
    HOLDFAST_PACKS: "@holdfast/hoi4, /srv/packs/own",
    HOLDFAST_ROOTS: "mods=/srv/mods/,work=/home/me/mods=old",
    HOLDFAST_POOLS: "default,heavy,default",
    HOLDFAST_SLOTS: "8",
  });
  expect(config).toMatchObject({
    listenUrl: "postgresql://direct/holdfast",
    packs: ["@holdfast/hoi4", "/srv/packs/own"],
    pools: ["default", "heavy"],
    slots: 8,
  });
  expect([...config.roots]).toEqual([
    ["mods", "/srv/mods"],
    ["work", "/home/me/mods=old"],
  ]);
});

test("an empty variable is one that was not given", () => {
  expect(readWorkerConfig({ ...required, HOLDFAST_SLOTS: "" }).slots).toBe(2);
});

test.each([
  ["DATABASE_URL", undefined, "DATABASE_URL is required"],
  ["DATABASE_URL", "mysql://x", "DATABASE_URL is not usable: expected postgres://"],
  ["HOLDFAST_KEYS", undefined, "HOLDFAST_KEYS is required"],
  ["HOLDFAST_KEYS", "k1:short", "HOLDFAST_KEYS is not usable: expected id:secret"],
  ["HOLDFAST_SLOTS", "0", "HOLDFAST_SLOTS is not usable: expected at least 1"],
  ["HOLDFAST_SLOTS", "two", "HOLDFAST_SLOTS is not usable: expected a whole number"],
  ["HOLDFAST_LEASE_MS", "10", "HOLDFAST_LEASE_MS is not usable"],
  ["HOLDFAST_ROOTS", "mods", "HOLDFAST_ROOTS is not usable: expected name=/absolute/folder"],
  ["HOLDFAST_ROOTS", "mods=relative/folder", "HOLDFAST_ROOTS is not usable"],
  ["HOLDFAST_ROOTS", "Mods=/srv", "HOLDFAST_ROOTS is not usable"],
  ["HOLDFAST_ROOTS", "a=/x,a=/y", `the root "a" is given twice`],
  ["HOLDFAST_POOLS", ",", "HOLDFAST_POOLS is not usable: expected at least one pool"],
  ["HOLDFAST_LOG_LEVEL", "loud", "HOLDFAST_LOG_LEVEL is not usable"],
])("%s=%s is refused with a line that names the variable", (name, value, complaint) => {
  const read = () => readWorkerConfig({ ...required, [name]: value });
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(complaint);
});

test("a refusal never quotes the value, which may be a secret", () => {
  const refusal = (() => {
    try {
      return JSON.stringify(readWorkerConfig({ DATABASE_URL: "mysql://me:hunter2@db" }));
    } catch (error) {
      return String(error);
    }
  })();
  expect(refusal).toContain("ConfigError");
  expect(refusal).not.toContain("hunter2");
});
