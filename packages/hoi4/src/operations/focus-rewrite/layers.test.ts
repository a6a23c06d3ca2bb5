import { expect, test } from "vitest";
import { sha256Of } from "../../sha256.ts";
import { memoryWorkspace } from "../../testing/memory-workspace.ts";
import { rewriteFocuses } from "../../testing/rewrite-focuses.ts";

const PATH = "common/national_focus/harbour.txt";
const tree = (x: number) => `focus_tree = {\n\tid = harbour\n\tfocus = {\n\t\tid = pier\n\t\tx = ${x}\n\t\ty = 0\n\t}\n}\n`;
const change = {
  relativePath: PATH,
  treeId: "harbour",
  changes: [{ focusId: "pier", x: 7 }],
  expectedSourceHash: sha256Of(Buffer.from(tree(2))),
};

test("a path is one of the mod that the layout names, and only that mod is written to", async () => {
  const files = {
    "holdfast.json": JSON.stringify({ hoi4: { mod: "mine", game: "game" } }),
    [`game/${PATH}`]: tree(1),
    [`mine/${PATH}`]: tree(2),
  };
  const workspace = memoryWorkspace(files);
  const { output, context } = await rewriteFocuses(workspace, change);
  expect(output).toMatchObject({ status: "ok", changedFiles: [{ path: `mod:${PATH}` }], data: { relativePath: PATH } });
  expect(context.written).toEqual([`mine/${PATH}`]);
  expect(Buffer.from(await workspace.read(`game/${PATH}`)).toString()).toBe(tree(1));
  expect(Buffer.from(await workspace.read(`mine/${PATH}`)).toString()).toBe(tree(7));
});

test("a file that only the game has is none of the mod", async () => {
  const files = {
    "holdfast.json": JSON.stringify({ hoi4: { mod: "mine", game: "game" } }),
    [`game/${PATH}`]: tree(2),
    "mine/descriptor.mod": "",
  };
  const { output, context } = await rewriteFocuses(memoryWorkspace(files), change);
  expect(output).toMatchObject({ status: "blocked", blockers: [{ code: "FOCUS_FILE_MISSING" }] });
  expect(context.written).toEqual([]);
});
