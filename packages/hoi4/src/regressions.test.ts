import { describe, expect, test } from "vitest";
import { applyEdits, blockOf, pairs, parseScript, readLocalisation, textOf, valueOf } from "./clausewitz/index.ts";
import { outline, parseText } from "./clausewitz/testing/outline.ts";
import { readFocusFile } from "./focus/read-focus-file.ts";
import { callLines, diagnosticLines, edgeTo, scanTexts } from "./testing/scan-texts.ts";

// What users of other parsers and tools for this game's script have reported as bugs, each shown not to be one here. The numbers are for
// reference: a report keeps its own for good. Of 14 and 20, which were met with pictures, this is what they mean for script.

const waiting = (id: string, rest: string) => `country_event = { id = ${id} hidden = yes is_triggered_only = yes ${rest} }\n`;

describe("files that are not closed as they were opened", () => {
  test("1: a brace too many in mid-file does not keep what follows from being read", async () => {
    const scan = await scanTexts({
      "events/a.txt": `add_namespace = a\n${waiting("a.1", "")}}\n${waiting("a.2", "immediate = { country_event = a.1 }")}`,
    });
    expect(callLines(scan)).toEqual(["event:a.2 -> event:a.1 at once"]);
    expect(diagnosticLines(scan)).toContain("EXTRA_CLOSE_BRACE mod:events/a.txt:3");
  });

  test("2: a brace too few at the end of a file does not keep the file from being read", async () => {
    const scan = await scanTexts({
      "events/a.txt": `add_namespace = a\n${waiting("a.1", "")}country_event = { id = a.2\noption = { country_event = a.1`,
    });
    expect(callLines(scan).filter((line) => line.includes("event:a.1"))).toEqual(["option:a.2/(unnamed) -> event:a.1 at once"]);
    expect(diagnosticLines(scan)).toContain("MISSING_CLOSE_BRACE mod:events/a.txt:3");
  });

  test("19: a comment may end the file without a line end", () => {
    expect(outline(parseText("a = b # the end"))).toBe("a=b");
    expect(parseText("# the end").findings).toEqual([]);
  });
});

describe("words and operators", () => {
  test.each(["!=", "?="])("3: %s is an operator where it is the first thing behind a key in a block", (operator) => {
    expect(outline(parseText(`a = { b ${operator} c d${operator}e }`))).toBe(`a={b${operator}c d${operator}e}`);
  });

  test("4: a negative number keeps its sign", async () => {
    expect(outline(parseText("a = -0.5 b=-.5"))).toBe("a=-0.5 b=-.5");
    const scan = await scanTexts({
      "events/a.txt": waiting("a.1", "immediate = { random_list = { -0.5 = { country_event = a.1 } 2 = { } } }"),
    });
    expect(edgeTo(scan, "event:a.1").weight).toMatchObject({ value: -0.5, total: 1.5, validity: "invalid" });
  });

  test("5: numbers that are too long for a double stay as they are written, so that two ids stay two", async () => {
    const [one, other] = ["a.18446744073709551615", "a.18446744073709551614"] as const;
    const scan = await scanTexts({
      "events/a.txt": `add_namespace = a ${waiting(one, "")}${waiting(other, `immediate = { country_event = ${one} }`)}`,
    });
    expect(callLines(scan)).toEqual([`event:${other} -> event:${one} at once`]);
    expect(scan.diagnostics.filter(({ code }) => code.includes("DUPLICATE"))).toEqual([]);
  });

  test("9: a bar is part of a word", () => {
    expect(outline(parseText("text = [?dam|dam] |x = a|b"))).toBe("text=[?dam|dam] |x=a|b");
  });

  test("10: RGB is a country where no block follows, and a colour where one does", async () => {
    expect(outline(parseText("owner = RGB\ncontroller = RGB\ncolor = RGB { 1 2 3 }"))).toBe("owner=RGB controller=RGB color=RGB{1 2 3}");
    const scan = await scanTexts({
      "events/a.txt": `add_namespace = a ${waiting("a.1", "immediate = { RGB = { country_event = a.1 } }")}`,
    });
    expect(edgeTo(scan, "event:a.1").scope).toEqual(["RGB"]);
  });
});

