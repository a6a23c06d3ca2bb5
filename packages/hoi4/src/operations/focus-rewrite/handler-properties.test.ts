import fc from "fast-check";
import { expect, test } from "vitest";
import { memoryWorkspace } from "../../testing/memory-workspace.ts";
import { rewriteFocuses } from "../../testing/rewrite-focuses.ts";
import type { PlacementChange } from "./manifest.ts";

const PATH = "common/national_focus/any.txt";

/** A line of a focus: a field, or whatever else stands between the fields. */
type Line = { readonly key: string; readonly value: string; readonly comment: string | null } | { readonly raw: string };

interface Style {
  readonly encoding: "utf-8" | "utf-8-bom" | "windows-1252";
  readonly lineEnd: "\n" | "\r\n" | "\r";
  readonly indentation: string;
  readonly sign: string;
}

interface Model {
  readonly style: Style;
  readonly focuses: readonly { readonly isOneLine: boolean; readonly lines: readonly Line[] }[];
}

const style = fc.record<Style>({
  encoding: fc.constantFrom("utf-8", "utf-8-bom", "windows-1252"),
  lineEnd: fc.constantFrom("\n", "\r\n", "\r"),
  indentation: fc.constantFrom("\t", "  ", ""),
  sign: fc.constantFrom(" = ", "=", "\t= "),
});

const comment = fc.constantFrom(null, "", " première", ' } "x = 1');
const raw = fc.constantFrom(
  "prerequisite = { focus = f0 x = 9 }",
  "cost = 5",
  "icon={ y = 3 }",
  "offset = { x = 1 y = 1 trigger = { always = yes } }",
);

/** Fields in the order in which authors write them; any of them but the id may be missing. */
const focus = fc
  .record({
    isOneLine: fc.boolean(),
    before: fc.array(raw, { maxLength: 2 }),
    between: fc.array(raw, { maxLength: 1 }),
    x: fc.option(fc.integer({ min: -20, max: 20 })),
    y: fc.option(fc.integer({ min: -20, max: 20 })),
    isRelative: fc.boolean(),
    isQuoted: fc.boolean(),
    comments: fc.tuple(comment, comment, comment, comment),
  })
  .map(({ isOneLine, before, between, x, y, isRelative, isQuoted, comments }) => ({
    isOneLine,
    linesOf: (index: number): Line[] => [
      ...before.slice(0, 1).map((text) => ({ raw: text })),
      { key: "id", value: `f${index}`, comment: comments[0] },
      ...before.slice(1).map((text) => ({ raw: text })),
      ...(x === null ? [] : [{ key: "x", value: String(x), comment: comments[1] }]),
      ...between.map((text) => ({ raw: text })),
      ...(y === null ? [] : [{ key: "y", value: String(y), comment: comments[2] }]),
      ...(isRelative && index > 0 ? [{ key: "relative_position_id", value: isQuoted ? '"f0"' : "f0", comment: comments[3] }] : []),
    ],
  }));

const change = fc.record(
  {
    x: fc.integer({ min: -30, max: 30 }),
    y: fc.integer({ min: -30, max: 30 }),
    relativePositionId: fc.constantFrom(null, "f0"),
  },
  { requiredKeys: [] },
);

const call = fc
  .record({
    style,
    focuses: fc.array(focus, { minLength: 1, maxLength: 5 }),
    changes: fc.array(fc.option(change), { minLength: 5, maxLength: 5 }),
  })
  .map(({ style: found, focuses, changes }) => {
    const model: Model = { style: found, focuses: focuses.map(({ isOneLine, linesOf }, index) => ({ isOneLine, lines: linesOf(index) })) };
    const asked = focuses.flatMap((_, index): PlacementChange[] => {
      const { relativePositionId, ...fields } = changes[index] ?? {};
      const own = { focusId: `f${index}`, ...fields, ...(index === 0 || relativePositionId === undefined ? {} : { relativePositionId }) };
      return Object.keys(own).length === 1 ? [] : [own];
    });
    return { model, asked };
  })
  .filter(({ asked }) => asked.length > 0);

test("whatever the style of the file, it becomes what its author would have written with other values", { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(call, async ({ model, asked }) => {
      const [before, after] = [render(model), render(asked.reduce(changed, model))];
      const workspace = memoryWorkspace({ [PATH]: before });
      const { output, bytes } = await rewriteFocuses(workspace, { relativePath: PATH, treeId: "any", changes: asked });
      expect(Buffer.from(bytes).toString("latin1")).toBe(after.toString("latin1"));
      expect(output.code).toBe(before.equals(after) ? "FOCUS_UNCHANGED" : "FOCUS_CHANGES_APPLIED");
    }),
    { numRuns: 1_500 },
  );
});

