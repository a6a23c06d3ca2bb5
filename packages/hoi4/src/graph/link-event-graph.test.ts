import { describe, expect, test } from "vitest";
import { callLines, scanTexts } from "../testing/scan-texts.ts";
import { linkEventGraph } from "./link-event-graph.ts";
import { readFileFacts } from "./read-file-facts.ts";

const EVENT = (id: string, rest = "") => `country_event = { id = ${id} is_triggered_only = yes ${rest} }\n`;

describe("definitions of the same id", () => {
  test("every event keeps a node, and calls go to the one that is read first", async () => {
    const scan = await scanTexts({
      "events/a.txt": `add_namespace = a ${EVENT("a.1", "title = first")}`,
      "events/b.txt": `${EVENT("a.1", "title = second")} ${EVENT("a.1", "title = third")} ${EVENT("a.2", "immediate = { country_event = a.1 }")}`,
    });
    const events = scan.graph.nodes.filter((node) => node.kind === "event" && node.eventId === "a.1");
    expect(events.map((node) => node.kind === "event" && [node.titleKeys[0], node.isActive])).toEqual(
      expect.arrayContaining([
        ["first", true],
        ["second", false],
        ["third", false],
      ]),
    );
    expect(new Set(events.map(({ id }) => id)).size).toBe(3);
    expect(callLines(scan)).toEqual(["event:a.2 -> event:a.1 at once"]);
    expect(scan.graph.nodes.find(({ id }) => id === "event:a.1")).toMatchObject({ titleKeys: ["first"] });
  });

  test("of scripted effects the one that is read last counts", async () => {
    const scan = await scanTexts({
      "common/scripted_effects/a.txt": "h = { country_event = a.1 }",
      "common/scripted_effects/b.txt": "h = { country_event = a.2 }",
    });
    const active = scan.graph.nodes.filter((node) => node.kind === "helper" && node.isActive);
    expect(active).toMatchObject([{ id: "helper:h", location: { path: "mod:common/scripted_effects/b.txt" } }]);
    expect(callLines(scan)).toContain("helper:h -> unresolved:event/a.2 at once");
  });

  test("definitions that are equal to the last letter still get a node each", async () => {
    const scan = await scanTexts({ "events/a.txt": `add_namespace = a ${EVENT("a.1")}${EVENT("a.1")}${EVENT("a.1")}` });
    const ids = scan.graph.nodes.flatMap((node) => (node.kind === "event" ? [node.id] : []));
    expect(ids[0]).toBe("event:a.1");
    expect(ids.slice(1)).toEqual([expect.stringMatching(/^event:a\.1#[0-9a-f]{12}$/u), `${ids[1] ?? ""}~2`]);
  });
});

test("names that hold the signs between the parts of a node's name still make a node each", async () => {
  const twins = await scanTexts({ "events/a.txt": `add_namespace = a ${EVENT("a.1", "title = t")} ${EVENT("a.1")}` });
  const loser = twins.graph.nodes.find(({ id }) => id.startsWith("event:a.1#"))?.id.slice("event:".length) ?? "";
  const option = (name: string) => `title = t option = { name = "${name}" country_event = a.9 }`;
  const { graph } = await scanTexts({
    "events/a.txt": `add_namespace = a ${EVENT("a.1", "title = t")} ${EVENT("a.1")} ${EVENT(`"${loser}"`, "title = other")}
      ${EVENT("a.2", option("x/y"))} ${EVENT("a.2/x", option("y"))}
      ${EVENT("a.3", `${option("x")} ${option("x")} ${option("x~2")}`)}`,
    "common/ideas/a.txt": `ideas = { country = { i = { on_add = { country_event = a.1 } } "i/on_add" = { country_event = a.2 } "i%2Fon_add" = { country_event = a.2 } } }`,
  });
  const kinds = Map.groupBy(graph.nodes, ({ kind }) => kind);
  expect([kinds.get("event")?.length, kinds.get("option")?.length, kinds.get("entry")?.length]).toEqual([6, 5, 3]);
});

describe("terminals", () => {
  test("options and events without a call end a chain, and so does a helper that fires nothing", async () => {
    const scan = await scanTexts({
      "common/scripted_effects/h.txt": "quiet = { add_stability = 0.1 } outer = { inner = yes } inner = { country_event = a.9 }",
      "events/a.txt": `add_namespace = a
        ${EVENT("a.1", "title = t option = { name = x } option = { name = y quiet = yes } option = { name = z outer = yes }")}
        ${EVENT("a.2", "hidden = yes immediate = { quiet = yes }")}
        ${EVENT("a.3", "hidden = yes immediate = { outer = yes }")}`,
    });
    expect(scan.graph.nodes.filter(({ kind }) => kind === "terminal").map(({ id }) => id)).toEqual([
      "terminal:event:a.2",
      "terminal:option:a.1/x",
      "terminal:option:a.1/y",
    ]);
  });
});

function factsOf(effects: string) {
  const script = `on_actions = { on_startup = { effect = { ${effects} } } }`;
  const path = "common/on_actions/a.txt";
  const role = { kind: "caller", shape: { kind: "on_action", noun: "on_action", layout: "on_actions" } } as const;
  const file = { path, displayPath: `mod:${path}`, layer: "mod", order: 0, size: script.length, role } as const;
  return readFileFacts({ file, bytes: Buffer.from(script) }, new Map()).facts;
}

test("conditions beyond the budget of a graph are counted instead of carried", () => {
  const facts = factsOf("if = { limit = { tag = AAA } country_event = a.1 country_event = a.2 }");
  const { edges } = linkEventGraph([facts], { judgeMissing: () => "missing", conditionBudget: 200 });
  expect(edges.map(({ conditions, conditionsOmitted }) => [conditions.length, conditionsOmitted])).toEqual([
    [1, undefined],
    [0, 1],
  ]);
});

test("the branches of a chain share what failed before them, so that a long chain takes room with its length and not with its square", () => {
  const branches = [1, 2, 3].map((x) => `else_if = { limit = { x = ${x} } country_event = a.1 }`).join(" ");
  const facts = factsOf(`if = { limit = { x = 0 } country_event = a.1 } ${branches}`);
  const lists = facts.entries.flatMap(({ calls }) => calls.map(({ conditions }) => conditions));
  expect(lists.map((list) => list?.count)).toEqual([1, 2, 3, 4]);
  // The innermost is the limit of the branch itself; what is around it begins with the branch before.
  expect(lists[3]?.outer?.outer).toBe(lists[2]?.outer);
  expect(lists[2]?.outer?.outer).toBe(lists[1]?.outer);
});
