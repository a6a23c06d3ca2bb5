import { mkdtemp, readFile, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runCommand } from "./run-command.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), "holdfast-hoi4-"));
  await write("mine/descriptor.mod", 'name="Mine"');
  await write(
    "mine/events/a.txt",
    "add_namespace = a country_event = { id = a.1 hidden = yes is_triggered_only = yes immediate = { country_event = game.1 } }",
  );
  await write("game/events/g.txt", "add_namespace = game country_event = { id = game.1 hidden = yes is_triggered_only = yes }");
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function write(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(path.join(root, file)), { recursive: true });
  await writeFile(path.join(root, file), text);
}

async function run(...args: string[]): Promise<{ code: number; out: string; notes: string }> {
  const lines = { out: [] as string[], notes: [] as string[] };
  const printer = { out: (text: string) => void lines.out.push(text), note: (text: string) => void lines.notes.push(text) };
  const code = await runCommand(args, printer, new AbortController().signal);
  return { code, out: lines.out.join("\n"), notes: lines.notes.join("\n") };
}

const scan = async (...args: string[]) => JSON.parse((await run("event-inspect", ...args, "--mode", "scan", "--json")).out) as unknown;

describe("a scan at a terminal", () => {
  test("prints the structured result that the tool gives", async () => {
    expect(await scan(path.join(root, "mine"))).toMatchObject({
      status: "ok",
      filesScanned: ["mod:events/a.txt"],
      data: { mod: { name: "Mine" }, counts: { events: 1, unresolvedNodes: 1 } },
    });
  });

  test("prints its text without --json, and writes artifacts where it is told to", async () => {
    const { code, out, notes } = await run("event-inspect", path.join(root, "mine"), `--out=${path.join(root, "out")}`);
    expect([code, out.split("\n")[0]]).toEqual([0, "Mine: 1 event with 0 options, started from 0 places, in 1 file."]);
    expect(notes).toContain("event-graph.json");
    expect(JSON.parse(await readFile(path.join(root, "out/event-graph.json"), "utf8"))).toMatchObject({
      schema: "holdfast.hoi4.event-graph/1",
    });
  });

  test("takes folders of the game and of other mods from wherever they lie", async () => {
    await write("parent/descriptor.mod", 'name="Parent"');
    const result = await scan(path.join(root, "mine"), "--game", path.join(root, "game"), "--dependency", path.join(root, "parent"));
    expect(result).toMatchObject({
      data: {
        layers: [{ label: "game" }, { label: "dependency-1", name: "Parent" }, { label: "mod" }],
        counts: { events: 2, unresolvedNodes: 0 },
      },
    });
  });

  test("follows the layout file of a folder", async () => {
    await write("holdfast.json", '{ "hoi4": { "mod": "mine", "game": "game" } }');
    expect(await scan(root)).toMatchObject({ data: { counts: { events: 2 } } });
  });

  test("passes arguments of the tool on, with their types", async () => {
    const proposed = JSON.stringify([{ relativePath: "events/a.txt", source: "" }]);
    expect(await scan(path.join(root, "mine"), "--proposed-sources", proposed, "--refresh", "true")).toMatchObject({
      data: { counts: { events: 0 } },
    });
  });

  test("sees what a worker sees: no hidden folders, no links that lead out", async () => {
    await write("mine/.git/events/b.txt", "");
    await symlink(path.join(root, "game/events/g.txt"), path.join(root, "mine/events/out.txt"));
    await symlink(path.join(root, "mine/events/a.txt"), path.join(root, "mine/events/within.txt"));
    await symlink(path.join(root, "mine"), path.join(root, "mine/events/around"));
    expect(await scan(path.join(root, "mine"))).toMatchObject({ filesScanned: ["mod:events/a.txt", "mod:events/within.txt"] });
  });
});

describe("exit codes", () => {
  test("1 says that the result is an error", async () => {
    const { code, out } = await run("event-inspect", path.join(root, "gone"));
    expect([code, out.startsWith("The folder of the mod does not exist")]).toEqual([1, true]);
  });

  test.each<[string, string[], string]>([
    ["nothing", [], ""],
    ["an operation without a folder", ["event-inspect"], "have to be named"],
    ["an operation that is none", ["event-dream", "."], "hoi4.event_inspect"],
    ["an operation that writes", ["focus-rewrite", "."], "no operation hoi4.focus_rewrite that reads"],
    ["an option without its value", ["event-inspect", ".", "--mode"], "--mode needs a value"],
    ["an argument that the tool does not have", ["event-inspect", ".", "--colour", "red"], "colour"],
    ["an argument of another type", ["event-inspect", ".", "--refresh", "maybe"], "refresh"],
    ["a word that is no option", ["event-inspect", ".", "scan"], '"scan" is no option'],
  ])("2 says that the command cannot be followed: %s", async (_what, args, word) => {
    const { code, notes } = await run(...args);
    expect(code).toBe(2);
    expect(notes).toContain(word);
  });

  test("0 is the answer to a call for help", async () => {
    const { code, out } = await run("--help");
    expect([code, out.split("\n")[0]]).toEqual([0, expect.stringContaining("Usage: npm run hoi4 --")]);
  });
});
