import { glob, readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { complaintsAbout, type ClauseMap, type TestsByFile } from "./clause-map.ts";
import { beyondTheContract, clauses } from "./clauses.ts";
import { beyondForLegacy, legacyClauses } from "./legacy-clauses.ts";
import { testTitles } from "./test-titles.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");

test("every clause of the contract has its tests, and every test of the whole system its clause", async () => {
  const contract = await readFile(path.join(ROOT, "docs/contract.md"), "utf8");
  const existing: Record<string, readonly string[]> = {};
  for await (const file of glob("{packages,apps}/*/src/**/*.test.ts", { cwd: ROOT })) existing[file] = await titlesIn(file);
  for await (const file of glob("test/**/*.test.ts", { cwd: ROOT })) existing[file] = await titlesIn(file);
  const complaints = complaintsAbout({
    documented: Array.from(contract.matchAll(/^- \*\*(C\d+\.\d+)\*\* /gmu), ([, clause = ""]) => clause),
    clauses: merged(clauses, legacyClauses),
    beyond: { ...beyondTheContract, ...beyondForLegacy },
    existing,
    mustBeNamed: (file) => file.startsWith("test/"),
  });
  expect(complaints).toEqual([]);
});

/** Both maps in one; no file is in the two of them under one clause. */
function merged(...maps: readonly ClauseMap["clauses"][]): ClauseMap["clauses"] {
  const all: Record<string, TestsByFile> = {};
  for (const [clause, tests] of maps.flatMap((map) => Object.entries(map))) all[clause] = { ...all[clause], ...tests };
  return all;
}

async function titlesIn(file: string): Promise<readonly string[]> {
  return testTitles(await readFile(path.join(ROOT, file), "utf8"), file);
}

/** A map without fault; `existing` holds a test of the whole and one beside its source. */
const SOUND: ClauseMap = {
  documented: ["C1.1", "C1.2"],
  clauses: { "C1.1": { "test/whole.test.ts": ["keeps its word"] }, "C1.2": { "packages/part.test.ts": ["holds"] } },
  beyond: {},
  existing: { "test/whole.test.ts": ["keeps its word"], "packages/part.test.ts": ["holds", "and more"] },
  mustBeNamed: (file) => file.startsWith("test/"),
};

test("a map that names every clause and every test of the whole has no fault", () => {
  expect(complaintsAbout(SOUND)).toEqual([]);
});

test.for<[string, Partial<ClauseMap>, string[]]>([
  ["a clause without a test", { clauses: { ...SOUND.clauses, "C1.2": { "packages/part.test.ts": [] } } }, ["C1.2 has no test"]],
  [
    "a test that was renamed",
    { existing: { ...SOUND.existing, "packages/part.test.ts": ["holds well"] } },
    ["C1.2 names a test that does not exist: packages/part.test.ts: holds"],
  ],
  ["a clause that only the document has", { documented: [...SOUND.documented, "C2.1"] }, ["C2.1 is in the contract and not in the map"]],
  ["a clause that only the map has", { documented: ["C1.1"] }, ["C1.2 is in the map and not in the contract"]],
  [
    "a test of the whole that no clause names",
    { existing: { ...SOUND.existing, "test/new.test.ts": ["does something"] } },
    ["names no clause: test/new.test.ts: does something"],
  ],
  [
    "an excuse for a test that is gone",
    { beyond: { "test/old.test.ts": { reason: "a tool", tests: "all" }, "test/whole.test.ts": { reason: "a tool", tests: ["gone"] } } },
    [
      "beyondTheContract names a test that does not exist: test/old.test.ts: any",
      "beyondTheContract names a test that does not exist: test/whole.test.ts: gone",
    ],
  ],
  [
    "an excuse for a test that proves a clause",
    { beyond: { "test/whole.test.ts": { reason: "a tool", tests: "all" } } },
    ["proves a clause and is beyond all of them: test/whole.test.ts: keeps its word"],
  ],
])("%s is a fault of the map", ([, change, complaints]) => {
  expect(complaintsAbout({ ...SOUND, ...change })).toEqual(complaints);
});

test("an excuse with a reason is no fault", () => {
  const existing = { ...SOUND.existing, "test/tool.test.ts": ["prints"] };
  expect(complaintsAbout({ ...SOUND, existing, beyond: { "test/tool.test.ts": { reason: "a tool", tests: "all" } } })).toEqual([]);
});

test("titles are found as they are written, below their blocks, and what never runs is not", () => {
  const source = `
    import { describe, it, test } from "vitest";
    test("plain", () => {});
    it('quoted', { timeout: 1 }, async () => {});
    describe("a queue", () => {
      test.concurrent("holds", () => {});
      describe.each(["a", "b"])("of %s", () => {
        test.for([{ a: 1 }])("gives $a", ({ a }) => {});
        test.skipIf(isMissing)(\`is read\${note}\`, () => {});
      });
      test.skip("waits", () => {});
      test.todo("later");
    });
    test.each(cases)("ends", () => {});
    /x/u.test("no title");
  `;
  expect(testTitles(source, "queue.test.ts")).toEqual([
    "plain",
    "quoted",
    "a queue > holds",
    "a queue > of %s > gives $a",
    "a queue > of %s > is read${note}",
    "ends",
  ]);
});

test("what is called like a test and does not come from vitest is none", () => {
  const source = 'import { test } from "vitest"; function describe(thing) {} test("holds", () => describe(thing)); it("waits");';
  expect(testTitles(source, "queue.test.ts")).toEqual(["holds"]);
});

test("a title that is not written where its test is, is refused", () => {
  expect(() => testTitles('import { test } from "vitest"; test(title, () => {});', "queue.test.ts")).toThrow(
    "queue.test.ts has a test without a title of its own",
  );
});
