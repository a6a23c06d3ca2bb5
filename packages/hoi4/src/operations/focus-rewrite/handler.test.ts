import { describe, expect, test } from "vitest";
import { memoryWorkspace, type MemoryWorkspaceOptions } from "../../testing/memory-workspace.ts";
import { recordingContext } from "../../testing/recording-context.ts";
import { rewriteFocuses, type Rewritten } from "../../testing/rewrite-focuses.ts";
import { sha256Of } from "../../sha256.ts";
import type { PlacementChange } from "./manifest.ts";

const PATH = "common/national_focus/harbour.txt";

const TREE = `focus_tree = {
	id = harbour
	focus = {
		id = pier # the first one
		x = 2
		y = 0
		cost = 5
	}
	focus = {
		id = crane
		prerequisite = { focus = pier }
		relative_position_id = pier
		x = 1
		y = 1
	}
	focus = { id = lamp x = 6 }
}
`;

interface Call {
  readonly text?: string;
  readonly others?: Record<string, string>;
  readonly treeId?: string | null;
  readonly changes: readonly PlacementChange[];
  readonly workspace?: MemoryWorkspaceOptions;
}

function rewrite({ text = TREE, others = {}, treeId = "harbour", changes, workspace }: Call): Promise<Rewritten> {
  return rewriteFocuses(memoryWorkspace({ ...others, [PATH]: text }, workspace), { relativePath: PATH, treeId, changes: [...changes] });
}

function textOf({ bytes }: Pick<Rewritten, "bytes">): string {
  return Buffer.from(bytes).toString();
}

function blockersOf({ output }: Rewritten): string[] {
  return output.blockers.map(({ code }) => code);
}

/** Blocked results write nothing, keep nothing and say so. */
function expectBlocked(rewritten: Rewritten, codes: readonly string[], text: string = TREE): void {
  expect(rewritten.output).toMatchObject({ status: "blocked", code: "FOCUS_CHANGES_BLOCKED", changedFiles: [], artifacts: [], data: null });
  expect(blockersOf(rewritten)).toEqual(codes);
  expect(rewritten.result.isError).toBeUndefined();
  expect(rewritten.context.written).toEqual([]);
  expect(rewritten.context.artifacts).toEqual([]);
  expect(textOf(rewritten)).toBe(text);
}