describe("blocks that hold several kinds of thing", () => {
  test("6: single values may stand before pairs and behind them", () => {
    expect(outline(parseText("a = { 1 2 b = c } d = { e = f 3 4 }"))).toBe("a={1 2 b=c} d={e=f 3 4}");
  });

  test("7: empty blocks may stand before pairs", () => {
    const file = parseText("a = { {} {} 1444.1.1 = { b = c } }");
    expect([outline(file), file.findings]).toEqual(["a={{} {} 1444.1.1={b=c}}", []]);
  });

  test("8: nesting without an end overflows no stack, with headers or without, and a scan says what it left out", async () => {
    for (const opening of ["a = { ", "a = rgb { ", "{ "]) {
      const scan = await scanTexts({ "events/a.txt": `add_namespace = a ${waiting("a.1", `immediate = { ${opening.repeat(100_000)}`)}` });
      expect(diagnosticLines(scan)).toContain("DEPTH_LIMIT mod:events/a.txt:1");
      expect(scan.skipped).toMatchObject([{ reasonCodes: ["STRUCTURE_NOT_READ"] }]);
    }
  });

  test("11: each of several icons of a focus is kept, in order", () => {
    const script = parseText(
      "focus_tree = { id = t focus = { id = f icon = { trigger = { tag = A } value = one } icon = { value = two } icon = three } }",
    );
    const [focus] = readFocusFile(script).trees.flatMap(({ focuses }) => focuses);
    if (focus === undefined) throw new Error("the focus was not read");
    const icons = [...pairs(focus.block, "icon")].map(
      ({ value }) => textOf(value) ?? textOf(valueOf(blockOf(value) ?? focus.block, "value")),
    );
    expect(icons).toEqual(["one", "two", "three"]);
  });

  test("12: a focus is there whatever would have to hold for its branch to be shown", async () => {
    const hidden = "allow_branch = { has_dlc = nothing } available = { always = no }";
    const scan = await scanTexts({
      "common/national_focus/f.txt": `focus_tree = { id = t
        focus = { id = root ${hidden} completion_reward = { country_event = a.1 } }
        focus = { id = leaf prerequisite = { focus = root } completion_reward = { country_event = a.1 } } }`,
    });
    expect(callLines(scan)).toEqual([
      "entry:focus/leaf/completion_reward -> unresolved:event/a.1 at once",
      "entry:focus/root/completion_reward -> unresolved:event/a.1 at once",
    ]);
  });
});

describe("which files there are", () => {
  test("13: a mod without a default.map, or without any map, lacks nothing that a scan of events needs", async () => {
    const scan = await scanTexts({
      "descriptor.mod": "",
      "events/a.txt": "add_namespace = a",
      "map/definition.csv": "0;0;0;0;land;false;unknown;0",
    });
    expect([scan.isComplete, scan.diagnostics]).toEqual([true, []]);
  });

  test("14: what the mod defines counts beside what the game defines, and not instead of it", async () => {
    const scan = await scanTexts({
      "holdfast.json": '{ "hoi4": { "mod": "mine", "game": "game" } }',
      "game/common/scripted_effects/g.txt": "of_game = { country_event = a.1 }",
      "mine/descriptor.mod": "",
      "mine/common/scripted_effects/m.txt": "of_mod = { country_event = a.1 }",
      "mine/events/a.txt": `add_namespace = a ${waiting("a.1", "immediate = { of_game = yes of_mod = yes }")}`,
    });
    expect(callLines(scan).filter((line) => line.startsWith("event:"))).toEqual([
      "event:a.1 -> helper:of_game at once",
      "event:a.1 -> helper:of_mod at once",
    ]);
  });

  test("20: a file that stands for one of the game is told what it leaves out and others still use", async () => {
    const scan = await scanTexts({
      "holdfast.json": '{ "hoi4": { "mod": "mine", "game": "game" } }',
      "game/events/core.txt": `add_namespace = core ${waiting("core.1", "")}${waiting("core.2", "")}`,
      "game/events/user.txt": waiting("core.3", "immediate = { country_event = core.2 }"),
      "mine/events/core.txt": `add_namespace = core ${waiting("core.1", "")}`,
    });
    expect(diagnosticLines(scan)).toContain("SOURCE_OVERRIDE_DROPS_DEFINITIONS mod:events/core.txt:1");
  });

  test("21: paths that differ in letter case only are one path, within a mod and between layers", async () => {
    const within = await scanTexts({ "events/Storm.txt": "", "events/storm.txt": "add_namespace = a" });
    expect(diagnosticLines(within)).toContain("SOURCE_PATH_CASE_COLLISION mod:events/Storm.txt:1");
    const between = await scanTexts({
      "holdfast.json": '{ "hoi4": { "mod": "mine", "game": "game" } }',
      "game/Events/Storm.TXT": waiting("a.1", ""),
      "game/common/on_actions/x.txt": "",
      "mine/events/storm.txt": `add_namespace = a ${waiting("a.2", "")}`,
    });
    expect(between.graph.nodes.flatMap((node) => (node.kind === "event" ? [node.eventId] : []))).toEqual(["a.2"]);
  });
});

describe("15: who fires an event", () => {
  const events = (immediate: string) => ({
    "descriptor.mod": "",
    "events/a.txt": `add_namespace = a ${waiting("a.1", `immediate = { ${immediate} }`)}${waiting("a.2", "")}`,
  });

  test("is known of a call that stands in an immediate block alone", async () => {
    const lines = diagnosticLines(await scanTexts(events("country_event = a.2")));
    expect(lines).toEqual(["EVENT_NEVER_FIRED mod:events/a.txt:1"]);
  });

  test("with a weight that is a variable is unknown, and no number that is none", async () => {
    const scan = await scanTexts(events("random_list = { my_weight = { country_event = a.2 } 10 = { } }"));
    expect(edgeTo(scan, "event:a.2").weight).toEqual({
      value: null,
      expression: "my_weight",
      total: null,
      modifiers: [],
      validity: "unknown",
    });
  });

  test("has the conditions of every if around it, the outer ones first", async () => {
    const scan = await scanTexts(events("if = { limit = { tag = AAA } if = { limit = { tag = BBB } country_event = a.2 } }"));
    expect(edgeTo(scan, "event:a.2").conditions.map(({ expression }) => expression)).toEqual(["tag = AAA", "tag = BBB"]);
  });
});

describe("localisation", () => {
  test("16: a text ends at the last quote of its line", () => {
    const { entries, findings } = readLocalisation(Buffer.from('\uFEFFl_english:\n a:0 "He said "no" and left"\n'));
    expect([entries.map(({ text }) => text), findings]).toEqual([['He said "no" and left'], []]);
  });

  test("17: the byte order mark of a file outlives a rewrite", () => {
    const script = parseScript(Buffer.from("\uFEFFa = b"));
    expect(Buffer.from(applyEdits(script, [{ start: 7, end: 8, bytes: Buffer.from("c") }])).toString()).toBe("\uFEFFa = c");
  });

  test("18: a file that is saved as UTF-16 is said to be, and makes the result partial", async () => {
    const scan = await scanTexts({ "localisation/a_l_english.yml": Buffer.from('\uFEFFl_english:\n a:0 "A"\n', "utf16le") });
    expect(diagnosticLines(scan)).toContain("UTF16_TEXT mod:localisation/a_l_english.yml:1");
    expect(scan.isComplete).toBe(false);
  });
});
