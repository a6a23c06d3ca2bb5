import { describe, expect, test } from "vitest";
import { diagnosticLines, edgeTo, scanTexts } from "../../testing/scan-texts.ts";

const event = (id: string, calls: number) =>
  `country_event = { id = ${id} hidden = yes is_triggered_only = yes immediate = { ${"country_event = a.9 ".repeat(calls)}} }`;

test("a file that would take the graph beyond its limit is left out as a whole, and smaller ones after it are not", async () => {
  const scan = await scanTexts(
    {
      "descriptor.mod": "",
      "events/a.txt": `add_namespace = a ${event("a.1", 2)}`,
      "events/b.txt": event("a.2", 4),
      "events/c.txt": event("a.3", 3),
    },
    // A namespace, two events and their five calls.
    { graphLimit: { parts: 8 } },
  );
  expect(scan.graph.nodes.filter(({ kind }) => kind === "event").map(({ id }) => id)).toEqual(["event:a.1", "event:a.3"]);
  expect(scan).toMatchObject({
    isComplete: false,
    isFocused: true,
    skipped: [{ path: "mod:events/b.txt", reasonCodes: ["GRAPH_LIMIT"], possibleSymbolKinds: ["event"] }],
  });
  expect(diagnosticLines(scan)).toContain("SOURCE_SKIPPED mod:events/b.txt:1");
});

test("a scripted effect whose file was left out stays an open reference", async () => {
  const scan = await scanTexts(
    {
      "common/scripted_effects/a.txt": `big = { ${"country_event = a.9 ".repeat(9)} }`,
      "events/a.txt": "add_namespace = a country_event = { id = a.1 is_triggered_only = yes title = t option = { name = x big = yes } }",
    },
    { graphLimit: { parts: 5 } },
  );
  expect(edgeTo(scan, "unresolved:helper/big")).toMatchObject({
    from: "option:a.1/x",
    reason: "scripted_effect_call",
    confidence: "unresolved",
  });
  expect(scan.graph.nodes.filter(({ kind }) => kind === "terminal" || kind === "helper")).toEqual([]);
  expect(diagnosticLines(scan)).toContain("HELPER_UNRESOLVED mod:events/a.txt:1");
});

test("the calls of options, scripted effects and other places count as well", async () => {
  const files = {
    "common/on_actions/a.txt": "on_actions = { on_startup = { effect = { country_event = a.1 h = yes } } }",
    "common/scripted_effects/a.txt": "h = { country_event = a.1 }",
    "events/a.txt":
      "add_namespace = a country_event = { id = a.1 is_triggered_only = yes title = t option = { name = x country_event = a.1 } }",
  };
  // An entry with two edges, a helper with one, a namespace, an event, and an option that is two and has a call.
  expect((await scanTexts(files, { graphLimit: { parts: 10 } })).isFocused).toBe(false);
  expect((await scanTexts(files, { graphLimit: { parts: 9 } })).skipped.map(({ path }) => path)).toEqual(["mod:events/a.txt"]);
});

// A second of computing on an idle machine; neighbours on the same cores make it many.
test("a script of more words than a child has memory for is read in part", async () => {
  const scan = await scanTexts({ "events/a.txt": "a ".repeat(2_000_001) });
  expect(diagnosticLines(scan)).toContain("TOO_MANY_TOKENS mod:events/a.txt:1");
  expect(scan.skipped).toMatchObject([{ path: "mod:events/a.txt", reasonCodes: ["STRUCTURE_NOT_READ"] }]);
}, 60_000);

describe("what a small file makes large is left out like a large file", () => {
  const waiting = (id: string, rest: string) =>
    `add_namespace = a country_event = { id = ${id} hidden = yes is_triggered_only = yes ${rest} }`;
  const calls = "country_event = a.1 ".repeat(1_000);
  const long = "x".repeat(20_000);

  test.each([
    ["options that fire nothing", "events/a.txt", waiting("a.1", "option = { } ".repeat(3_000))],
    ["events that fire nothing", "events/a.txt", `add_namespace = a ${"country_event = { id = a.1 } ".repeat(3_000)}`],
    ["swallowed definitions", "events/a.txt", waiting("a.1", "country_event={id=b title=b}\n".repeat(10_001))],
    ["a long id with many calls", "events/a.txt", waiting(`a.${long}`, `immediate = { ${calls} }`)],
    ["a long id with many options", "events/a.txt", waiting(`a.${long}`, "option = { name = b } ".repeat(500))],
    ["a long scope around many calls", "events/a.txt", waiting("a.1", `immediate = { ${long} = { ${calls} } }`)],
    [
      "many scopes around many calls",
      "events/a.txt",
      waiting("a.1", `immediate = { ${"FROM = {".repeat(250)} ${calls.repeat(6)} ${"}".repeat(250)} }`),
    ],
    [
      "long modifiers of a weight",
      "events/a.txt",
      waiting("a.1", `immediate = { random_list = { 1 = { modifier = { x = ${long} } ${calls} } } }`),
    ],
    ["a long name of a helper with many calls", "common/scripted_effects/a.txt", `${long} = { ${calls} }`],
    ["a long name of an on_action with many calls", "common/on_actions/a.txt", `on_actions = { ${long} = { effect = { ${calls} } } }`],
  ])("%s", async (_what, path, script) => {
    const { skipped, graph } = await scanTexts({ [path]: script }, { graphLimit: { parts: 10_000, characters: 10_000_000 } });
    expect(skipped).toMatchObject([{ path: `mod:${path}`, reasonCodes: ["GRAPH_LIMIT"] }]);
    expect(graph).toEqual({ nodes: [], edges: [] });
  });
});
