import { describe, expect, test } from "vitest";
import { scanTexts } from "../testing/scan-texts.ts";
import { indexNeighbours, type Passage } from "./event-neighbours.ts";

const MOD = {
  "common/scripted_effects/h.txt":
    "outer = { if = { limit = { x = y } inner = yes } }\ninner = { country_event = { id = a.2 days = 3 } outer = yes }",
  "events/a.txt": `add_namespace = a
    country_event = { id = a.1 is_triggered_only = yes title = t
      option = { name = go trigger = { z = w } if = { limit = { tag = AAA } outer = yes } else = { outer = yes } } option = { name = now country_event = a.2 } }
    country_event = { id = a.2 is_triggered_only = yes hidden = yes }`,
};

function short({ from, to, via, edge, conditions }: Passage) {
  return [from.id, to.id, via, edge.timing.mode, conditions];
}

test("callers are found through scripted effects, in the order of their calls, and a circle of them ends", async () => {
  const { graph } = await scanTexts(MOD);
  const passages = indexNeighbours(graph).callersOf("event:a.2").map(short);
  expect(passages).toEqual(
    expect.arrayContaining([
      ["option:a.1/go", "event:a.2", ["outer", "inner"], "fixed", 2],
      ["option:a.1/now", "event:a.2", [], "immediate", 0],
    ]),
  );
  expect(passages).toHaveLength(2);
});

test("calls are followed through scripted effects to the events they fire", async () => {
  const { graph } = await scanTexts(MOD);
  const passages = indexNeighbours(graph).callsFrom(["option:a.1/go"]).map(short);
  // Both branches run the helper, each under one condition of its own.
  expect(passages).toEqual([
    ["option:a.1/go", "event:a.2", ["outer", "inner"], "fixed", 2],
    ["option:a.1/go", "event:a.2", ["outer", "inner"], "fixed", 2],
  ]);
});

test("the calls of several nodes come in the order of the nodes", async () => {
  const { graph } = await scanTexts(MOD);
  const passages = indexNeighbours(graph).callsFrom(["option:a.1/now", "option:a.1/go"]);
  expect(passages.map(({ from }) => from.id)).toEqual(["option:a.1/now", "option:a.1/go", "option:a.1/go"]);
});

describe("an answer that would be larger than any reader", () => {
  const event = "add_namespace = a country_event = { id = a.1 is_triggered_only = yes hidden = yes }";

  test("ends at a thousand passages, however many calls and callers meet in one scripted effect", async () => {
    const { graph } = await scanTexts({
      "common/scripted_effects/h.txt": `h = { ${"country_event = a.1 ".repeat(2_000)} }`,
      "common/on_actions/o.txt": `on_actions = { ${Array.from({ length: 200 }, (_, index) => `on_${index} = { effect = { h = yes } }`).join(" ")} }`,
      "events/a.txt": event,
    });
    const neighbours = indexNeighbours(graph);
    expect(neighbours.callersOf("event:a.1")).toHaveLength(1_000);
    expect(neighbours.callsFrom(["entry:on_action/on_0"])).toHaveLength(1_000);
  });

  test("names the scripted effects called first when thousands lie on the way", async () => {
    const length = 5_000;
    const helpers = Array.from({ length }, (_, index) => `h${index} = { h${index + 1} = yes }`);
    const { graph } = await scanTexts({
      "common/scripted_effects/h.txt": `${helpers.join("\n")}\nh${length} = { country_event = a.1 }`,
      "common/on_actions/o.txt": "on_actions = { on_startup = { effect = { h0 = yes } } }",
      "events/a.txt": event,
    });
    const neighbours = indexNeighbours(graph);
    const via = ["h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7"];
    expect(neighbours.callersOf("event:a.1")).toMatchObject([{ from: { id: "entry:on_action/on_startup" }, via }]);
    expect(neighbours.callsFrom(["entry:on_action/on_startup"])).toMatchObject([{ to: { id: "event:a.1" }, via }]);
  });

  test("stops following scripted effects that nobody calls", async () => {
    const callers = Array.from({ length: 3_000 }, (_, index) => `c${index} = { h = yes }`).join("\n");
    const { graph } = await scanTexts({
      "common/scripted_effects/h.txt": `${callers}\nh = { ${"country_event = a.1 ".repeat(3_000)} }`,
      "events/a.txt": event,
    });
    const before = process.cpuUsage();
    expect(indexNeighbours(graph).callersOf("event:a.1")).toEqual([]);
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
  });
});

test("the chances of all steps count, from the caller to the event and from the event back", async () => {
  const { graph } = await scanTexts({
    "common/scripted_effects/h.txt":
      "h = { random_list = { 1 = { i = yes } 3 = { } } }\ni = { random = { chance = 10 country_event = a.1 } }",
    "common/on_actions/o.txt": "on_actions = { on_startup = { effect = { random = { chance = 50 h = yes } } } }",
    "events/a.txt": "add_namespace = a country_event = { id = a.1 is_triggered_only = yes hidden = yes }",
  });
  const neighbours = indexNeighbours(graph);
  const chances = ["50%", "1 of 4", "10%"];
  expect(neighbours.callersOf("event:a.1")).toMatchObject([{ chances }]);
  expect(neighbours.callsFrom(["entry:on_action/on_startup"])).toMatchObject([{ chances }]);
});

test("a node that fires nothing, or does not exist, has no calls", async () => {
  const { graph } = await scanTexts(MOD);
  expect(indexNeighbours(graph).callsFrom(["event:a.2"])).toEqual([]);
  expect(indexNeighbours(graph).callersOf("event:nowhere")).toEqual([]);
});
