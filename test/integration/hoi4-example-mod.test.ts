import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { folderWorkspace, inspectEvents, type ArtifactGraph, type Inspected } from "@holdfast/hoi4/testing";

// Every number and line below was counted in the files of the example mod.
const root = path.join(import.meta.dirname, "../../examples/lantern-harbour");

let inspected: Inspected;
let graph: ArtifactGraph;

beforeAll(async () => {
  inspected = await inspectEvents(folderWorkspace(root));
  graph = inspected.graph();
});

function rows() {
  return inspected.output.data?.events ?? [];
}

function row(id: string, occurrence = 0) {
  const found = rows().filter((event) => event.id === id)[occurrence];
  if (found === undefined) throw new Error(`there is no row for ${id}`);
  return found;
}

function edgesTo(node: string) {
  return graph.edges.filter(({ to }) => to === node);
}

test("the counts are those of the files", () => {
  expect(inspected.output.status).toBe("ok");
  expect(inspected.output.data).toMatchObject({
    mod: { name: "Lantern Harbour", version: "1.0", supportedVersion: "1.16.*", replacesEvents: false },
    counts: {
      // 18 lantern, 7 storm, 4 news, 4 guild, 2 letters, 2 fog: the third one is swallowed.
      events: 37,
      // 28 lantern, 9 and 2 storm, 5 news, 6 guild, 2 letters, 2 fog.
      options: 54,
      // 5 on_actions, 2 decisions with 3 effects, 3 focuses with 4, an idea, a date in history, and lantern.20 by itself.
      entries: 15,
      helpers: 4,
      // lantern.404, news.57, fog.3 and lantern.[STAGE].
      unresolvedNodes: 4,
      // 18 options that fire nothing, and lantern.91.
      terminals: 19,
      // 54 to options, 19 to terminals, 1 by itself, 47 in events, 6 in scripted effects, 15 in the other places.
      edges: 142,
      derivedEdges: 0,
      blockingDiagnostics: 5,
      skippedSources: 0,
    },
    complete: true,
    eventsOmitted: 0,
  });
  expect(inspected.output.filesScanned).toHaveLength(18);
});

test("what is wrong on purpose is found where it stands", () => {
  const found = inspected.output.diagnostics;
  expect(found.map(({ code, severity, location }) => [severity, code, `${location?.path ?? ""}:${location?.start.line ?? 0}`])).toEqual([
    ["error", "MISSING_CLOSE_BRACE", "mod:events/fog_bank.txt:21"],
    ["error", "EVENT_REFERENCE_MISSING", "mod:events/fog_bank.txt:31"],
    ["error", "EVENT_DEFINITION_SWALLOWED", "mod:events/fog_bank.txt:36"],
    ["error", "EVENT_DUPLICATE_ID", "mod:events/harbour_storms_old.txt:4"],
    ["error", "EVENT_REFERENCE_MISSING", "mod:events/lantern_harbour.txt:215"],
    ["warning", "PROBABLE_MISSING_BRACE", "mod:events/fog_bank.txt:36"],
    ["warning", "EVENT_NAMESPACE_UNDECLARED", "mod:events/keepers_letters.txt:3"],
    ["warning", "EVENT_MEAN_TIME_IGNORED", "mod:events/lantern_harbour.txt:250"],
    ["info", "EVENT_NEVER_FIRED", "mod:events/harbour_news.txt:53"],
    ["info", "EVENT_REFERENCE_UNRESOLVED", "mod:events/lantern_harbour.txt:361"],
    ["info", "EVENT_DYNAMIC_DISPATCH_UNRESOLVED", "mod:events/lantern_harbour.txt:389"],
  ]);
});

