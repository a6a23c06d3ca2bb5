import { describe, expect, test } from "vitest";
import { callLines, diagnosticLines, edgeTo, scanTexts } from "../testing/scan-texts.ts";

async function linesOf(path: string, script: string): Promise<string[]> {
  return callLines(await scanTexts({ [path]: script }));
}

describe("on_actions", () => {
  test("effects, lists and weighted lists of all files add up in one entry", async () => {
    const scan = await scanTexts({
      "common/on_actions/a.txt": "on_actions = { on_monthly_LHB = { effect = { country_event = a.1 } events = { a.2 a.3 } } }",
      "common/on_actions/b.txt": "on_actions = { on_monthly_LHB = { random_events = { 300 = 0 60 = a.4 } } }",
    });
    expect(scan.graph.nodes.filter(({ kind }) => kind === "entry").map(({ id }) => id)).toEqual(["entry:on_action/on_monthly_LHB"]);
    expect(callLines(scan)).toEqual(
      ["a.1", "a.2", "a.3", "a.4"].map((id) => `entry:on_action/on_monthly_LHB -> unresolved:event/${id} at once`),
    );
    expect(edgeTo(scan, "unresolved:event/a.4")).toMatchObject({
      form: "random_events",
      weight: { value: 60, total: 360 },
      reason: "on_action_entry",
    });
  });

  test("a call that stands directly in an on_action is never run, and reported", async () => {
    const scan = await scanTexts({ "common/on_actions/a.txt": "on_actions = { on_startup = {\n country_event = a.1 } }" });
    expect(callLines(scan)).toEqual([]);
    expect(diagnosticLines(scan)).toContain("EVENT_CALL_OUTSIDE_EFFECT mod:common/on_actions/a.txt:2");
  });

  test("one that stands outside of the list of on_actions is not seen by the game, and reported", async () => {
    const scan = await scanTexts({
      "common/on_actions/a.txt": "@x = 1\non_startup = { effect = { country_event = a.1 } }\non_actions = { }",
    });
    expect(callLines(scan)).toEqual([]);
    expect(diagnosticLines(scan)).toEqual(["ON_ACTION_OUTSIDE_LIST mod:common/on_actions/a.txt:2", "DESCRIPTOR_MISSING"]);
  });

  test("a weighted list elsewhere fires nothing and is reported", async () => {
    const scan = await scanTexts({ "common/decisions/a.txt": "cat = { d = { complete_effect = {\n random_events = { 1 = a.1 } } } }" });
    expect(callLines(scan)).toEqual([]);
    expect(diagnosticLines(scan)).toContain("EVENT_RANDOM_EVENTS_MISPLACED mod:common/decisions/a.txt:2");
  });
});