describe("an applied rewrite", () => {
  test("changes the named fields, adds missing ones like their neighbours and leaves the rest", async () => {
    const rewritten = await rewrite({
      changes: [
        { focusId: "pier", x: 4, relativePositionId: "lamp" },
        { focusId: "crane", y: 2, relativePositionId: null },
        { focusId: "lamp", y: -1 },
      ],
    });
    expect(textOf(rewritten)).toBe(`focus_tree = {
	id = harbour
	focus = {
		id = pier # the first one
		x = 4
		y = 0
		relative_position_id = lamp
		cost = 5
	}
	focus = {
		id = crane
		prerequisite = { focus = pier }
		x = 1
		y = 2
	}
	focus = { id = lamp x = 6 y = -1 }
}
`);
    expect(rewritten.context.written).toEqual([PATH]);
  });

  test("answers what was there before and after, with the positions that follow", async () => {
    const { output, text, bytes } = await rewrite({
      changes: [
        { focusId: "pier", x: 3 },
        { focusId: "crane", y: 4 },
      ],
    });
    const [before, after] = [sha256Of(Buffer.from(TREE)), sha256Of(bytes)];
    const file = { path: `mod:${PATH}`, sha256Before: before, sha256After: after };
    expect(output).toMatchObject({
      status: "ok",
      code: "FOCUS_CHANGES_APPLIED",
      filesScanned: [`mod:${PATH}`],
      proposedFiles: [file],
      changedFiles: [file],
      diagnostics: [],
      validation: { passed: true },
      blockers: [],
    });
    expect(output.validation.checks.map(({ id, passed }) => [id, passed])).toEqual([
      ["structure_kept", true],
      ["placements_as_asked", true],
      ["syntax_not_worse", true],
    ]);
    expect(output.data).toEqual({
      treeId: "harbour",
      relativePath: PATH,
      sourceHash: before,
      resultHash: after,
      counts: { focuses: 2, replaced: 2, inserted: 0, removed: 0, warnings: 0 },
      focuses: [
        {
          focusId: "pier",
          line: 3,
          before: { x: 2, y: 0, relativePositionId: null, position: { x: 2, y: 0 } },
          after: { x: 3, y: 0, relativePositionId: null, position: { x: 3, y: 0 } },
        },
        {
          focusId: "crane",
          line: 9,
          before: { x: 1, y: 1, relativePositionId: "pier", position: { x: 3, y: 1 } },
          after: { x: 1, y: 4, relativePositionId: "pier", position: { x: 4, y: 4 } },
        },
      ],
      focusesOmitted: 0,
    });
    expect(text).toContain("- pier: 2, 0 → 3, 0\n- crane: 1, 1 from pier → 1, 4 from pier\n");
  });

  test("stores its diff and its whole list before it writes", async () => {
    const { context, diff, output } = await rewrite({ changes: [{ focusId: "lamp", x: 8 }] });
    expect(diff).toBe(`--- a/${PATH}
+++ b/${PATH}
@@ -13,5 +13,5 @@
 		x = 1
 		y = 1
 	}
-	focus = { id = lamp x = 6 }
+	focus = { id = lamp x = 8 }
 }
`);
    const report: unknown = JSON.parse(Buffer.from(context.artifacts[1]?.bytes ?? []).toString());
    expect(report).toMatchObject({ schema: "holdfast.hoi4.focus-rewrite/1", treeId: "harbour", focuses: [{ focusId: "lamp" }] });
    expect(output.artifacts.map(({ name }) => name)).toEqual(["focus-rewrite.diff", "focus-rewrite.json"]);
  });

  test("gives the same result and the same artifacts for the same file", async () => {
    const [one, other] = await Promise.all([1, 2].map(() => rewrite({ changes: [{ focusId: "crane", x: -3 }] })));
    expect(one?.result).toEqual(other?.result);
    expect(one?.context.artifacts).toEqual(other?.context.artifacts);
  });

  test("can swap two focuses that would collide one by one", async () => {
    const { output } = await rewrite({
      changes: [
        { focusId: "pier", x: 6 },
        { focusId: "lamp", x: 2 },
      ],
    });
    expect(output).toMatchObject({ code: "FOCUS_CHANGES_APPLIED", diagnostics: [] });
  });

  test("takes the path with its layer and in any letter case", async () => {
    const { output } = await rewriteFocuses(memoryWorkspace({ "common/national_focus/Harbour.txt": TREE }), {
      relativePath: "mod:common/national_focus/harbour.txt",
      expectedSourceHash: sha256Of(Buffer.from(TREE)),
      treeId: "harbour",
      changes: [{ focusId: "pier", x: 9 }],
    });
    expect(output).toMatchObject({ code: "FOCUS_CHANGES_APPLIED", changedFiles: [{ path: "mod:common/national_focus/Harbour.txt" }] });
  });

  test("warns of focuses that newly share a position, and only of those", async () => {
    const text = `focus_tree = { id = harbour
focus = { id = a x = 1 y = 1 }
focus = { id = b x = 1 y = 1 }
focus = { id = c x = 3 y = 1 }
focus = { id = d x = 0 y = 0 relative_position_id = c } }`;
    const together = await rewrite({
      text,
      changes: [
        { focusId: "a", y: 2 },
        { focusId: "b", y: 2 },
      ],
    });
    expect(together.output.diagnostics.map(({ message }) => message)).toEqual([]);
    const { output } = await rewrite({ text, changes: [{ focusId: "c", x: 1 }] });
    expect(output.diagnostics).toMatchObject([
      {
        code: "FOCUS_SAME_POSITION",
        severity: "warning",
        location: { symbol: "a" },
        related: [{ symbol: "b" }, { symbol: "c" }, { symbol: "d" }],
      },
    ]);
    expect(output.code).toBe("FOCUS_CHANGES_APPLIED");
  });

  test("moves shared and joint focuses at the root of a file when no tree is named", async () => {
    const text = "shared_focus = { id = s x = 1 y = 1 }\njoint_focus = { id = j relative_position_id = s x = 1 y = 1 }\n";
    const rewritten = await rewrite({
      text,
      treeId: null,
      changes: [
        { focusId: "j", x: 2 },
        { focusId: "s", y: 0 },
      ],
    });
    expect(textOf(rewritten)).toBe(
      "shared_focus = { id = s x = 1 y = 0 }\njoint_focus = { id = j relative_position_id = s x = 2 y = 1 }\n",
    );
    expect(rewritten.output.data?.focuses.map(({ after }) => after.position)).toEqual([
      { x: 3, y: 1 },
      { x: 1, y: 0 },
    ]);
  });
});

