import { describe, expect, test } from "vitest";
import { describeChance } from "./describe-call.ts";
import { EXPRESSION_LIMIT } from "./render-expression.ts";
import { callLines, diagnosticLines, edgeTo, scanTexts } from "../testing/scan-texts.ts";

/** A mod whose only effects are the given ones, on game start. */
function startingWith(effects: string, files: Record<string, string> = {}) {
  return scanTexts({ "common/on_actions/start.txt": `on_actions = { on_startup = { effect = { ${effects} } } }`, ...files });
}

const START = "entry:on_action/on_startup";

function conditionsOf(edge: ReturnType<typeof edgeTo>): string[] {
  return edge.conditions.map(({ kind, expression }) => `${kind}: ${expression}`);
}

describe("forms of a call", () => {
  test("an id alone fires at once, in any letter case of the word and with or without quotes", async () => {
    const scan = await startingWith(`country_event = a.1 News_Event = "a.2" STATE_EVENT = { ID = a.3 }`);
    expect(callLines(scan)).toEqual([
      `${START} -> unresolved:event/a.1 at once`,
      `${START} -> unresolved:event/a.2 at once`,
      `${START} -> unresolved:event/a.3 at once`,
    ]);
  });

  test("a block without an id fires nothing and is reported where it stands", async () => {
    const scan = await startingWith("country_event = { days = 3 }");
    expect(callLines(scan)).toEqual([]);
    expect(diagnosticLines(scan)).toContain("EVENT_CALL_WITHOUT_ID mod:common/on_actions/start.txt:1");
  });

  test("a definition that a missing brace moved into effects is no call", async () => {
    const scan = await startingWith("country_event = { id = a.1 days = 1 } country_event = { id = a.2 title = t option = { name = x } }");
    expect(callLines(scan)).toEqual([`${START} -> unresolved:event/a.1 after 1 day`]);
    expect(diagnosticLines(scan)).toContain("EVENT_DEFINITION_SWALLOWED mod:common/on_actions/start.txt:1");
  });

  test("a border war fires the events of its outcomes on both sides, at a time nobody knows", async () => {
    const scan = await startingWith(
      "start_border_war = { attacker = { on_win = a.1 on_lose = a.2 } defender = { on_win = a.3 } on_cancel = a.4 }",
    );
    expect(scan.graph.edges.map(({ to, form, timing }) => [to, form, timing.mode])).toEqual(
      ["a.1", "a.2", "a.3", "a.4"].map((id) => [`unresolved:event/${id}`, "border_war", "unknown"]),
    );
  });

  test("a border war may name more outcomes than a function of ours can take arguments", async () => {
    const script = `on_actions = { on_startup = { effect = { start_border_war = { ${"on_win = a.1 ".repeat(150_000)} } } } }`;
    const scan = await scanTexts({ "common/on_actions/start.txt": script }, { graphLimit: { parts: 10 } });
    expect(scan.skipped).toMatchObject([{ reasonCodes: ["GRAPH_LIMIT"] }]);
  });

  test("what only a tooltip shows is not fired, what is hidden from it is", async () => {
    const scan = await startingWith(`
      effect_tooltip = { country_event = a.1 }
      custom_effect_tooltip = { country_event = a.2 }
      hidden_effect = { country_event = a.3 }`);
    expect(callLines(scan)).toEqual([`${START} -> unresolved:event/a.3 at once`]);
    expect(edgeTo(scan, "unresolved:event/a.3").traits).toEqual(["hidden"]);
  });

  test("the calls of a meta effect count, whether its text is a block or a string, and composed ids stay open", async () => {
    const scan = await startingWith(String.raw`
      meta_effect = { text = { country_event = { id = a.[N] days = 2 } run_[X] = yes } N = "[?n]" X = "[?x]" }
      meta_effect = { text = "country_event = \"a.1\"" }`);
    expect(callLines(scan)).toEqual([
      `${START} -> unresolved:dynamic/a.[N] after 2 days`,
      `${START} -> unresolved:dynamic/run_[X] at once`,
      `${START} -> unresolved:event/a.1 at once`,
    ]);
    expect(edgeTo(scan, "unresolved:dynamic/a.[N]")).toMatchObject({
      reason: "unresolved_dynamic_reference",
      confidence: "unresolved",
      traits: ["meta", "delayed"],
    });
  });

  test.each(["var:next", "event_target:x", "[?v]", "x?25", "@NEXT"])("the id %s is known to the running game only", async (id) => {
    const scan = await startingWith(`country_event = ${id}`);
    expect(scan.graph.nodes).toContainEqual({ kind: "unresolved", id: `unresolved:dynamic/${id}`, reference: id, reason: "dynamic" });
  });
});

