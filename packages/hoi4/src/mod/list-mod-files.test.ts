import { describe, expect, test } from "vitest";
import { listFiles } from "../testing/list-files.ts";
import { memoryWorkspace } from "../testing/memory-workspace.ts";

function list(paths: readonly string[]) {
  return listFiles(memoryWorkspace(Object.fromEntries(paths.map((path) => [path, "x"]))));
}

describe("which files are scanned", () => {
  test.each([
    ["events/a.txt", "events"],
    ["Events/Sub/A.TXT", "events"],
    ["common/scripted_effects/a.txt", "scripted_effects"],
    ["common/scripted_triggers/a.txt", "scripted_triggers"],
    ["common/on_actions/a.txt", "caller"],
    ["common/scripted_diplomatic_actions/a.txt", "caller"],
    ["common/technologies/a.txt", "caller"],
    ["common/special_projects/projects/a.txt", "caller"],
    ["history/countries/AAA.txt", "caller"],
    ["history/general/a.txt", "caller"],
    ["tutorial/a.txt", "caller"],
    ["localisation/a_l_english.yml", "localisation"],
    ["localisation/braz_por/replace/a_l_braz_por.yml", "localisation"],
  ])("%s as %s", async (path, role) => {
    const { files } = await list([path]);
    expect(files.map((file) => file.role.kind)).toEqual([role]);
  });

  test.each([
    "README.md",
    ".travis.yml",
    "events/notes.md",
    "eventsandmore/a.txt",
    "common/names/a.txt",
    "common/on_actions.txt",
    "gfx/a.dds",
    "map/definition.csv",
  ])("%s not at all", async (path) => {
    expect((await list([path])).files).toEqual([]);
  });

  test("a folder inside another one is read by its own rules", async () => {
    const { files } = await list(["common/decisions/categories/a.txt", "common/decisions/b.txt"]);
    expect(files.map(({ role }) => role.kind === "caller" && role.shape.noun)).toEqual(["decision", "decision category"]);
  });
});

test("files carry their layer and come in the order in which the game reads them, whatever order they are listed in", async () => {
  const paths = ["events/b.txt", "events/Z.txt", "common/on_actions/a.txt"];
  const workspace = memoryWorkspace(Object.fromEntries(paths.map((path) => [path, ""])), { arrange: (listed) => listed.toReversed() });
  const { files } = await listFiles(workspace);
  expect(files.map(({ displayPath, order, layer }) => [displayPath, order, layer])).toEqual([
    ["mod:common/on_actions/a.txt", 0, "mod"],
    ["mod:events/Z.txt", 1, "mod"],
    ["mod:events/b.txt", 2, "mod"],
  ]);
});

test.each([
  ["as promised", (paths: string[]) => paths.toSorted()],
  ["the other way round", (paths: string[]) => paths.toSorted().toReversed()],
])("of two paths that differ in letter case only, one is read and the other one reported, listed %s", async (_order, arrange) => {
  const { files, diagnostics } = await listFiles(memoryWorkspace({ "events/Storm.txt": "", "events/storm.txt": "" }, { arrange }));
  expect(files.map(({ path }) => path)).toEqual(["events/storm.txt"]);
  expect(diagnostics).toMatchObject([
    { code: "SOURCE_PATH_CASE_COLLISION", location: { path: "mod:events/Storm.txt" }, related: [{ path: "mod:events/storm.txt" }] },
  ]);
});

describe("the descriptor", () => {
  test.each([
    [["descriptor.mod", "other.mod"], "mod:descriptor.mod"],
    [["Descriptor.MOD"], "mod:Descriptor.MOD"],
    [["my_mod.mod"], "mod:my_mod.mod"],
    [["one.mod", "two.mod"], null],
    [["sub/descriptor.mod"], null],
  ])("of %j it is %s", async (paths, expected) => {
    expect((await list(paths)).descriptors.at(-1)?.displayPath).toBe(expected);
  });
});

test("folders below that look like mods are remembered for a hint", async () => {
  const { modFoldersBelow } = await list(["a/events/x.txt", "a/events/y.txt", "b/descriptor.mod", "c/readme.md"]);
  expect(modFoldersBelow).toEqual(["a", "b"]);
});