test("damage anywhere in the file never lets a byte outside of the asked fields change", { timeout: 60_000 }, async () => {
  const damage = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    removed: fc.nat(6),
    inserted: fc.constantFrom("", "{", "}", '"', "=", "#", "x = 1 ", "id"),
  });
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(call, fc.array(damage, { minLength: 1, maxLength: 3 }), async ({ model, asked }, damages) => {
      const before = damages.reduce((bytes: Buffer, { at, removed, inserted }) => {
        const offset = Math.floor(at * bytes.length);
        return Buffer.concat([bytes.subarray(0, offset), Buffer.from(inserted), bytes.subarray(offset + removed)]);
      }, render(model));
      const { output, bytes } = await rewriteFocuses(memoryWorkspace({ [PATH]: before }), {
        relativePath: PATH,
        treeId: "any",
        changes: asked,
      });
      seen.add(output.code);
      // In a file that was written, numbers, names and words of our three fields apart, the text must be the same.
      const kept = output.code === "FOCUS_CHANGES_APPLIED" ? skeletonOf : (text: Uint8Array) => Buffer.from(text).toString("latin1");
      expect(kept(bytes)).toBe(kept(before));
    }),
    { numRuns: 1_000 },
  );
  expect([...seen]).toEqual(expect.arrayContaining(["FOCUS_CHANGES_APPLIED", "FOCUS_CHANGES_BLOCKED"]));
});

function skeletonOf(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString("latin1")
    .replaceAll(/(?<![\w"])(?:x|y|relative_position_id)[ \t]*=[ \t]*"?(?:-?\d+|f\d)"?/gu, "")
    .replaceAll(/\s+/gu, "");
}

function changed(model: Model, { focusId, x, y, relativePositionId }: PlacementChange): Model {
  const wanted = { x, y, relative_position_id: relativePositionId };
  return {
    ...model,
    focuses: model.focuses.map((each, index) =>
      `f${index}` === focusId
        ? {
            ...each,
            lines: (["x", "y", "relative_position_id"] as const).reduce((lines, key) => withField(lines, key, wanted[key]), each.lines),
          }
        : each,
    ),
  };
}

function withField(lines: readonly Line[], key: string, wanted: number | string | null | undefined): readonly Line[] {
  const found = lines.find((line) => "key" in line && line.key === key);
  const now = found !== undefined && "value" in found ? found.value.replaceAll('"', "") : null;
  if (wanted === undefined || (wanted === null ? now === null : String(wanted) === (now ?? (key === "relative_position_id" ? null : "0"))))
    return lines;
  if (found === undefined) {
    const neighbours = { x: ["id"], y: ["x", "id"] }[key] ?? ["y", "x", "id"];
    const at = neighbours.map((each) => lines.findIndex((line) => "key" in line && line.key === each)).find((index) => index >= 0) ?? 0;
    return lines.toSpliced(at + 1, 0, { key, value: String(wanted), comment: null });
  }
  return lines.flatMap((line): Line[] => {
    if (line !== found || !("key" in line)) return [line];
    if (wanted !== null) return [{ ...line, value: line.value.startsWith('"') ? `"${wanted}"` : String(wanted) }];
    return line.comment === null ? [] : [{ raw: `#${line.comment}` }];
  });
}

function render({ style: { encoding, lineEnd, indentation, sign }, focuses }: Model): Buffer {
  const blocks = focuses.map(({ isOneLine, lines }) => {
    const texts = lines.map((line) => {
      if ("raw" in line) return line.raw;
      return `${line.key}${sign}${line.value}${line.comment === null || isOneLine ? "" : ` #${line.comment}`}`;
    });
    if (isOneLine) return `${indentation}focus = { ${texts.filter((text) => !text.startsWith("#")).join(" ")} }`;
    return [`${indentation}focus = {`, ...texts.map((text) => `${indentation}${indentation}${text}`), `${indentation}}`].join("\n");
  });
  const text = ["# été", "focus_tree = {", `${indentation}id = any`, ...blocks, "}", ""].join("\n").replaceAll("\n", lineEnd);
  return encoding === "windows-1252" ? Buffer.from(text, "latin1") : Buffer.from(`${encoding === "utf-8-bom" ? "\ufeff" : ""}${text}`);
}