test("a delay may be a constant of the file, wherever the file defines it", async () => {
  const scan = await startingWith("country_event = { id = a.1 days = @wait } @wait = 4 every_country = { @wait = 6 }");
  expect(callLines(scan)).toEqual([`${START} -> unresolved:event/a.1 after 6 days`]);
});

test("a string of script inside a string of script is not followed", async () => {
  const inner = String.raw`meta_effect = { text = \"country_event = a.2\" }`;
  const scan = await startingWith(`meta_effect = { text = "country_event = a.1 ${inner}" }`);
  expect(callLines(scan)).toEqual([`${START} -> unresolved:event/a.1 at once`]);
});

describe("scripted effects", () => {
  const helper = { "common/scripted_effects/h.txt": "Open_Gate = { country_event = a.1 }" };

  test("a name that the mod defines is a helper, in any letter case, less certain when the case differs", async () => {
    const exact = await startingWith("Open_Gate = yes", helper);
    expect(edgeTo(exact, "helper:Open_Gate")).toMatchObject({
      reason: "scripted_effect_call",
      form: "scripted_effect",
      confidence: "confirmed",
    });
    const other = await startingWith("open_gate = yes", helper);
    expect(edgeTo(other, "helper:Open_Gate").confidence).toBe("medium");
  });

  test("the game's own effects and helpers that are not run make no edge", async () => {
    const scan = await startingWith("add_named_threat = yes Open_Gate = no close_gate = yes limit = { Open_Gate = yes }", helper);
    expect(callLines(scan)).toEqual(["helper:Open_Gate -> unresolved:event/a.1 at once"]);
  });

  test("the event behind a helper is the helper's edge and knows its helper", async () => {
    const scan = await startingWith("Open_Gate = yes", helper);
    expect(edgeTo(scan, "unresolved:event/a.1")).toMatchObject({
      from: "helper:Open_Gate",
      reason: "helper_call",
      helperStack: ["Open_Gate"],
    });
  });
});

describe("conditions", () => {
  test("each branch of a chain carries that the branches before it failed", async () => {
    const scan = await startingWith(`
      if = { limit = { tag = AAA } country_event = a.1 }
      else_if = { limit = { tag = BBB has_war = yes } country_event = a.2 }
      else = { country_event = a.3 }`);
    expect(conditionsOf(edgeTo(scan, "unresolved:event/a.1"))).toEqual(["limit: tag = AAA"]);
    expect(conditionsOf(edgeTo(scan, "unresolved:event/a.2"))).toEqual([
      "branch_guard: NOT = { tag = AAA }",
      "limit: tag = BBB has_war = yes",
    ]);
    expect(conditionsOf(edgeTo(scan, "unresolved:event/a.3"))).toEqual([
      "branch_guard: NOT = { tag = AAA }",
      "branch_guard: NOT = { AND = { tag = BBB has_war = yes } }",
    ]);
  });

  test("an else belongs to the if before it, not to an earlier one", async () => {
    const scan = await startingWith(`
      if = { limit = { tag = AAA } country_event = a.1 }
      if = { limit = { tag = BBB } country_event = a.2 }
      add_stability = 0.1
      else = { country_event = a.3 }`);
    expect(conditionsOf(edgeTo(scan, "unresolved:event/a.3"))).toEqual(["branch_guard: NOT = { tag = BBB }"]);
  });

  test("an else written inside its if negates that if instead of adding to it", async () => {
    const scan = await startingWith("if = { limit = { tag = AAA } country_event = a.1 else = { country_event = a.2 } }");
    expect(conditionsOf(edgeTo(scan, "unresolved:event/a.2"))).toEqual(["branch_guard: NOT = { tag = AAA }"]);
  });

  test("an else without any if is reported and its calls are kept", async () => {
    const scan = await startingWith("else = { country_event = a.1 }");
    expect(callLines(scan)).toEqual([`${START} -> unresolved:event/a.1 at once`]);
    expect(diagnosticLines(scan)).toContain("EVENT_ELSE_WITHOUT_IF mod:common/on_actions/start.txt:1");
  });

  test("limits of scopes add up from the outside in, and scopes are kept as the way to the target", async () => {
    const scan = await startingWith(
      "every_country = { limit = { is_major = yes } FROM = { if = { limit = { has_war = no } country_event = a.1 } } }",
    );
    const edge = edgeTo(scan, "unresolved:event/a.1");
    expect(conditionsOf(edge)).toEqual(["limit: is_major = yes", "limit: has_war = no"]);
    expect(edge.scope).toEqual(["every_country", "FROM"]);
  });

  test("an expression stays within its limit also when many blocks make it", async () => {
    const limits = `limit = { has_idea = ${"x".repeat(10_000)} } `.repeat(5);
    const [condition] = edgeTo(await startingWith(`if = { ${limits} country_event = a.1 }`), "unresolved:event/a.1").conditions;
    expect(condition?.expression).toHaveLength(EXPRESSION_LIMIT);
  });

  test("an expression is one line without comments, the same however the script is laid out", async () => {
    const scan = await startingWith(`if = { limit = {
        # who
        tag=AAA   NOT={ has_idea="x y" }   threat>0.5
      } country_event = a.1 }`);
    expect(conditionsOf(edgeTo(scan, "unresolved:event/a.1"))).toEqual([`limit: tag = AAA NOT = { has_idea = "x y" } threat > 0.5`]);
  });
});

