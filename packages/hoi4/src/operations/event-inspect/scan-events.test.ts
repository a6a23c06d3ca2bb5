import { expect, test } from "vitest";
import { diagnosticLines, edgeTo, scanTexts } from "../../testing/scan-texts.ts";

const event = (id: string, calls: number) =>
  `country_event = { id = ${id} hidden = yes is_triggered_only = yes immediate = { ${"country_event = a.9 ".repeat(calls)}} }`;

test("a file that would take the graph beyond its calls is left out as a whole, and smaller ones after it are not", async () => {
  const scan = await scanTexts(
    {
      "descriptor.mod": "",
      "events/a.txt": `add_namespace = a ${event("a.1", 2)}`,
      "events/b.txt": event("a.2", 4),
      "events/c.txt": event("a.3", 3),
    },
    { callLimit: 5 },
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
    { callLimit: 5 },
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
  expect((await scanTexts(files, { callLimit: 4 })).isFocused).toBe(false);
  expect((await scanTexts(files, { callLimit: 3 })).skipped.map(({ path }) => path)).toEqual(["mod:events/a.txt"]);
});
