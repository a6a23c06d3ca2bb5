import path from "node:path";
import { expect, test } from "vitest";
import { callerPath, projectFolder, readCliConfig } from "./config.ts";

test("paths are relative to where the person stood, not to where npm runs scripts", () => {
  const config = readCliConfig({ npm_lifecycle_event: "holdfast", INIT_CWD: "/home/mara/mods" });
  expect(callerPath(config, "river")).toBe("/home/mara/mods/river");
  expect(callerPath(config, "/opt/river")).toBe("/opt/river");
});

test("a variable that some outer npm left behind does not move the person", () => {
  expect(readCliConfig({ INIT_CWD: "/somewhere/else" }).callerFolder).toBe(process.cwd());
});

test("the data folder is in the checkout unless somebody says otherwise", () => {
  expect(readCliConfig({}).dataFolder).toBe(path.join(projectFolder, ".holdfast"));
  expect(readCliConfig({ HOLDFAST_DATA: "/srv/holdfast" }).dataFolder).toBe("/srv/holdfast");
});

test("the processes that we start inherit what they read and what programs need, and no secret of somebody else's", () => {
  const { inherited } = readCliConfig({
    PATH: "/usr/bin",
    HOME: "/home/mara",
    HOLDFAST_SLOTS: "4",
    DATABASE_LISTEN_URL: "postgres://direct/db",
    HOLDFAST_DATA: "/srv",
    AWS_SECRET_ACCESS_KEY: "secret",
    npm_config_registry: "https://registry.example",
    NODE_OPTIONS: "--inspect",
  });
  expect(Object.keys(inherited).toSorted((a, b) => a.localeCompare(b))).toEqual(["DATABASE_LISTEN_URL", "HOLDFAST_SLOTS", "HOME", "PATH"]);
});

test("an empty variable is none", () => {
  expect(readCliConfig({ DATABASE_URL: "", HOLDFAST_ISSUERS: "" })).toMatchObject({ databaseUrl: null, issuers: null });
});