describe("a relative position", () => {
  const others = { "common/national_focus/a_shared.txt": "shared_focus = { id = beacon x = 10 y = 2 }" };

  test("may be counted from a shared focus of another file, which is then read", async () => {
    const { output } = await rewrite({ others, changes: [{ focusId: "lamp", relativePositionId: "beacon" }] });
    expect(output.data?.focuses[0]?.after).toEqual({ x: 6, y: 0, relativePositionId: "beacon", position: { x: 16, y: 2 } });
    expect(output.filesScanned).toEqual([`mod:${PATH}`, "mod:common/national_focus/a_shared.txt"]);
  });

  test("to a focus that nobody defines, or that another tree has, is refused", async () => {
    const far = { "common/national_focus/b.txt": "focus_tree = { id = other focus = { id = far x = 1 y = 1 } }" };
    expectBlocked(await rewrite({ others: far, changes: [{ focusId: "lamp", relativePositionId: "far" }] }), [
      "FOCUS_RELATIVE_TARGET_MISSING",
    ]);
  });

  test("that leads in a circle is refused, also one of two changes of the same call", async () => {
    const itself = await rewrite({ changes: [{ focusId: "lamp", relativePositionId: "lamp" }] });
    expectBlocked(itself, ["FOCUS_RELATIVE_CYCLE"]);
    const both = await rewrite({
      changes: [
        { focusId: "pier", relativePositionId: "lamp" },
        { focusId: "lamp", relativePositionId: "crane" },
      ],
    });
    expectBlocked(both, ["FOCUS_RELATIVE_CYCLE", "FOCUS_RELATIVE_CYCLE"]);
    expect(both.output.blockers[0]?.message).toContain("pier → lamp → crane → pier");
  });

  test("that was unknown before does not keep other fields from being changed, and is told", async () => {
    const text = TREE.replace("relative_position_id = pier", "relative_position_id = vanilla_focus");
    const { output } = await rewrite({ text, changes: [{ focusId: "crane", x: 5, relativePositionId: "vanilla_focus" }] });
    expect(output).toMatchObject({ code: "FOCUS_CHANGES_APPLIED", diagnostics: [{ code: "FOCUS_POSITION_UNRESOLVED", severity: "info" }] });
    expect(output.data?.focuses[0]?.after).toMatchObject({ x: 5, position: null });
  });
});

test("a file that says all of it already is left alone", async () => {
  const text = TREE.replace("x = 2", "x = +2.0").replace("y = 1", "y = @row").replace("focus_tree", "@row = 1\nfocus_tree");
  const rewritten = await rewrite({
    text,
    changes: [
      { focusId: "pier", x: 2, relativePositionId: null },
      { focusId: "crane", y: 1, relativePositionId: "pier" },
      { focusId: "lamp", y: 0 },
    ],
  });
  expect(rewritten.output).toMatchObject({ status: "ok", code: "FOCUS_UNCHANGED", proposedFiles: [], changedFiles: [], artifacts: [] });
  expect(rewritten.output.data).toMatchObject({ sourceHash: rewritten.output.data?.resultHash, counts: { focuses: 0 } });
  expect(rewritten.context.written).toEqual([]);
  expect(textOf(rewritten)).toBe(text);
});