describe("rows", () => {
  test("the first event comes from the start of the game and leads on by each of its options", () => {
    const file = "mod:events/lantern_harbour.txt";
    const base = { resolution: "resolved", via: [], conditions: 0, file };
    expect(row("lantern.1")).toEqual({
      id: "lantern.1",
      type: "country_event",
      titleKey: "lantern.1.t",
      title: "The Lamp Goes Dark",
      file,
      line: 8,
      flags: ["triggered_only", "fire_only_once"],
      options: [
        { name: "lantern.1.a", text: "Send the harbour master up the stairs.", isConditional: false },
        { name: "lantern.1.b", text: "Ask the guild to light it again.", isConditional: false },
        { name: "lantern.1.c", text: "Wait for the morning.", isConditional: false },
      ],
      callers: [
        {
          kind: "on_action",
          id: "on_startup",
          event: null,
          phase: null,
          via: [],
          when: "after 12 days and up to 10 days more",
          chance: null,
          conditions: 0,
          file: "mod:common/on_actions/lantern_on_actions.txt",
          line: 5,
        },
      ],
      calls: [
        { ...base, event: "lantern.2", from: "lantern.1.a", when: "after 3 days", chance: null, line: 24 },
        { ...base, event: "guild.1", from: "lantern.1.b", when: "after 12 hours", chance: null, line: 30 },
        { ...base, event: "lantern.3", from: "lantern.1.c", when: "at once", chance: "70 of 100", line: 37 },
        { ...base, event: "storm.1", from: "lantern.1.c", when: "after 1 day", chance: "20 of 100", line: 44 },
      ],
      unresolvedTargets: [],
    });
  });

  test("callers behind a scripted effect are found, with their conditions", () => {
    const via = ["lantern_open_inquiry"];
    expect(row("lantern.6").callers).toMatchObject([
      { kind: "focus", id: "LHB_question_the_keepers", phase: "completion_reward", via, when: "after 10 days", conditions: 2 },
      { kind: "option", id: "lantern.2.a", event: "lantern.2", via, when: "after 10 days", conditions: 2, line: 62 },
    ]);
  });

  test("a tooltip is no call", () => {
    expect(row("lantern.3").calls).toMatchObject([
      { event: "harbour_news.1", from: "immediate", when: "after 6 hours" },
      { event: "storm.3", from: "lantern.3.a", when: "after 1 day" },
    ]);
  });

  test("missing, foreign and composed targets are told apart", () => {
    expect(row("lantern.8").calls).toMatchObject([
      { event: "lantern.9", resolution: "resolved" },
      { event: "lantern.404", resolution: "missing" },
    ]);
    expect(row("lantern.20").calls).toMatchObject([{ event: "lantern.2" }, { event: "news.57", resolution: "not_configured" }]);
    expect(row("lantern.90")).toMatchObject({
      flags: ["hidden", "triggered_only"],
      title: null,
      calls: [
        { event: "lantern.[STAGE]", resolution: "dynamic", when: "after 3 days" },
        { event: "lantern.91", resolution: "resolved" },
      ],
      unresolvedTargets: ["lantern.[STAGE]"],
    });
    expect(row("lantern.9").calls).toMatchObject([
      {},
      { event: "lantern.11", when: "after a time that only the game knows (days = var:saltmarch_patience)" },
    ]);
  });

  test("the event that the game tries by itself says so, and one that nobody fires has no caller", () => {
    expect(row("lantern.20").callers).toMatchObject([
      { kind: "game", id: "lantern.20", when: "when the game tries it, 40 days on average", conditions: 1 },
    ]);
    expect(row("harbour_news.4").callers).toEqual([]);
  });

  test("the definition that is read first counts, the other one is marked", () => {
    expect(row("storm.5", 0)).toMatchObject({
      file: "mod:events/harbour_storms.txt",
      line: 108,
      flags: ["triggered_only"],
      callers: [{ kind: "on_action", id: "on_monthly_LHB", chance: "40 of 400" }],
    });
    expect(row("storm.5", 1)).toMatchObject({
      file: "mod:events/harbour_storms_old.txt",
      line: 4,
      flags: ["triggered_only", "duplicate"],
      callers: [],
    });
  });

  test("all five kinds of event are there, and what a missing brace has swallowed is not", () => {
    const types = [...Map.groupBy(rows(), ({ type }) => type)].map(([type, events]) => [type, events.length]);
    expect(Object.fromEntries(types)).toEqual({
      country_event: 29,
      news_event: 4,
      state_event: 2,
      unit_leader_event: 1,
      operative_leader_event: 1,
    });
    expect(() => row("fog.3")).toThrow("no row");
  });
});

describe("the graph in the artifact", () => {
  test("has every node once and no edge that leads nowhere", () => {
    const ids = new Set(graph.nodes.map(({ id }) => id));
    expect(ids.size).toBe(graph.nodes.length);
    expect(graph.edges.filter(({ from, to }) => !ids.has(from) || !ids.has(to))).toEqual([]);
    expect(new Set(graph.edges.map((edge) => edge.id)).size).toBe(142);
  });

  test("keeps which branch of a chain leads where", () => {
    const conditions = Object.fromEntries(
      edgesTo("event:storm.3").map((edge) => [edge.from, edge.conditions.map(({ kind, expression }) => `${kind}: ${expression}`)]),
    );
    expect(conditions).toEqual({
      "option:lantern.3/lantern.3.a": [],
      "option:storm.1/storm.1.b": [
        "limit: is_coastal = yes",
        "branch_guard: NOT = { has_state_flag = lantern_wall_is_new }",
        "branch_guard: NOT = { has_state_flag = lantern_wall_is_old }",
      ],
    });
  });

  test("keeps scopes, forms, weights and the helpers of a call", () => {
    expect(edgesTo("event:guild.4")).toMatchObject([
      { form: "operative_leader_event", scope: ["random_operative"], traits: ["delayed"], timing: { mode: "fixed", days: 4 } },
    ]);
    expect(edgesTo("event:lantern.13")).toMatchObject([{ form: "border_war", scope: ["on_win"], timing: { mode: "unknown" } }]);
    expect(edgesTo("event:lantern.7").find(({ from }) => from === "option:storm.3/storm.3.a")).toMatchObject({
      scope: ["owner"],
      traits: ["weighted"],
      weight: { value: null, expression: "lantern_luck", total: null, validity: "unknown" },
    });
    expect(edgesTo("event:lantern.12").map((edge) => [edge.from, edge["helperStack"]])).toEqual([
      ["entry:focus/LHB_relight_the_lamp/completion_reward", []],
      ["helper:lantern_festival", ["lantern_festival"]],
    ]);
    expect(edgesTo("event:lantern.21")).toMatchObject([
      {
        from: "entry:country_setup/LHB - Lantern Harbour/1939.1.1",
        reason: "setup_entry",
        timing: { mode: "date", date: "1939.1.1", days: 2 },
      },
    ]);
  });
});

test("the text names the worst first, with file and line", () => {
  expect(inspected.text).toContain("Lantern Harbour: 37 events with 54 options, started from 15 places, in 18 files.");
  expect(inspected.text).toContain("5 errors and 3 warnings; the worst:\n- mod:events/fog_bank.txt:21 ");
});