describe("definitions", () => {
  test("each block of a decision is an entry of its own, and a decision that runs out is a mission", async () => {
    const script = `cat = {
      d = { available = { country_event = a.0 } complete_effect = { country_event = a.1 } remove_effect = { country_event = a.2 } }
      m = { days_mission_timeout = 30 timeout_effect = { country_event = a.3 } }
      quiet = { complete_effect = { add_stability = 0.1 } }
    }`;
    expect(await linesOf("common/decisions/a.txt", script)).toEqual([
      "entry:decision/d/complete_effect -> unresolved:event/a.1 at once",
      "entry:decision/d/remove_effect -> unresolved:event/a.2 at once",
      "entry:mission/m/timeout_effect -> unresolved:event/a.3 at once",
    ]);
  });

  test("focuses are found in trees, shared and joint, by their id", async () => {
    const script = `focus_tree = { id = t focus = { id = F1 completion_reward = { country_event = a.1 } } shared_focus = X }
      shared_focus = { id = F2 select_effect = { country_event = a.2 } }
      joint_focus = { id = F3 completion_reward_joint_originator = { country_event = a.3 } }`;
    expect(await linesOf("common/national_focus/a.txt", script)).toEqual([
      "entry:focus/F1/completion_reward -> unresolved:event/a.1 at once",
      "entry:focus/F2/select_effect -> unresolved:event/a.2 at once",
      "entry:focus/F3/completion_reward_joint_originator -> unresolved:event/a.3 at once",
    ]);
  });

  test("what a definition only shows in a tooltip starts nothing", async () => {
    const focus =
      "focus_tree = { focus = { id = F complete_tooltip = { country_event = a.1 } completion_reward = { country_event = a.2 } } }";
    expect(await linesOf("common/national_focus/a.txt", focus)).toEqual([
      "entry:focus/F/completion_reward -> unresolved:event/a.2 at once",
    ]);
    const operation = "op = { outcome_potential = { country_event = a.1 } outcome_execute = { country_event = a.2 } }";
    expect(await linesOf("common/operations/a.txt", operation)).toEqual([
      "entry:operation/op/outcome_execute -> unresolved:event/a.2 at once",
    ]);
  });

  test.each([
    ["common/ideas/a.txt", "ideas = { country = { i = { on_add = { country_event = a.1 } } } }", "idea/i/on_add"],
    ["common/characters/a.txt", "characters = { c = { advisor = { on_add = { country_event = a.1 } } } }", "character/c/advisor.on_add"],
    [
      "common/scripted_guis/a.txt",
      "scripted_gui = { g = { effects = { b_click = { country_event = a.1 } } } }",
      "scripted_GUI/g/effects.b_click",
    ],
    [
      "common/technologies/a.txt",
      "technologies = { t = { on_research_complete = { country_event = a.1 } } }",
      "technology/t/on_research_complete",
    ],
    [
      "common/scripted_diplomatic_actions/a.txt",
      "scripted_diplomatic_actions = { s = { complete_effect = { country_event = a.1 } } }",
      "diplomatic_action/s/complete_effect",
    ],
    ["common/bookmarks/a.txt", 'bookmarks = { bookmark = { name = "WINTER" effect = { country_event = a.1 } } }', "bookmark/WINTER/effect"],
    ["common/factions/goals/a.txt", "g = { complete_effect = { country_event = a.1 } }", "faction_goal/g/complete_effect"],
    ["common/factions/rules/a.txt", "r = { effect = { country_event = a.1 } }", "faction_rule/r/effect"],
    ["common/unit_medals/a.txt", "unit_medals = { m = { one_time_effect = { country_event = a.1 } } }", "unit_medal/m/one_time_effect"],
    [
      "common/focus_inlay_windows/a.txt",
      "w = { scripted_buttons = { b = { click_effect = { country_event = a.1 } } } }",
      "focus_inlay_window/w/scripted_buttons.b.click_effect",
    ],
    [
      "common/bop/a.txt",
      "b = { side = { range = { on_activate = { country_event = a.1 } } } }",
      "balance_of_power/b/side.range.on_activate",
    ],
    [
      "common/characters/b.txt",
      "characters = { c = { instance = { advisor = { on_add = { country_event = a.1 } } } } }",
      "character/c/instance.advisor.on_add",
    ],
    [
      "common/military_industrial_organization/organizations/a.txt",
      "m = { trait = { on_complete = { country_event = a.1 } } }",
      "military_industrial_organization/m/trait.on_complete",
    ],
    [
      "common/raids/a.txt",
      "types = { r = { success_levels = { failure = { actor_effects = { country_event = a.1 } } } } }",
      "raid/r/success_levels.failure.actor_effects",
    ],
    [
      "common/special_projects/projects/a.txt",
      "p = { unique_prototype_rewards = { constructor = { option = { iteration_output = { country_effects = { country_event = a.1 } } } } } }",
      "special_project/p/unique_prototype_rewards.constructor.option.iteration_output.country_effects",
    ],
    [
      "common/special_projects/prototype_rewards/a.txt",
      "r = { option = { iteration_output = { country_effects = { country_event = a.1 } } } }",
      "special_project/r/option.iteration_output.country_effects",
    ],
    ["common/scripted_guis/b.txt", "scripted_gui = { g = { constructor = { country_event = a.1 } } }", "scripted_GUI/g/constructor"],
    ["common/operations/a.txt", "op = { outcome_execute = { country_event = a.1 } }", "operation/op/outcome_execute"],
  ])("%s", async (path, script, name) => {
    const scan = await scanTexts({ [path]: script });
    expect(callLines(scan)).toEqual([`entry:${name} -> unresolved:event/a.1 at once`]);
    expect(edgeTo(scan, "unresolved:event/a.1").scope).toEqual([]);
  });

  test("history runs when the game starts, and at its dates", async () => {
    expect(
      await linesOf(
        "history/countries/LHB - Port.txt",
        "capital = 1 country_event = a.1 1939.1.1 = { country_event = { id = a.2 days = 2 } }",
      ),
    ).toEqual([
      "entry:country_setup/LHB - Port -> unresolved:event/a.1 at once",
      "entry:country_setup/LHB - Port/1939.1.1 -> unresolved:event/a.2 on 1939.1.1",
    ]);
    expect(await linesOf("history/states/1-Port.txt", "state = { id = 1 history = { owner = LHB state_event = a.3 } }")).toEqual([
      "entry:state_setup/1 -> unresolved:event/a.3 at once",
    ]);
  });
});

