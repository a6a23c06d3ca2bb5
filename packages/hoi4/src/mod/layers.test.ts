import { describe, expect, test } from "vitest";
import { listFiles } from "../testing/list-files.ts";
import { memoryWorkspace } from "../testing/memory-workspace.ts";
import { openFor } from "./list-mod-files.ts";

const LAYOUT = JSON.stringify({ hoi4: { mod: "mine", game: "game", dependencies: ["first", "second"] } });

const list = (files: Record<string, string>, layout = LAYOUT) =>
  listFiles(memoryWorkspace({ "holdfast.json": layout, "mine/descriptor.mod": "", ...files }));

const displayed = (files: readonly { readonly displayPath: string }[]) => files.map(({ displayPath }) => displayPath);

const ALL = {
  "first/events/a.txt": "",
  "game/common/on_actions/z.txt": "",
  "game/dlc/dlc002_b/events/b.txt": "",
  "game/dlc/dlc001_a/events/c.txt": "",
  "game/events/z.txt": "",
  "game/gfx/not_looked_at.txt": "",
  "mine/events/m.txt": "",
  "second/events/b2.txt": "",
};

describe("the load order", () => {
  test("is the game, its DLC by their numbers, dependencies as the layout names them, the mod; and by name inside of each", async () => {
    const { files, layers } = await list(ALL);
    expect(layers.map(({ label, kind, folder }) => [label, kind, folder])).toEqual([
      ["game", "game", "game"],
      ["dlc001_a", "dlc", "game/dlc/dlc001_a"],
      ["dlc002_b", "dlc", "game/dlc/dlc002_b"],
      ["dependency-1", "dependency", "first"],
      ["dependency-2", "dependency", "second"],
      ["mod", "mod", "mine"],
    ]);
    expect(displayed(files)).toEqual([
      "game:common/on_actions/z.txt",
      "game:events/z.txt",
      "dlc001_a:events/c.txt",
      "dlc002_b:events/b.txt",
      "dependency-1:events/a.txt",
      "dependency-2:events/b2.txt",
      "mod:events/m.txt",
    ]);
    expect(files.map(({ order }) => order)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  test("puts a file for all of an earlier file of its path, whatever the case of its letters", async () => {
    const { files, shadowed, layers } = await list({
      "game/events/News.txt": "old",
      "first/EVENTS/news.txt": "new",
      "mine/events/NEWS.txt": "newest",
    });
    expect(displayed(files)).toEqual(["mod:events/NEWS.txt"]);
    expect(shadowed.map(({ file, by }) => [file.displayPath, by])).toEqual([
      ["game:events/News.txt", "dependency-1:EVENTS/news.txt"],
      ["dependency-1:EVENTS/news.txt", "mod:events/NEWS.txt"],
    ]);
    expect(layers.map(({ label, active, shadowed: hidden }) => [label, active, hidden])).toEqual([
      ["game", 0, 1],
      ["dependency-1", 0, 1],
      ["dependency-2", 0, 0],
      ["mod", 1, 0],
    ]);
  });

  test("reads of earlier layers the English texts only, and of the mod all", async () => {
    const { files } = await list({
      "game/localisation/english/a_l_english.yml": "",
      "game/localisation/german/a_l_german.yml": "",
      "mine/localisation/german/m_l_german.yml": "",
    });
    expect(displayed(files)).toEqual(["game:localisation/english/a_l_english.yml", "mod:localisation/german/m_l_german.yml"]);
  });

  test("counts no file of a folder inside the mod that is a layer of its own", async () => {
    const layout = JSON.stringify({ hoi4: { dependencies: ["events/parent"] } });
    const { files } = await list({ "events/a.txt": "", "events/parent/events/b.txt": "" }, layout);
    expect(displayed(files)).toEqual(["dependency-1:events/b.txt", "mod:events/a.txt"]);
  });
});

test("archives of DLC are not opened, and that is told", async () => {
  const { diagnostics } = await list({ "game/dlc/dlc001_a/dlc001.zip": "", "game/dlc/dlc001_a/dlc001.dlc": "" });
  expect(diagnostics).toMatchObject([{ code: "DLC_ARCHIVE_NOT_READ", severity: "info", details: { archives: ["dlc001_a:dlc001.zip"] } }]);
});

describe("replace_path", () => {
  test("unloads earlier layers' files of that folder, not those of the folders inside it, and nothing of later layers", async () => {
    const { files, layers } = await list({
      "game/common/decisions/a.txt": "",
      "game/common/decisions/categories/b.txt": "",
      "first/common/decisions/c.txt": "",
      "first/descriptor.mod": "",
      "second/common/decisions/d.txt": "",
      "second/descriptor.mod": 'replace_path="Common/Decisions"',
      "mine/common/decisions/e.txt": "",
    });
    expect(displayed(files)).toEqual([
      "game:common/decisions/categories/b.txt",
      "dependency-2:common/decisions/d.txt",
      "mod:common/decisions/e.txt",
    ]);
    expect(layers.map(({ label, replaced }) => [label, replaced])).toEqual([
      ["game", 1],
      ["dependency-1", 1],
      ["dependency-2", 0],
      ["mod", 0],
    ]);
  });

  test("of a parent folder leaves a folder alone", async () => {
    const { files } = await list({ "game/events/a.txt": "", "mine/descriptor.mod": 'replace_path="event" replace_path="common"' });
    expect(displayed(files)).toEqual(["game:events/a.txt"]);
  });
});

describe("what is open", () => {
  test("is the game without a folder of it, and every mod that a descriptor depends on and no layer is", async () => {
    const layout = JSON.stringify({ hoi4: { mod: "mine", dependencies: ["first"] } });
    const files = { "first/descriptor.mod": 'name="First"', "mine/descriptor.mod": 'dependencies={ "First" "Third" }' };
    expect((await list(files, layout)).open).toEqual({ game: true, dependencies: ["Third"] });
    expect((await list({ ...files, "game/events/a.txt": "" })).open).toEqual({ game: false, dependencies: ["Third"] });
  });

  test("is nothing for a folder that the mod replaces, and not the game for one that a dependency replaces", async () => {
    const layout = JSON.stringify({ hoi4: { mod: "mine", dependencies: ["first"] } });
    const replacing = (mod: string, first: string) =>
      list({ "first/descriptor.mod": `name="First" ${first}`, "mine/descriptor.mod": `dependencies={ "Third" } ${mod}` }, layout);
    expect(openFor(await replacing('replace_path="events"', ""), "events")).toEqual({ game: false, dependencies: [] });
    expect(openFor(await replacing("", 'replace_path="events"'), "events")).toEqual({ game: false, dependencies: ["Third"] });
    expect(openFor(await replacing("", ""), "events")).toEqual({ game: true, dependencies: ["Third"] });
  });
});

test("a folder that the layout names and that is not there could define anything, and the layers that are there are listed", async () => {
  const { skipped, files } = await list({ "first/events/a.txt": "" });
  expect(skipped.map(({ path, reasonCodes }) => [path, ...reasonCodes])).toEqual([
    ["game:", "LAYER_MISSING"],
    ["dependency-2:", "LAYER_MISSING"],
  ]);
  expect(skipped[0]?.possibleSymbolKinds).toContain("event");
  expect(displayed(files)).toEqual(["dependency-1:events/a.txt"]);
});

test("a mod that the layout names and that is not there is an error of the workspace", async () => {
  await expect(listFiles(memoryWorkspace({ "holdfast.json": LAYOUT }))).rejects.toMatchObject({ code: "missing", path: "mine" });
});
