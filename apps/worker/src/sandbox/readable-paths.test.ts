import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { readablePaths } from "./readable-paths.ts";

const list = `
  const { readdirSync } = require("node:fs");
  const answers = process.argv.slice(1).map((folder) => {
    try { return readdirSync(folder).length; } catch (error) { return error.code; }
  });
  console.log(JSON.stringify(answers));
`;

/** What a process under these permissions gets when it lists each of the folders. */
function listUnderPermission(roots: readonly string[], folders: readonly string[]): unknown {
  const allowed = readablePaths({ packs: [], roots }).map((allowance) => `--allow-fs-read=${allowance}`);
  const { stdout } = spawnSync(process.execPath, ["--permission", ...allowed, "--eval", list, ...folders], {
    encoding: "utf8",
    timeout: 20_000,
  });
  return JSON.parse(stdout);
}

test.each([
  ["side by side", ["one", "two"]],
  ["with names of which one begins the other", ["mods", "mods-old", "mods2"]],
  ["the longer of such names first", ["mods2", "mods"]],
  ["one inside the other", ["mods", "mods/lantern"]],
  ["the inner one first", ["mods/lantern", "mods"]],
])("every root can be listed: %s", async (_how, names) => {
  const base = await realpath(await mkdtemp(path.join(tmpdir(), "holdfast-roots-")));
  const roots = names.map((name) => path.join(base, name));
  const outside = path.join(base, "private");
  for (const folder of [...roots, outside]) await mkdir(path.join(folder, "content"), { recursive: true });
  expect(listUnderPermission(roots, [...roots, outside, base])).toEqual([
    ...roots.map(() => expect.any(Number) as unknown),
    "ERR_ACCESS_DENIED",
    "ERR_ACCESS_DENIED",
  ]);
  await rm(base, { recursive: true });
});
