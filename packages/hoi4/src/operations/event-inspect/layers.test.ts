import { describe, expect, test } from "vitest";
import { createFactsCache } from "../../graph/kept-facts.ts";
import { createTextsCache } from "../../mod/localised-texts.ts";
import { inspectEvents } from "../../testing/inspect-events.ts";
import { memoryWorkspace } from "../../testing/memory-workspace.ts";
import { diagnosticLines, scanTexts } from "../../testing/scan-texts.ts";

const layout = (hoi4: object) => ({ "holdfast.json": JSON.stringify({ hoi4: { mod: "mine", ...hoi4 } }) });
const waiting = (id: string, immediate = "") =>
  `country_event = { id = ${id} hidden = yes is_triggered_only = yes immediate = { ${immediate} } }`;

const MINE = {
  "mine/descriptor.mod": "",
  "mine/events/m.txt": `add_namespace = m ${waiting("m.1", "country_event = game.1 country_event = game.2 lift_spirits = yes")}`,
};
const GAME = {
  "game/events/g.txt": `add_namespace = game ${waiting("game.1")} }`,
  "game/common/scripted_effects/g.txt": "lift_spirits = { country_event = m.1 }",
};

describe("an id that the mod does not define", () => {
  test("is unresolved without the game's files, and no error", async () => {
    const { output } = await inspectEvents(memoryWorkspace({ ...layout({}), ...MINE }));
    expect(output.data?.events[0]?.calls.map(({ event, resolution }) => [event, resolution])).toEqual([
      ["game.1", "not_configured"],
      ["game.2", "not_configured"],
    ]);
    expect(output).toMatchObject({ code: "EVENT_SCAN_COMPLETED", validation: { passed: true }, data: { complete: true } });
    expect(output.diagnostics.filter(({ severity }) => severity !== "info")).toEqual([]);
  });

  test("is found in the game's files where there are some, or missing for certain", async () => {
    const { output } = await inspectEvents(memoryWorkspace({ ...layout({ game: "game" }), ...MINE, ...GAME }));
    expect(output.data?.events.find(({ id }) => id === "m.1")?.calls.map(({ event, resolution }) => [event, resolution])).toEqual([
      ["game.1", "resolved"],
      ["game.2", "missing"],
      // What the game's scripted effect fires.
      ["m.1", "resolved"],
    ]);
    expect(output.diagnostics).toMatchObject([
      { code: "EVENT_REFERENCE_MISSING", severity: "error", location: { path: "mod:events/m.txt" } },
    ]);
  });

  test("stays open when a folder that could have it is not there, and the result is partial", async () => {
    const { output } = await inspectEvents(memoryWorkspace({ ...layout({ game: "gone" }), ...MINE }));
    expect(output).toMatchObject({
      code: "EVENT_SCAN_PARTIAL",
      data: { complete: false, skippedSources: [{ path: "game:", reasonCodes: ["LAYER_MISSING"] }] },
    });
    expect(output.data?.events[0]?.calls.map(({ resolution }) => resolution)).toEqual(["skipped", "skipped"]);
    expect(output.diagnostics.some(({ severity }) => severity === "error")).toBe(false);
  });
});

test("the result tells the layers, the rule of precedence and how much is wrong elsewhere, and lists what is wrong in the mod", async () => {
  const shadowed = { "game/events/m.txt": waiting("game.3") };
  const { output } = await inspectEvents(memoryWorkspace({ ...layout({ game: "game" }), ...MINE, ...GAME, ...shadowed }));
  expect(output.data).toMatchObject({
    layers: [
      { label: "game", kind: "game", folder: "game", name: null, files: 2, shadowedFiles: 1, replacedFiles: 0 },
      { label: "mod", kind: "mod", folder: "mine", name: null, files: 1, shadowedFiles: 0, replacedFiles: 0 },
    ],
    precedence: { sameRelativePath: "whole_file", replacePath: "one_folder", pathsCompared: "case_insensitive" },
    // The brace too many in the game's file.
    counts: { diagnosticsElsewhere: 1 },
  });
  expect(output.diagnostics.every(({ location }) => location?.path.startsWith("mod:") !== false)).toBe(true);
});

test("events of the mod come before those of the game in the rows, and the text counts them apart", async () => {
  const { output, text } = await inspectEvents(memoryWorkspace({ ...layout({ game: "game" }), ...MINE, ...GAME }));
  expect(output.data?.events.map(({ id }) => id)).toEqual(["m.1", "game.1"]);
  expect(text.split("\n")[0]).toBe("The mod: 1 of 2 events with 0 options, started from 0 places, in 3 files.");
});

test("of two definitions in different layers, an event's first one counts and a scripted effect's last one", async () => {
  const { graph, diagnostics } = await scanTexts({
    ...layout({ game: "game" }),
    ...GAME,
    "mine/descriptor.mod": "",
    "mine/events/a.txt": `add_namespace = m ${waiting("game.1")} ${waiting("m.1", "lift_spirits = yes")} ${waiting("m.2")}`,
    "mine/common/scripted_effects/a.txt": "lift_spirits = { country_event = m.2 }",
  });
  const active = graph.nodes.flatMap((node) =>
    (node.kind === "event" || node.kind === "helper") && node.isActive ? [`${node.id} ${node.location.path}`] : [],
  );
  expect(active).toEqual([
    "event:game.1 game:events/g.txt",
    "event:m.1 mod:events/a.txt",
    "event:m.2 mod:events/a.txt",
    "helper:lift_spirits mod:common/scripted_effects/a.txt",
  ]);
  expect(diagnostics.filter(({ code }) => code.endsWith("DUPLICATE_ID"))).toMatchObject([
    { code: "EVENT_DUPLICATE_ID", location: { path: "mod:events/a.txt" }, related: [{ path: "game:events/g.txt" }] },
  ]);
});