describe("events", () => {
  test("immediate, after and options each fire, an option's trigger guards the way to it", async () => {
    const scan = await scanTexts({
      "events/a.txt": `add_namespace = a
        country_event = { id = a.1 is_triggered_only = yes immediate = { country_event = a.2 } after = { country_event = a.3 }
          option = { name = a.1.a trigger = { has_war = yes } ai_chance = { base = 3 } country_event = a.4 }
          option { name = { text = a.1.b } } }
        country_event = { id = a.2 is_triggered_only = yes } country_event = { id = a.3 is_triggered_only = yes } country_event = { id = a.4 is_triggered_only = yes }`,
    });
    expect(scan.graph.edges.filter(({ from }) => from === "event:a.1").map(({ to, reason }) => [to, reason])).toEqual([
      ["event:a.2", "immediate_call"],
      ["event:a.3", "after_call"],
      ["option:a.1/a.1.a", "option_branch"],
      ["option:a.1/a.1.b", "option_branch"],
    ]);
    expect(edgeTo(scan, "option:a.1/a.1.a").conditions).toMatchObject([{ kind: "option_trigger", expression: "has_war = yes" }]);
    expect(edgeTo(scan, "event:a.4")).toMatchObject({ from: "option:a.1/a.1.a", reason: "option_call" });
    expect(scan.graph.nodes).toContainEqual(
      expect.objectContaining({ id: "option:a.1/a.1.a", index: 0, aiChance: "base = 3", isConditional: true }),
    );
  });

  test("an event that does not wait to be fired has an entry of its own, with its trigger and mean time", async () => {
    const scan = await scanTexts({
      "events/a.txt":
        "add_namespace = a country_event = { id = a.1 hidden = yes trigger = { tag = AAA } mean_time_to_happen = { months = 2 } }",
    });
    expect(edgeTo(scan, "event:a.1")).toMatchObject({
      from: "entry:implicit/a.1",
      reason: "implicit_entry",
      conditions: [{ kind: "event_trigger", expression: "tag = AAA" }],
      timing: { mode: "mean_time_to_happen", months: 2 },
    });
  });

  test("titles and descriptions keep every key that a trigger may pick", async () => {
    const scan = await scanTexts({
      "events/a.txt":
        "add_namespace = a news_event = { id = a.1 title = { text = t1 trigger = { x = y } } title = t2 desc = d hidden = yes }",
    });
    expect(scan.graph.nodes).toContainEqual(
      expect.objectContaining({
        id: "event:a.1",
        type: "news_event",
        titleKeys: ["t1", "t2"],
        descriptionKeys: ["d"],
        rootScope: "country",
      }),
    );
  });

  test("an event without an id is reported and does not stop the others", async () => {
    const scan = await scanTexts({
      "events/a.txt": "add_namespace = a\ncountry_event = { title = t }\ncountry_event = { id = a.1 hidden = yes trigger = { x = y } }",
    });
    expect(diagnosticLines(scan)).toEqual(expect.arrayContaining(["EVENT_ID_MISSING mod:events/a.txt:2"]));
    expect(scan.graph.nodes.some(({ id }) => id === "event:a.1")).toBe(true);
  });
});
