import { describe, expect, test } from "vitest";
import { diagnosticLines, scanTexts } from "../testing/scan-texts.ts";

async function linesOf(files: Record<string, string>): Promise<string[]> {
  const lines = diagnosticLines(await scanTexts({ "descriptor.mod": "", ...files }));
  return lines.filter((line) => !line.startsWith("EVENT_NEVER_FIRED"));
}

const quiet = (id: string, rest = "") => `country_event = { id = ${id} hidden = yes is_triggered_only = yes ${rest} }`;

describe("namespaces", () => {
  test("one warning for each namespace that no file declares, at its first event", async () => {
    expect(
      await linesOf({
        "events/a.txt": `${quiet("a.1")}\n${quiet("a.2")}\n${quiet("b.1")}\n${quiet("77")}`,
        "events/b.txt": "add_namespace = b",
      }),
    ).toEqual(["EVENT_NAMESPACE_UNDECLARED mod:events/a.txt:1"]);
  });

  test("it is an error when the game's events are unloaded, because then nobody else declares it", async () => {
    const files = { "events/a.txt": quiet("a.1") };
    const { diagnostics: open } = await scanTexts(files);
    const { diagnostics: certain } = await scanTexts({ ...files, "descriptor.mod": 'replace_path = "events"' });
    const severityOf = (list: typeof open) => list.find(({ code }) => code === "EVENT_NAMESPACE_UNDECLARED")?.severity;
    expect([severityOf(open), severityOf(certain)]).toEqual(["warning", "error"]);
  });
});

describe("duplicates", () => {
  test("each further definition is reported at its place with the one that counts beside it", async () => {
    const { diagnostics } = await scanTexts({
      "events/a.txt": `add_namespace = a ${quiet("a.1")}`,
      "events/b.txt": `\n${quiet("a.1", "major = yes")}`,
    });
    expect(diagnostics.find(({ code }) => code === "EVENT_DUPLICATE_ID")).toMatchObject({
      severity: "error",
      location: { path: "mod:events/b.txt", start: { line: 2, column: 1 }, symbol: "a.1" },
      related: [{ path: "mod:events/a.txt", symbol: "a.1" }],
    });
  });

  test("scripted effects too, as a warning", async () => {
    expect(await linesOf({ "common/scripted_effects/a.txt": "h = { }\nh = { }" })).toEqual([
      "HELPER_DUPLICATE_ID mod:common/scripted_effects/a.txt:1",
    ]);
  });
});

describe("scripted effects that call each other", () => {
  test("a circle is reported once, at its first name, and a helper that only leads to it is not", async () => {
    const lines = await linesOf({ "common/scripted_effects/a.txt": "a = { b = yes }\nb = { c = yes }\nc = { b = yes }\nd = { d = yes }" });
    expect(lines).toEqual([
      "EVENT_HELPER_CYCLE mod:common/scripted_effects/a.txt:2",
      "EVENT_HELPER_CYCLE mod:common/scripted_effects/a.txt:4",
    ]);
  });
});

test("a circle of many scripted effects names some of them and the number of the others", async () => {
  const circle = Array.from({ length: 25 }, (_, index) => `h${index} = { h${(index + 1) % 25} = yes }`);
  const { diagnostics } = await scanTexts({ "common/scripted_effects/a.txt": circle.join("\n") });
  expect(diagnostics.find(({ code }) => code === "EVENT_HELPER_CYCLE")?.message).toBe(
    "Scripted effects call each other in a circle: h0, h1, h10, h11, h12, h13, h14, h15, h16, h17 and 15 more.",
  );
});

describe("how an event comes to fire", () => {
  test("a mean time does nothing in an event that waits, unless an on_action draws it by weight", async () => {
    const event = quiet("a.1", "\nmean_time_to_happen = { days = 5 }");
    expect(await linesOf({ "events/a.txt": `add_namespace = a\n${event}` })).toEqual(["EVENT_MEAN_TIME_IGNORED mod:events/a.txt:3"]);
    const drawn = "on_actions = { on_monthly = { random_events = { 5 = a.1 } } }";
    expect(await linesOf({ "events/a.txt": `add_namespace = a\n${event}`, "common/on_actions/a.txt": drawn })).toEqual([]);
  });

  test.each([
    ["country_event", "for every country"],
    ["state_event", "for every state"],
  ])("a %s that neither waits nor has a trigger fires %s", async (type, whom) => {
    const { diagnostics } = await scanTexts({
      "descriptor.mod": "",
      "events/a.txt": `add_namespace = a\n${type} = { id = a.1 hidden = yes }`,
    });
    expect(diagnostics).toMatchObject([
      { code: "EVENT_FIRES_UNPROMPTED", message: expect.stringContaining(whom) as string, location: { start: { line: 2 } } },
    ]);
  });

  test("an event that is never closed is not blamed for what a slip may have taken from it", async () => {
    const script =
      'add_namespace = a\ncountry_event = {\n id = a.1\n title = a.1.t\n desc = "a.1.d\n is_triggered_only = yes\n option = { name = x }\n}\n';
    expect(await linesOf({ "events/a.txt": script })).toEqual([
      "MISSING_CLOSE_BRACE mod:events/a.txt:2",
      "UNTERMINATED_STRING mod:events/a.txt:5",
      "PROBABLE_MISSING_QUOTE mod:events/a.txt:5",
    ]);
  });

  test("an event that waits and is never fired is noted, but not its losing duplicate", async () => {
    const scan = await scanTexts({
      "events/a.txt": `add_namespace = a\n${quiet("a.1")}\n${quiet("a.1")}\n${quiet("a.2", "immediate = { country_event = a.3 }")}\n${quiet("a.3", "immediate = { country_event = a.2 }")}`,
    });
    expect(diagnosticLines(scan).filter((line) => line.startsWith("EVENT_NEVER_FIRED"))).toEqual(["EVENT_NEVER_FIRED mod:events/a.txt:2"]);
  });

  test("an event that only fires itself again is noted as well", async () => {
    const { diagnostics } = await scanTexts({
      "events/a.txt": `add_namespace = a ${quiet("a.1", "immediate = { country_event = a.1 }")} ${quiet("a.2", "title = t option = { name = x country_event = { id = a.2 days = 9 } }")}`,
    });
    expect(diagnostics.filter(({ code }) => code === "EVENT_NEVER_FIRED").map(({ message }) => message)).toEqual([
      "a.1 waits to be fired, and nothing that was read fires it but itself.",
      "a.2 waits to be fired, and nothing that was read fires it but itself.",
    ]);
  });

  test("a window that cannot be closed is reported, a hidden event has none", async () => {
    const window = "country_event = { id = a.1 title = t is_triggered_only = yes }";
    expect(await linesOf({ "events/a.txt": `add_namespace = a\n${window}` })).toEqual(["EVENT_WITHOUT_OPTION mod:events/a.txt:2"]);
    expect(await linesOf({ "events/a.txt": `add_namespace = a\n${quiet("a.1", "title = t")}` })).toEqual([]);
  });
});

test("what stands outside of every event is reported, constants are not", async () => {
  expect(await linesOf({ "events/a.txt": "add_namespace = a\n@x = 1\noption = { name = lost }" })).toEqual([
    "EVENT_STRAY_ROOT_ENTRY mod:events/a.txt:3",
  ]);
});