describe("what is not found for certain", () => {
  test("blocks the whole call, and every reason is told", async () => {
    const text = TREE.replace("id = lamp", "id = crane");
    const rewritten = await rewrite({
      text,
      changes: [
        { focusId: "pier", x: 9 },
        { focusId: "crane", x: 1 },
        { focusId: "lamp", x: 1 },
      ],
    });
    expectBlocked(rewritten, ["FOCUS_DUPLICATED", "FOCUS_MISSING"], text);
    expect(rewritten.output.blockers[0]).toMatchObject({ details: { focusId: "crane", lines: [9, 16] } });
    expect(rewritten.text).toContain("Nothing was written.\n- ");
  });

  test("says which trees there are, and where else the focus is", async () => {
    const text = `${TREE}focus_tree = { id = inland focus = { id = mill } }\nshared_focus = { id = beacon }`;
    const noTree = await rewrite({ text, treeId: "habour", changes: [{ focusId: "pier", x: 1 }] });
    expectBlocked(noTree, ["FOCUS_TREE_MISSING"], text);
    expect(noTree.text).toContain('"harbour", "inland"');
    const elsewhere = await rewrite({
      text,
      changes: [
        { focusId: "mill", x: 1 },
        { focusId: "beacon", x: 1 },
      ],
    });
    expectBlocked(elsewhere, ["FOCUS_MISSING", "FOCUS_MISSING"], text);
    expect(elsewhere.output.blockers.map(({ message }) => message)).toEqual([
      '"mill" is not in the tree "harbour"; the tree "inland" has it.',
      '"beacon" is not in the tree "harbour"; it is one at the root of the file, which treeId null means.',
    ]);
  });

  test("blocks when the tree is there twice", async () => {
    const text = `${TREE}${TREE}`;
    expectBlocked(await rewrite({ text, changes: [{ focusId: "pier", x: 1 }] }), ["FOCUS_TREE_DUPLICATED"], text);
  });

  test("blocks when the file is none of the mod, or none that can be read", async () => {
    const call = { relativePath: PATH, expectedSourceHash: "0".repeat(64), treeId: "harbour", changes: [{ focusId: "pier", x: 1 }] };
    const missing = await rewriteFocuses(memoryWorkspace({ "events/a.txt": "" }), call);
    expect(blockersOf(missing)).toEqual(["FOCUS_FILE_MISSING"]);
    const outside = await rewriteFocuses(memoryWorkspace({ [PATH]: TREE }, { faults: { [PATH]: "outside" } }), call);
    expect(blockersOf(outside)).toEqual(["FOCUS_FILE_UNREADABLE"]);
    const utf16 = Buffer.from(`\ufeff${TREE}`, "utf16le").toString("latin1");
    const bytes = Buffer.from(utf16, "latin1");
    const wide = await rewriteFocuses(memoryWorkspace({ [PATH]: bytes }), { ...call, expectedSourceHash: sha256Of(bytes) });
    expect(blockersOf(wide)).toEqual(["FOCUS_FILE_UNREADABLE"]);
  });

  test("is an error when the folder of the mod itself is gone", async () => {
    const { output, result } = await rewrite({ changes: [{ focusId: "pier", x: 1 }], workspace: { listFault: "missing" } });
    expect(output).toMatchObject({ status: "error", code: "WORKSPACE_MISSING" });
    expect(result.isError).toBe(true);
  });
});

