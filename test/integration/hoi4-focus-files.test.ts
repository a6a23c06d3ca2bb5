import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { blockOf, pairs, parseScript, textOf, valueOf } from "@holdfast/hoi4/clausewitz";
import { memoryWorkspace, rewriteFocuses } from "@holdfast/hoi4/testing";
import { expect, test } from "vitest";

const repository = path.resolve(import.meta.dirname, "../..");
// The second folder lies beside the project and not in it; its mods may or may not have focus trees.
const files = [path.join(repository, "examples"), path.join(repository, "../shared/mods")]
  .filter((folder) => existsSync(folder))
  .flatMap(focusFiles);

interface FocusFile {
  readonly name: string;
  readonly relativePath: string;
  readonly bytes: Buffer;
}

function focusFiles(folder: string): FocusFile[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).flatMap((file) => {
    const relativePath = /common\/national_focus\/.*\.txt$/u.exec(file.replaceAll(path.sep, "/"))?.[0];
    return relativePath === undefined ? [] : [{ name: file, relativePath, bytes: readFileSync(path.join(folder, file)) }];
  });
}

/** Read apart from the tool: every tree with the columns of its focuses that are plain numbers. */
function columnsOf(bytes: Uint8Array): Map<string, Map<string, number>> {
  const trees = [...pairs(parseScript(bytes).root, "focus_tree")].flatMap(({ value }) => blockOf(value) ?? []);
  return new Map(
    trees.map((tree) => {
      const focuses = [...pairs(tree, "focus")].flatMap(({ value }) => blockOf(value) ?? []);
      const columns = focuses.map((focus): [string, number] => [
        textOf(valueOf(focus, "id")) ?? "",
        Number(textOf(valueOf(focus, "x")) ?? Number.NaN),
      ]);
      return [textOf(valueOf(tree, "id")) ?? "", new Map(columns.filter(([, x]) => Number.isInteger(x)))];
    }),
  );
}

test("there is a file to try", () => {
  expect(files.map(({ name }) => name)).toContain("lantern-harbour/common/national_focus/lantern_focus.txt");
});

test.each(files)(
  "$name: moving every focus of a tree ten columns to the right changes these numbers and nothing else",
  async ({ relativePath, bytes }) => {
    for (const [treeId, columns] of columnsOf(bytes)) {
      const changes = [...columns].slice(0, 500).map(([focusId, x]) => ({ focusId, x: x + 10 }));
      const { output, bytes: written } = await rewriteFocuses(memoryWorkspace({ [relativePath]: bytes }), {
        relativePath,
        treeId,
        changes,
      });
      expect(output).toMatchObject({
        code: "FOCUS_CHANGES_APPLIED",
        data: { counts: { replaced: changes.length, inserted: 0, removed: 0 } },
      });
      expect(withoutColumns(written)).toBe(withoutColumns(bytes));
      const moved = columnsOf(written).get(treeId);
      expect(changes.filter(({ focusId, x }) => moved?.get(focusId) !== x)).toEqual([]);
    }
  },
);

test.each(files)(
  "$name: a brace less anywhere leaves the file as it is, or changes the one number that was asked for",
  async ({ relativePath, bytes }) => {
    const [[treeId, columns] = ["", new Map<string, number>()]] = columnsOf(bytes);
    const [[focusId, x] = ["", 0]] = columns;
    const codes = new Set<string>();
    for (const at of [...bytes.keys()].filter((offset) => bytes[offset] === 0x7d)) {
      const damaged = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]);
      const call = { relativePath, treeId, changes: [{ focusId, x: x + 10 }] };
      const { output, bytes: written } = await rewriteFocuses(memoryWorkspace({ [relativePath]: damaged }), call);
      codes.add(output.code);
      const isWritten = output.code === "FOCUS_CHANGES_APPLIED";
      expect(isWritten ? withoutColumns(written) : Buffer.from(written).toString("latin1")).toBe(
        isWritten ? withoutColumns(damaged) : damaged.toString("latin1"),
      );
    }
    expect(codes).toContain("FOCUS_CHANGES_BLOCKED");
  },
);

function withoutColumns(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString("latin1")
    .replaceAll(/\bx(\s*=\s*)-?\d+/giu, "x$1");
}
