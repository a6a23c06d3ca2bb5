import { Buffer } from "node:buffer";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { extname, join, relative, resolve } from "node:path";
import {
  type Block,
  type Edit,
  EditRefusedError,
  type Entry,
  type Range,
  type ScriptFile,
  type Value,
  applyEdits,
  parseScript,
  positionAt,
  readLocalisation,
  renderTokens,
  tokenKind,
} from "@holdfast/hoi4/clausewitz";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const repository = resolve(import.meta.dirname, "../..");
const mods = resolve(repository, "../shared/mods");

describe("any bytes", () => {
  test("come back from their tokens and are all accounted for", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        expect(problemsOf(bytes)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test("made of what scripts are made of do so too", () => {
    fc.assert(
      fc.property(scriptLike(), (bytes) => {
        expect(problemsOf(bytes)).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });

  test("come back from their tokens whatever the limits are, and no finding is lost from the count", () => {
    const limits = fc.record({ maxTokens: fc.nat(30), maxDepth: fc.nat(3), maxFindings: fc.nat(3) });
    fc.assert(
      fc.property(scriptLike(), limits, (bytes, small) => {
        const file = parseScript(bytes, small);
        expect(tilingProblems(file)).toEqual([]);
        expect(file.findings.length).toBeLessThanOrEqual(small.maxFindings);
        expect(file.findings.length + file.findingsOmitted).toBe(parseScript(bytes, { ...small, ...everyFinding }).findings.length);
      }),
      { numRuns: 500 },
    );
  });

  test("are read as localisation without losing their place", () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), localisationLike()), (bytes) => {
        const { entries, findings } = readLocalisation(bytes);
        const ranges = [...findings, ...entries.flatMap(({ keyRange, textRange }) => [keyRange, textRange])];
        expect(outside(ranges, { start: 0, end: bytes.length })).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });
});

test("a valid script is read as the structure it was written from, without errors", () => {
  fc.assert(
    fc.property(script(), ({ text, model }) => {
      const bytes = Buffer.from(text);
      const { root, findings } = parseScript(bytes);
      expect(plainEntries(root)).toEqual(model);
      expect(findings.filter(({ severity }) => severity === "error")).toEqual([]);
      expect(problemsOf(bytes)).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test("edits that are applied change their own bytes only, and the others are refused by name", () => {
  fc.assert(
    fc.property(scriptLike(), fc.array(change(), { maxLength: 3 }), (bytes, changes) => {
      const edits = changes.map((each) => editOf(each, bytes.length));
      const { result, refused } = tryEdits(parseScript(bytes), edits);
      expect(result === null ? refused : Buffer.compare(result, splice(bytes, edits)) === 0).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

describe.each([
  { name: "examples", folder: join(repository, "examples") },
  { name: "test/fixtures", folder: join(repository, "test/fixtures") },
  { name: "the real mods in ../shared/mods", folder: mods },
])("the files of $name", ({ folder }) => {
  const isPresent = existsSync(folder);
  const note = isPresent ? "" : " (skipped: the folder is not there)";
  const files = isPresent ? scriptsBelow(folder) : [];

  test.skipIf(!isPresent)(`come back byte for byte${note}`, () => {
    expect(files.length).toBeGreaterThan(0);
    for (const { path, bytes } of files) expect({ path, problems: problemsOf(bytes) }).toEqual({ path, problems: [] });
  });

  test.skipIf(!isPresent)(`come back byte for byte after any damage${note}`, () => {
    fc.assert(
      fc.property(fc.constantFrom(...files), fc.array(change(), { minLength: 1, maxLength: 4 }), ({ bytes }, changes) => {
        // A window keeps a run short; damage to a large file is local anyway.
        const start = Math.floor((changes[0]?.place ?? 0) * bytes.length);
        const window = bytes.length > 20_000 ? bytes.subarray(start, start + 20_000) : bytes;
        const damaged = changes.reduce<Uint8Array>((before, each) => splice(before, [editOf(each, before.length)]), window);
        expect(problemsOf(damaged)).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });
});

const everyFinding = { maxFindings: 1_000_000 };

/** Tokens tile the file and are the file; every word, string and brace is in the tree once; nodes nest; findings and blocked ranges lie inside. */
function problemsOf(bytes: Uint8Array): string[] {
  const file = parseScript(bytes, everyFinding);
  const { root, findings, blocked } = file;
  const tally: Tally = { scalars: 0, blocks: 0, unclosed: 0, misplaced: [] };
  walk(root, { start: 0, end: bytes.length }, tally);
  const problems = [...tilingProblems(file), ...tally.misplaced, ...outside([...findings, ...blocked], { start: 0, end: bytes.length })];
  for (const { start } of findings.slice(0, 5)) {
    const { line, column } = positionAt(file, start);
    if (`${line}:${column}` !== countedPosition(file, start)) problems.push(`byte ${start} is not at ${line}:${column}`);
  }
  // These two leave parts of the file out of the tree on purpose.
  if (findings.some(({ code }) => code === "DEPTH_LIMIT" || code === "UTF16_TEXT")) return problems;
  const found = (code: string) => findings.filter((finding) => finding.code === code).length;
  const tokens = (kind: number) => file.tokens.kinds.filter((each) => each === kind).length;
  if (tally.scalars !== tokens(tokenKind.atom) + tokens(tokenKind.string)) problems.push("the tree has not all words");
  if (tally.blocks !== tokens(tokenKind.open)) problems.push("the tree has not all blocks");
  if (tally.unclosed !== found("MISSING_CLOSE_BRACE")) problems.push("an unclosed block is not reported");
  if (tally.blocks - tally.unclosed + found("EXTRA_CLOSE_BRACE") !== tokens(tokenKind.close))
    problems.push("a closing brace is unaccounted for");
  return problems;
}

function tilingProblems(file: ScriptFile): string[] {
  const { count, kinds, starts, ends } = file.tokens;
  const problems: string[] = [];
  let covered = 0;
  for (let index = 0; index < count; index++) {
    const follows = starts[index] === covered && ends[index]! > covered && kinds[index]! <= tokenKind.atom;
    if (!follows) problems.push(`token ${index} does not follow the one before it`);
    covered = ends[index]!;
  }
  if (covered !== file.bytes.length) problems.push("the tokens do not reach the end");
  if (Buffer.compare(renderTokens(file), file.bytes) !== 0) problems.push("the tokens are not the file");
  return problems;
}

interface Tally {
  scalars: number;
  blocks: number;
  unclosed: number;
  readonly misplaced: string[];
}

function walk(block: Block, inside: Range, tally: Tally): void {
  let from = inside.start;
  for (const entry of block.entries) {
    const range = entry.kind === "pair" ? entry : entry.value;
    const isPlaced =
      outside([range], { start: from, end: inside.end }).length === 0 && (entry.value === null || entry.value.end === range.end);
    if (!isPlaced) tally.misplaced.push(`the entry ${range.start}–${range.end} is out of place`);
    from = range.end;
    if (entry.kind === "pair") tally.scalars += 1;
    if (entry.value !== null) walkValue(entry.value, tally);
  }
}

function walkValue(value: Value, tally: Tally): void {
  if (value.kind !== "block") tally.scalars += 1;
  if (value.kind === "scalar") return;
  const block = value.kind === "block" ? value : value.block;
  tally.blocks += 1;
  if (!block.closed) tally.unclosed += 1;
  walk(block, { start: block.start + 1, end: block.closed ? block.end - 1 : block.end }, tally);
}

function outside(ranges: readonly Range[], outer: Range): string[] {
  return ranges.flatMap(({ start, end }) =>
    start >= outer.start && start <= end && end <= outer.end ? [] : [`${start}–${end} is not inside ${outer.start}–${outer.end}`],
  );
}

/** Counted from the start of the file, which the line index exists to avoid. */
function countedPosition({ bytes, encoding }: ScriptFile, offset: number): string {
  let line = 1;
  let lineStart = 0;
  for (let at = 0; at < offset; at++) {
    if (bytes[at] === 0x0a || (bytes[at] === 0x0d && bytes[at + 1] !== 0x0a)) {
      line += 1;
      lineStart = at + 1;
    }
  }
  const before = Buffer.from(bytes.subarray(lineStart, offset)).toString(encoding === "windows-1252" ? "latin1" : "utf8");
  const visible = line === 1 && encoding === "utf-8-bom" ? before.replace("\ufeff", "") : before;
  return `${line}:${Array.from(visible).length + 1}`;
}

function tryEdits(file: ScriptFile, edits: readonly Edit[]): { result: Uint8Array | null; refused: boolean } {
  try {
    return { result: applyEdits(file, edits), refused: false };
  } catch (error) {
    return { result: null, refused: error instanceof EditRefusedError };
  }
}

function scriptsBelow(folder: string): { path: string; bytes: Uint8Array }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && scriptEndings.has(extname(entry.name).toLowerCase()))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
    .map((path) => ({ path: relative(repository, path), bytes: readFileSync(path) }));
}

/** Localisation is no script, but it makes good damage. */
const scriptEndings = new Set([".txt", ".gfx", ".gui", ".asset", ".mod", ".map", ".yml"]);

interface Change {
  /** Where in the file, as a fraction of its length. */
  readonly place: number;
  readonly removed: number;
  readonly bytes: Uint8Array;
}

function change(): fc.Arbitrary<Change> {
  return fc.record({
    place: fc.double({ min: 0, max: 1, noNaN: true }),
    removed: fc.nat(12),
    bytes: fc.oneof(
      fc.uint8Array({ maxLength: 4 }),
      fragment().map((text) => Buffer.from(text)),
    ),
  });
}

function editOf({ place, removed, bytes }: Change, length: number): Edit {
  const start = Math.floor(place * length);
  return { start, end: Math.min(start + removed, length), bytes };
}

/** The plain way: back to front, so that no offset moves before it is used. */
function splice(bytes: Uint8Array, edits: readonly Edit[]): Uint8Array {
  const backwards = edits.toSorted((a, b) => a.start - b.start || a.end - b.end).toReversed();
  return backwards.reduce<Uint8Array>(
    (before, { start, end, bytes: by }) => Buffer.concat([before.subarray(0, start), by, before.subarray(end)]),
    bytes,
  );
}

function fragment(): fc.Arbitrary<string> {
  return fc.constantFrom(...'{}={}=<>"\\#;,!?@[]\n\r\t .-_ab\0\x1a'.split(""), ...phrases);
}

const phrases = [
  "\r\n",
  "= {",
  "}\n",
  "!=",
  "?=",
  "==",
  String.raw`\"`,
  "@[",
  "rgb",
  "hsv {",
  "# c\n",
  "\ufeff",
  "\u00a0",
  "\u3000",
  "é",
  "国",
  "\ncountry_event = {\n\t",
  "a = b ",
  'x = "y" ',
  "else {",
];

function scriptLike(): fc.Arbitrary<Uint8Array> {
  return fc.array(fragment(), { maxLength: 60 }).map((parts) => Buffer.from(parts.join("")));
}

function localisationLike(): fc.Arbitrary<Uint8Array> {
  const part = fc.constantFrom("\ufeff", "l_english:", "\n", "\r\n", " ", "key", ":", "0", '"', "text", "#", "é", "\\n");
  return fc.array(part, { maxLength: 40 }).map((parts) => Buffer.from(parts.join("")));
}

type Plain = string | { quoted: string } | { tag: string; block: PlainEntry[] } | PlainEntry[];
type PlainEntry = { key: Plain; operator: string; value: Plain } | { value: Plain };

function plainEntries({ entries }: Block): PlainEntry[] {
  return entries.map(plainEntry);
}

function plainEntry(entry: Entry): PlainEntry {
  if (entry.value === null) throw new Error("A value is missing.");
  const value = plain(entry.value);
  return entry.kind === "value" ? { value } : { key: plain(entry.key), operator: entry.operator, value };
}

function plain(value: Value): Plain {
  if (value.kind === "scalar") return value.quoted ? { quoted: value.text } : value.text;
  return value.kind === "block" ? plainEntries(value) : { tag: value.tag.text, block: plainEntries(value.block) };
}

/** A structure together with one of the many ways to write it. */
function script(): fc.Arbitrary<{ text: string; model: PlainEntry[] }> {
  return fc.tuple(entriesModel(), fc.array(trivia(), { minLength: 1, maxLength: 12 }), fc.boolean()).map(([model, gaps, hasMark]) => {
    const tokens = tokensOf(model);
    let text = hasMark ? "\ufeff" : "";
    let previous = "";
    for (const [index, token] of tokens.entries()) {
      const gap = gaps[index % gaps.length]!;
      text += gap === "" && isWord(previous) && isWord(token) ? ` ${token}` : `${gap}${token}`;
      previous = token;
    }
    return { text, model };
  });
}

function isWord(token: string): boolean {
  return !/^(?:[{}"=<>]|$)/.test(token);
}

function trivia(): fc.Arbitrary<string> {
  return fc.oneof({ weight: 3, arbitrary: fc.constant("") }, fc.constantFrom(" ", "\t", "\n", "\r\n\t", ' # { = } "\n', "  "));
}

function entriesModel(): fc.Arbitrary<PlainEntry[]> {
  const { list } = fc.letrec<{ list: PlainEntry[]; block: Plain; value: Plain }>((tie) => ({
    value: fc.oneof({ depthSize: "small", withCrossShrink: true }, word(), quoted(), tie("block")),
    block: fc.oneof(tie("list"), fc.record({ tag: fc.constantFrom("rgb", "hsv", "HSV", "hsv360"), block: tie("list") })),
    list: fc
      .array(
        fc.oneof(
          fc.record({ key: fc.oneof(word(), quoted()), operator: fc.constantFrom("=", "=", "=", "<", ">"), value: tie("value") }),
          tie("value").map((value) => ({ value })),
        ),
        { maxLength: 5, depthIdentifier: "list" },
      )
      .map(withoutAmbiguity),
  }));
  return list;
}

/** A word before an anonymous block would be its key, and a header needs an operator before it; neither has another spelling. */
function withoutAmbiguity(entries: PlainEntry[]): PlainEntry[] {
  const kept: PlainEntry[] = [];
  for (const entry of entries) {
    const previous = kept.at(-1)?.value;
    const isAnonymous = !("key" in entry) && Array.isArray(entry.value);
    const isBareHeader = !("key" in entry) && isTagged(entry.value);
    if (isBareHeader || (isAnonymous && previous !== undefined && !Array.isArray(previous) && !isTagged(previous))) continue;
    kept.push(entry);
  }
  return kept;
}

function isTagged(value: Plain): value is { tag: string; block: PlainEntry[] } {
  return typeof value === "object" && "tag" in value;
}

function word(): fc.Arbitrary<string> {
  const letters = "abzAZ019_.:@^|'[]+-*/%$&~éß国í".split("");
  return fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 10 }).filter((text) => !text.startsWith("@["));
}

function quoted(): fc.Arbitrary<{ quoted: string }> {
  return fc.string({ unit: "grapheme", maxLength: 12 }).map((text) => ({ quoted: text }));
}

function tokensOf(entries: readonly PlainEntry[]): string[] {
  return entries.flatMap((entry) =>
    "key" in entry ? [...written(entry.key), entry.operator, ...written(entry.value)] : written(entry.value),
  );
}

function written(value: Plain): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return ["{", ...tokensOf(value), "}"];
  if (isTagged(value)) return [value.tag, "{", ...tokensOf(value.block), "}"];
  return [`"${value.quoted.replaceAll(/["\\]/g, String.raw`\$&`)}"`];
}
