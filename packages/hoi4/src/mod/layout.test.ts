import { describe, expect, test } from "vitest";
import { memoryWorkspace } from "../testing/memory-workspace.ts";
import { readLayout } from "./layout.ts";

const layoutOf = (document: unknown) =>
  readLayout(memoryWorkspace({ "holdfast.json": typeof document === "string" ? document : JSON.stringify(document) }));

describe("which folder is what", () => {
  test("without a layout file the workspace's folder is the mod, and nothing else is there", async () => {
    expect(await readLayout(memoryWorkspace({}))).toEqual({ mod: "", game: null, dependencies: [] });
  });

  test.each([
    [{}, { mod: "", game: null, dependencies: [] }],
    [{ other: { pack: true } }, { mod: "", game: null, dependencies: [] }],
    [{ hoi4: { game: "game" } }, { mod: "", game: "game", dependencies: [] }],
    [
      { hoi4: { mod: "./mods/mine/", game: "game\\files", dependencies: ["mods//b", "mods/a"] } },
      { mod: "mods/mine", game: "game/files", dependencies: ["mods/b", "mods/a"] },
    ],
    ['\uFEFF{ "hoi4": { "mod": "." } }', { mod: "", game: null, dependencies: [] }],
  ])("%j", async (document, layout) => {
    expect(await layoutOf(document)).toEqual(layout);
  });
});

test.each<[string, unknown, string]>([
  ["is no JSON", "{ hoi4: }", "is not JSON"],
  ["has a member that we do not know", { hoi4: { games: "game" } }, "games"],
  ["names a folder outside", { hoi4: { game: "../game" } }, "hoi4.game"],
  ["names a folder by its place on a machine", { hoi4: { dependencies: ["/srv/mods/a"] } }, "hoi4.dependencies.0"],
  ["names a drive", { hoi4: { mod: "C:/mods" } }, "hoi4.mod"],
  ["gives one folder two meanings", { hoi4: { mod: "a", dependencies: ["A"] } }, '"a"'],
])("a layout file that %s is refused, because a guess would answer for other files", async (_what, document, word) => {
  const layout = await layoutOf(document);
  expect(layout).toMatchObject({ code: "LAYOUT_INVALID", message: expect.stringContaining(word) as string });
});

test("a layout file that cannot be opened is not taken for none", async () => {
  await expect(readLayout(memoryWorkspace({ "holdfast.json": "{}" }, { faults: { "holdfast.json": "unreadable" } }))).rejects.toMatchObject(
    {
      code: "unreadable",
    },
  );
});
