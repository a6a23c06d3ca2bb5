import { expect, test } from "vitest";
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
  const passages = indexNeighbours(graph).callsFrom("option:a.1/go").map(short);
  // Both branches run the helper, each under one condition of its own.
  expect(passages).toEqual([
    ["option:a.1/go", "event:a.2", ["outer", "inner"], "fixed", 2],
    ["option:a.1/go", "event:a.2", ["outer", "inner"], "fixed", 2],
  ]);
});

test("a node that fires nothing, or does not exist, has no calls", async () => {
  const { graph } = await scanTexts(MOD);
  expect(indexNeighbours(graph).callsFrom("event:a.2")).toEqual([]);
  expect(indexNeighbours(graph).callersOf("event:nowhere")).toEqual([]);
});