describe("syntax errors", () => {
  test("in the focus to change block it", async () => {
    const text = TREE.replace("cost = 5", "cost = ");
    const rewritten = await rewrite({ text, changes: [{ focusId: "pier", x: 9 }] });
    expectBlocked(rewritten, ["FOCUS_SYNTAX_ERROR"], text);
    expect(rewritten.output.blockers[0]).toMatchObject({ details: { focusId: "pier", line: 7, finding: "MISSING_VALUE" } });
  });

  test("in another focus, and slips that leave no doubt, do not", async () => {
    const text = TREE.replace("cost = 5", "cost = ").replace("prerequisite = {", "prerequisite {");
    const rewritten = await rewrite({ text, changes: [{ focusId: "crane", x: 9 }] });
    expect(rewritten.output.code).toBe("FOCUS_CHANGES_APPLIED");
    expect(textOf(rewritten)).toBe(text.replace("x = 1\n", "x = 9\n"));
  });

  test.each([
    ["a brace that is missing", TREE.replace("cost = 5\n\t}", "cost = 5\n")],
    ["a brace that is missing at the end", TREE.replace(/\}\n$/u, "")],
    ["a quote that is never closed", TREE.replace("id = harbour", 'id = harbour icon = "GFX')],
    ["a block that belongs to nothing", TREE.replace("id = harbour", "id = harbour { tag = AAA }")],
  ])("of the tree itself block every change: %s", async (_, text) => {
    const rewritten = await rewrite({
      text,
      changes: [
        { focusId: "lamp", x: 9 },
        { focusId: "pier", x: 9 },
      ],
    });
    expectBlocked(rewritten, ["FOCUS_SYNTAX_ERROR"], text);
  });

  test("outside of the tree do not keep it from being changed", async () => {
    const text = `}\n\n${TREE}focus_tree = { id = broken focus = { id = x `;
    const rewritten = await rewrite({ text, changes: [{ focusId: "pier", x: 9 }] });
    expect(rewritten.output.code).toBe("FOCUS_CHANGES_APPLIED");
    expect(textOf(rewritten)).toBe(text.replace("x = 2", "x = 9"));
  });
});

describe("a value that cannot be overwritten for certain", () => {
  test.each([
    ["a constant of the file", "x = 2", "x = @column", "FOCUS_VALUE_NOT_LITERAL"],
    ["the name of a variable", "x = 2", "x = var:column", "FOCUS_VALUE_NOT_LITERAL"],
    ["a block", "x = 2", "x = { 2 }", "FOCUS_VALUE_NOT_LITERAL"],
    ["a comparison", "x = 2", "x > 2", "FOCUS_VALUE_NOT_LITERAL"],
    ["there twice", "x = 2", "x = 2 x = 3", "FOCUS_VALUE_REPEATED"],
  ])("blocks: %s", async (_, from, to, code) => {
    const text = TREE.replace(from, to);
    expectBlocked(await rewrite({ text, changes: [{ focusId: "pier", x: 9 }] }), [code], text);
  });

  test("blocks when a comment would go with it", async () => {
    const text = TREE.replace("relative_position_id = pier", "relative_position_id = # by hand\n\t\t\tpier");
    expectBlocked(await rewrite({ text, changes: [{ focusId: "crane", relativePositionId: null }] }), ["FOCUS_COMMENT_IN_FIELD"], text);
    const replaced = await rewrite({ text, changes: [{ focusId: "crane", relativePositionId: "lamp" }] });
    expect(textOf(replaced)).toBe(text.replace("\t\t\tpier", "\t\t\tlamp"));
  });
});

