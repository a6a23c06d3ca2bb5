import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import * as data from "./data-folder.ts";

let parent: string;
let folder: data.DataFolder;

beforeEach(async () => {
  parent = mkdtempSync(path.join(tmpdir(), "holdfast-data-folder-"));
  folder = data.dataFolderAt(path.join(parent, "data"));
  await data.createDataFolder(folder);
});
afterEach(() => {
  rmSync(parent, { recursive: true, force: true });
});

test("keys are made once and are the same at the next start", async () => {
  const [handles, issuer] = [await data.handleKeys(folder), await data.issuerIdentity(folder, 8401)];
  expect(await data.handleKeys(folder)).toBe(handles);
  expect(await data.issuerIdentity(folder, 9999)).toEqual(issuer);
  expect(issuer.port).toBe(8401);
});

test("what signs for somebody is readable by nobody else", async () => {
  await data.handleKeys(folder);
  await data.issuerIdentity(folder, 8401);
  for (const file of ["handle.keys", "issuer.json"]) expect(statSync(path.join(folder.path, file)).mode & 0o077).toBe(0);
});

test.for([
  ["handle.keys", "local:short", data.handleKeys],
  ["issuer.json", '{"port": 8401, "keys": [{}]}', data.readIssuerIdentity],
  ["issuer.json", "{", data.readIssuerIdentity],
  ["service.json", "[]", data.readRunningService],
] as const)("a damaged %s is named and never replaced by a new one (%s)", async ([name, text, read]) => {
  const file = path.join(folder.path, name);
  writeFileSync(file, text);
  await expect(read(folder)).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining(`the file ${file} is damaged`) as string,
  });
  expect(readFileSync(file, "utf8")).toBe(text);
});

test("roots that are added at the same time are all kept", async () => {
  const names = Array.from({ length: 20 }, (_, index) => `root-${index}`);
  await Promise.all(names.map(async (name) => await data.writeRoot(folder, { name, target: `/mods/${name}` })));
  expect(await data.readRoots(folder)).toEqual(Object.fromEntries(names.map((name) => [name, `/mods/${name}`])));
});

test("a file among the roots that is no root is left alone", async () => {
  await data.writeRoot(folder, { name: "current", target: "/mods/a mod" });
  writeFileSync(path.join(folder.path, "roots", "README.txt"), "hello");
  expect(await data.readRoots(folder)).toEqual({ current: "/mods/a mod" });
});

test("a folder that cannot be made is one sentence with the way out", async () => {
  const file = path.join(parent, "file");
  writeFileSync(file, "");
  await expect(data.createDataFolder(data.dataFolderAt(path.join(file, "data")))).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(/^cannot keep data in .*choose another folder with --data or HOLDFAST_DATA$/u) as string,
  });
});

test("the running service is described while it runs and forgotten after", async () => {
  const service = { pid: 1, url: "http://127.0.0.1:8400/mcp", issuer: null, databaseUrl: "postgres://db/x", roots: { current: "/mods/a" } };
  await data.writeRunningService(folder, service);
  expect(await data.readRunningService(folder)).toEqual(service);
  await data.removeRunningService(folder);
  expect(await data.readRunningService(folder)).toBeNull();
});