test("a graph that is full lacks the game before it lacks the mod", async () => {
  const { skipped } = await scanTexts({ ...layout({ game: "game" }), ...MINE, ...GAME }, { graphLimit: { parts: 8 } });
  expect(skipped.map(({ path }) => path)).toEqual(["game:events/g.txt"]);
});

describe("proposed sources", () => {
  const mod = { "descriptor.mod": "", "events/a.txt": `add_namespace = a ${waiting("a.1", "country_event = a.2")}` };

  test("are judged as if they were there, and nothing is written", async () => {
    const workspace = memoryWorkspace(mod);
    const added = { relativePath: "events/b.txt", source: waiting("a.2") };
    const { output } = await inspectEvents(workspace, { proposedSources: [added] });
    expect(output.data?.events[0]?.calls).toMatchObject([{ event: "a.2", resolution: "resolved" }]);
    expect(output.proposedFiles).toMatchObject([{ path: "mod:events/b.txt", sha256Before: null }]);
    expect((await workspace.list("")).map(({ path }) => path)).toEqual(Object.keys(mod));
    const written = await inspectEvents(memoryWorkspace({ ...mod, "events/b.txt": added.source }));
    expect(output.data?.revision).toBe(written.output.data?.revision);
    expect((await inspectEvents(workspace)).output.data?.revision).not.toBe(written.output.data?.revision);
  });

  test("of a descriptor change what the mod replaces", async () => {
    const workspace = memoryWorkspace({ ...layout({ game: "game" }), ...MINE, ...GAME });
    const { output } = await inspectEvents(workspace, {
      proposedSources: [{ relativePath: "descriptor.mod", source: 'replace_path="events"' }],
    });
    expect(output.data).toMatchObject({ mod: { replacesEvents: true }, counts: { events: 1 } });
  });

  test("that take a file away bring back the game's file of its path", async () => {
    const files = { ...layout({ game: "game" }), ...MINE, "game/events/m.txt": waiting("game.3") };
    const { output } = await inspectEvents(memoryWorkspace(files), { proposedSources: [{ relativePath: "events/m.txt", source: null }] });
    expect(output.data?.events.map(({ id, file }) => [id, file])).toEqual([["game.3", "game:events/m.txt"]]);
  });

  test("that are refused are an error with the reason", async () => {
    const { result, output } = await inspectEvents(memoryWorkspace(mod), { proposedSources: [{ relativePath: "../a.txt", source: "" }] });
    expect(result.isError).toBe(true);
    expect(output).toMatchObject({ code: "PROPOSED_PATH_INVALID", data: null });
  });
});

test("a layout file that cannot be followed is an error with the reason", async () => {
  const { result, output } = await inspectEvents(memoryWorkspace({ "holdfast.json": "{" }));
  expect([result.isError, output.code]).toEqual([true, "LAYOUT_INVALID"]);
});

describe("what is kept from call to call", () => {
  const files = {
    "descriptor.mod": "",
    "common/scripted_effects/a.txt": "h = { country_event = a.2 }",
    "events/a.txt": `add_namespace = a ${waiting("a.1", "h = yes new_helper = yes")}`,
    "events/b.txt": waiting("a.2", "country_event = a.3"),
    "localisation/a_l_english.yml": '\uFEFFl_english:\n a:0 "A"\n',
  };

  test("gives the same result as reading everything anew, in every order of edits", async () => {
    const caches = { facts: createFactsCache(), texts: createTextsCache() };
    const edits: Record<string, string>[] = [
      {},
      { "events/b.txt": waiting("a.3") },
      { "common/scripted_effects/b.txt": "New_Helper = { country_event = a.1 }" },
      { "common/scripted_effects/a.txt": "other = { }" },
      { "events/a.txt": "add_namespace = a" },
      {},
    ];
    for (const edit of edits) {
      const kept = await scanTexts({ ...files, ...edit }, { caches });
      expect(kept).toEqual(await scanTexts({ ...files, ...edit }));
      expect(await scanTexts({ ...files, ...edit }, { caches, refresh: true })).toEqual(kept);
    }
  });

  test("saves the reading of files that have not changed, but of those that a new scripted effect concerns", async () => {
    const caches = { facts: createFactsCache(), texts: createTextsCache() };
    const made: string[] = [];
    const { open } = caches.facts;
    const watched = {
      ...caches,
      facts: {
        ...caches.facts,
        open: (options: { refresh?: boolean } = {}) => {
          const pass = open(options);
          return {
            ...pass,
            put: (...put: Parameters<typeof pass.put>) => {
              made.push(put[0].replace(/[0-9a-f]{64} ?/u, ""));
              pass.put(...put);
            },
          };
        },
      },
    };
    const scan = async (edit: Record<string, string>, refresh = false) => {
      made.length = 0;
      await scanTexts({ ...files, ...edit }, { caches: watched, refresh });
      return made.filter((key) => key.startsWith("facts ")).map((key) => key.slice("facts ".length));
    };
    expect(await scan({})).toHaveLength(3);
    expect(await scan({})).toEqual([]);
    expect(await scan({ "events/b.txt": waiting("a.3") })).toEqual(["mod:events/b.txt"]);
    expect(await scan({ "common/scripted_effects/b.txt": "New_Helper = { }" })).toEqual([
      "mod:common/scripted_effects/b.txt",
      "mod:events/a.txt",
    ]);
    expect(await scan({}, true)).toHaveLength(3);
  });
});

test("of what the layout hides, nothing is told", async () => {
  const scan = await scanTexts({ ...layout({}), ...MINE, "other/events/x.txt": "country_event = { " });
  expect(diagnosticLines(scan).filter((line) => line.includes("x.txt"))).toEqual([]);
});