describe("a new relative position that the file cannot hold", () => {
  const change = (relativePositionId: string) => [{ focusId: "lamp", relativePositionId }];

  test("in its encoding blocks", async () => {
    const text = Buffer.from(`# caf\u00e9\n${TREE}`, "latin1");
    const others = { "common/national_focus/a.txt": "shared_focus = { id = \u6e2f }" };
    const workspace = memoryWorkspace({ ...others, [PATH]: text });
    const rewritten = await rewriteFocuses(workspace, { relativePath: PATH, treeId: "harbour", changes: change("\u6e2f") });
    expect(blockersOf(rewritten)).toEqual(["FOCUS_TEXT_NOT_ENCODABLE"]);
    expect(text.equals(rewritten.bytes)).toBe(true);
  });

  test("as one word blocks, because the text is read again before it is written", async () => {
    const text = `${TREE}shared_focus = { id = "bea\u0001con" }`;
    const failed = Array.from({ length: 3 }, () => "FOCUS_VALIDATION_FAILED");
    expectBlocked(await rewrite({ text, changes: change("bea\u0001con") }), failed, text);
  });
});

describe("a file that is another one", () => {
  test("than the changes were thought out for is an error that tells its hash", async () => {
    const workspace = memoryWorkspace({ [PATH]: TREE });
    const { output, result, context, bytes } = await rewriteFocuses(workspace, {
      relativePath: PATH,
      treeId: "harbour",
      expectedSourceHash: "0".repeat(64),
      changes: [{ focusId: "pier", x: 9 }],
    });
    const sourceHash = sha256Of(Buffer.from(TREE));
    expect(output).toMatchObject({ status: "error", code: "FOCUS_SOURCE_STALE", blockers: [{ details: { sourceHash } }] });
    expect(result.isError).toBe(true);
    expect(context.written).toEqual([]);
    expect(sha256Of(bytes)).toBe(sourceHash);
  });

  test("when it comes to writing is left to whoever changed it", async () => {
    const workspace = memoryWorkspace({ [PATH]: TREE });
    const context = recordingContext(workspace);
    const foreign = Buffer.from(`# mine\n${TREE}`);
    const late: typeof context = {
      ...context,
      artifact: async (file) => {
        await workspace.write(PATH, foreign);
        return context.artifact(file);
      },
    };
    const call = { relativePath: PATH, treeId: "harbour", changes: [{ focusId: "pier", x: 9 }] };
    const { output, result, bytes } = await rewriteFocuses(workspace, call, late);
    expect(output).toMatchObject({ status: "error", code: "FOCUS_SOURCE_CHANGED", changedFiles: [] });
    expect(result.isError).toBe(true);
    expect(Buffer.from(bytes).toString()).toBe(foreign.toString());
  });
});

describe("the result of as many changes as one call takes", () => {
  const ids = Array.from({ length: 500 }, (_, index) => `focus_${index}_`.padEnd(200, "x"));
  const many = `focus_tree = { id = harbour ${ids.map((id) => `focus = { id = ${id} relative_position_id = vanilla x = 1 y = 1 }`).join("\n")} }`;

  test("stays within what a client takes, and the artifact has the rest", async () => {
    const { output, result, context } = await rewrite({ text: many, changes: ids.map((focusId, x) => ({ focusId, x: x + 2 })) });
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(128 * 1024);
    expect(output.data?.focuses.length).toBeGreaterThan(50);
    expect(output.data?.focusesOmitted).toBe(500 - (output.data?.focuses.length ?? 0));
    expect(output.diagnostics.at(-1)?.code).toBe("MCP_INLINE_COLLECTIONS_TRUNCATED");
    const report: unknown = JSON.parse(Buffer.from(context.artifacts[1]?.bytes ?? []).toString());
    expect(report).toMatchObject({ focuses: { length: 500 }, diagnostics: { length: 500 } });
  });

  test("stays so when each of them is refused, and says how many reasons are not listed", async () => {
    const { output, result } = await rewrite({ text: many, changes: ids.map((focusId) => ({ focusId: focusId.replace("f", "g"), x: 1 })) });
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(128 * 1024);
    const shown = output.blockers.filter(({ code }) => code === "FOCUS_MISSING").length;
    expect(output.blockers.at(-1)).toMatchObject({
      code: "MCP_INLINE_COLLECTIONS_TRUNCATED",
      message: `${500 - shown} more reasons are not listed.`,
    });
  });
});
