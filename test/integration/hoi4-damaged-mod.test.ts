import { readFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { folderWorkspace, inspectEvents, memoryWorkspace } from "@holdfast/hoi4/testing";

type Contents = Record<string, Uint8Array>;

const root = path.join(import.meta.dirname, "../../examples/lantern-harbour");
const listed = await folderWorkspace(root).list("");
const files: Contents = Object.fromEntries(listed.map((file) => [file.path, new Uint8Array(readFileSync(path.join(root, file.path)))]));

/** Something an editor, a merge or a disk could have done to one file. */
const damage = fc.record({
  file: fc.constantFrom(...Object.keys(files)),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  removed: fc.nat(400),
  inserted: fc.oneof(
    fc.constantFrom(
      "{",
      "}",
      '"',
      "=",
      "{{{",
      "}}}",
      "#",
      "\u0000",
      "option = {",
      "country_event = {",
      "if = { limit = {",
      "else = {",
      "random_list = {",
      "= yes",
    ),
    fc.string({ maxLength: 40 }),
    fc.uint8Array({ maxLength: 40 }),
  ),
});

function damaged(
  contents: Contents,
  { file, at, removed, inserted }: typeof damage extends fc.Arbitrary<infer Damage> ? Damage : never,
): Contents {
  const bytes = contents[file] ?? new Uint8Array();
  const offset = Math.floor(at * bytes.length);
  return {
    ...contents,
    [file]: new Uint8Array(Buffer.concat([bytes.subarray(0, offset), Buffer.from(inserted), bytes.subarray(offset + removed)])),
  };
}

test("a scan of the example mod with random damage answers in its own schema and within its size", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 6 }), async (damages) => {
      const { result, graph } = await inspectEvents(memoryWorkspace(damages.reduce(damaged, files)));
      expect(result.isError).toBeUndefined();
      expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(128 * 1024);
      const { nodes, edges } = graph();
      const ids = new Set(nodes.map(({ id }) => id));
      expect(ids.size).toBe(nodes.length);
      expect(edges.filter(({ from, to }) => !ids.has(from) || !ids.has(to))).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

test("two scans give the same bytes, in whatever order the files are listed", async () => {
  const first = await inspectEvents(memoryWorkspace(files));
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(Object.keys(files), { minLength: listed.length }), async (order) => {
      const again = await inspectEvents(memoryWorkspace(files, { arrange: () => order }));
      expect(Buffer.compare(again.artifact, first.artifact)).toBe(0);
      expect(again.result).toEqual(first.result);
    }),
    { numRuns: 20 },
  );
});
