import { describe, expect, test } from "vitest";
import type { EventScan } from "../../operations/event-inspect/scan-events.ts";
import { truthOf } from "../generated-truth.ts";
import { inspectEvents } from "../inspect-events.ts";
import { memoryWorkspace } from "../memory-workspace.ts";
import { scanTexts } from "../scan-texts.ts";
import { generateMod } from "./generate-mod.ts";
import { createRandom } from "./random.ts";

describe.each([
  { events: 60, seed: 1, defects: 1 },
  { events: 400, seed: 2, defects: 4 },
  { events: 400, seed: 3, defects: 0 },
  { events: 800, seed: 4, defects: 20, filler: 0 },
])("of a mod of $events events and $defects defects of each kind, seed $seed", (options) => {
  const { files, truth } = generateMod(options);

  test("a scan finds exactly what was put in", async () => {
    const found = truthOf(await scanTexts(files));
    expect(found.findings).toEqual(truth.findings);
    expect(found.edges).toEqual(truth.edges);
    expect(found).toEqual(truth);
  });

  test("the tool answers with these numbers", async () => {
    const { output } = await inspectEvents(memoryWorkspace(files));
    expect(output.data?.counts).toMatchObject({
      events: truth.events,
      options: truth.options,
      helpers: truth.helpers,
      entries: truth.entries.length,
      unresolvedNodes: truth.unresolved.length,
      terminals: truth.terminals,
      edges: truth.edges.length,
      diagnostics: truth.findings.length,
      skippedSources: 0,
    });
    expect(output.validation.checks.find(({ id }) => id === "ids_unique")?.message).toMatch(
      new RegExp(`^${truth.duplicates.length} `, "u"),
    );
  });
});

test("the same seed gives the same mod, and another seed another one", () => {
  const options = { events: 100, seed: 7 };
  expect(generateMod(options)).toEqual(generateMod(options));
  expect(generateMod({ ...options, seed: 8 }).files).not.toEqual(generateMod(options).files);
});

test("a mod that has no room for its defects is refused", () => {
  expect(() => generateMod({ events: 20, seed: 1, defects: 3 })).toThrow(RangeError);
});

test("a mod without defects has nothing wrong but events that nothing fires", () => {
  const { truth } = generateMod({ events: 300, seed: 9, defects: 0 });
  expect(truth.findings.filter((line) => !line.startsWith("EVENT_NEVER_FIRED "))).toEqual([]);
});

test("the order in which files are listed changes nothing that a scan of it says", async () => {
  const { files } = generateMod({ events: 120, seed: 5 });
  const { shuffle } = createRandom(6);
  const [listed, shuffled] = await Promise.all([scanTexts(files), scanTexts(files, { workspace: { arrange: shuffle } })]);
  const said = ({ revision, graphHash, diagnostics }: EventScan) => ({ revision, graphHash, diagnostics });
  expect(said(shuffled)).toEqual(said(listed));
});