describe("chance", () => {
  test("a random block has its chance as a condition", async () => {
    const edge = edgeTo(await startingWith("random = { chance = 20 country_event = a.1 }"), "unresolved:event/a.1");
    expect(conditionsOf(edge)).toEqual(["random_chance: 20"]);
    expect(edge.traits).toEqual(["random"]);
  });

  test("a weighted list gives each choice its weight, the total, modifiers and its trigger", async () => {
    const scan = await startingWith(`random_list = {
      seed = 5
      70 = { country_event = a.1 }
      30 = { modifier = { factor = 2 tag = AAA } trigger = { has_war = yes } country_event = a.2 }
      0.5 = { }
    }`);
    expect(edgeTo(scan, "unresolved:event/a.1").weight).toEqual({
      value: 70,
      expression: "70",
      total: 100.5,
      modifiers: [],
      validity: "valid",
    });
    const second = edgeTo(scan, "unresolved:event/a.2");
    expect(second.weight).toMatchObject({ value: 30, modifiers: ["factor = 2 tag = AAA"] });
    expect(second.traits).toEqual(["weighted"]);
    expect(conditionsOf(second)).toEqual(["limit: has_war = yes"]);
  });

  test("a list inside a list keeps the weights of both, and a random block between them its chance", async () => {
    const edge = edgeTo(
      await startingWith(`random_list = {
        40 = { modifier = { factor = 2 tag = AAA } random = { chance = 50 random_list = { luck = { country_event = a.1 } 3 = { } } } }
        60 = { }
      }`),
      "unresolved:event/a.1",
    );
    expect(edge.weight).toMatchObject({ expression: "luck", total: null });
    expect(edge.outerWeights).toEqual([
      { value: 40, expression: "40", total: 100, modifiers: ["factor = 2 tag = AAA"], validity: "valid" },
    ]);
    expect(conditionsOf(edge)).toEqual(["random_chance: 50"]);
    expect(describeChance(edge)).toBe("40 of 100 and weight luck and 50%");
  });

  test("a weight may be a variable, which leaves the total open, and must not be negative", async () => {
    const scan = await startingWith("random_list = { luck = { country_event = a.1 } -5 = { country_event = a.2 } }");
    expect(edgeTo(scan, "unresolved:event/a.1").weight).toMatchObject({
      value: null,
      expression: "luck",
      total: null,
      validity: "unknown",
    });
    expect(edgeTo(scan, "unresolved:event/a.2").weight?.validity).toBe("invalid");
    expect(diagnosticLines(scan)).toContain("EVENT_RANDOM_WEIGHT_INVALID mod:common/on_actions/start.txt:1");
  });
});
