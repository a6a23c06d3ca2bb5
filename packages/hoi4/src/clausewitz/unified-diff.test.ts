import { Buffer } from "node:buffer";
import fc from "fast-check";
import { expect, test } from "vitest";
import { applyEdits } from "./edits.ts";
import { parseScript } from "./parse-script.ts";
import type { Edit } from "./syntax.ts";
import { parseText } from "./testing/outline.ts";
import { unifiedDiff } from "./unified-diff.ts";

const NUMBERED = Array.from({ length: 20 }, (_, index) => `l${index + 1} = 1\n`).join("");

test("changes far from each other are hunks of their own, with three lines around each", () => {
  expect(diffOf(NUMBERED, [edit(NUMBERED, "l2 = 1\n", "l2 = 2\nl2b = 2\n"), edit(NUMBERED, "l15 = 1\n", "")])).toBe(`--- a/a.txt
+++ b/a.txt
@@ -1,5 +1,6 @@
 l1 = 1
-l2 = 1
+l2 = 2
+l2b = 2
 l3 = 1
 l4 = 1
 l5 = 1
@@ -12,7 +13,6 @@
 l12 = 1
 l13 = 1
 l14 = 1
-l15 = 1
 l16 = 1
 l17 = 1
 l18 = 1
`);
});

test("changes close to each other share a hunk", () => {
  const hunks = diffOf(NUMBERED, [edit(NUMBERED, "l2 = 1", "x = 1"), edit(NUMBERED, "l9 = 1", "y = 1")]).match(/^@@.*$/gmu);
  expect(hunks).toEqual(["@@ -1,12 +1,12 @@"]);
});

test("a last line without an end is marked, and line ends of Windows stay", () => {
  expect(diffOf("a = 1\r\nb = 1", [edit("a = 1\r\nb = 1", "b = 1", "b = 2")])).toBe(
    "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n a = 1\r\n-b = 1\n\\ No newline at end of file\n+b = 2\n\\ No newline at end of file\n",
  );
});

test("letters of Windows-1252 are shown as what they are", () => {
  const before = parseScript(Buffer.from([0x78, 0x3d, 0xe9, 0x0a]));
  expect(unifiedDiff({ path: "a.txt", before, edits: [{ start: 0, end: 1, bytes: Buffer.from("y") }] })).toContain("-x=é\n+y=é\n");
});

test("edits that change nothing have no diff", () => {
  expect(diffOf("a = 1\n", [edit("a = 1\n", "1", "1")])).toBe("");
});

test("applied by the rules of the format, a diff of any edits gives the new file", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", " ", "\n", "\n", "\r\n", "é"), maxLength: 120 });
  const cut = fc.record({ at: fc.nat(200), removed: fc.nat(12), inserted: fc.constantFrom("", "c", "\n", "c\nd\n", "\nc") });
  fc.assert(
    fc.property(text, fc.array(cut, { maxLength: 4 }), (before, cuts) => {
      const length = Buffer.byteLength(before);
      // Letters of two bytes must not be cut in half, or the file would change its encoding.
      const at = (offset: number) =>
        Buffer.byteLength(Buffer.from(before).subarray(0, Math.min(offset, length)).toString().replaceAll("\ufffd", ""));
      const edits: Edit[] = [];
      for (const { at: offset, removed, inserted } of cuts.toSorted((a, b) => a.at - b.at)) {
        const start = Math.max(at(offset), edits.at(-1)?.end ?? 0);
        edits.push({ start, end: Math.max(start, at(start + removed)), bytes: Buffer.from(inserted) });
      }
      const after = Buffer.from(applyEdits(parseText(before), edits)).toString();
      expect(patched(before, diffOf(before, edits))).toBe(after);
    }),
    { numRuns: 2_000 },
  );
});

function diffOf(text: string, edits: readonly Edit[]): string {
  return unifiedDiff({ path: "a.txt", before: parseText(text), edits });
}

function edit(text: string, part: string, by: string): Edit {
  const start = Buffer.from(text).indexOf(part);
  return { start, end: start + Buffer.byteLength(part), bytes: Buffer.from(by) };
}

/** Applies a diff as other programs do: every line that is kept or removed must be the one that stands there. */
function patched(before: string, diff: string): string {
  const old = linesOf(before);
  const out: string[] = [];
  let at = 0;
  for (const line of linesOf(diff.replaceAll(/\n\\ No newline at end of file\n/gu, "\u0000\n")).slice(2)) {
    const hunk = /^@@ -(\d+),(\d+) \+(\d+),(\d+) @@\n$/u.exec(line);
    if (hunk !== null) {
      const start = Number(hunk[1]) - (hunk[2] === "0" ? 0 : 1);
      out.push(...old.slice(at, start));
      at = start;
      if (out.length !== Number(hunk[3]) - (hunk[4] === "0" ? 0 : 1)) throw new Error(`the new file has ${out.length} lines at ${line}`);
      continue;
    }
    const content = line.slice(1).replace("\u0000\n", "");
    if (!line.startsWith("+") && content !== old[at++]) throw new Error(`line ${at} of the old file is not ${line}`);
    if (!line.startsWith("-")) out.push(content);
  }
  return [...out, ...old.slice(at)].join("");
}

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/gu) ?? [];
}
