import { describe, expect, test } from "vitest";
import { scanTexts } from "../testing/scan-texts.ts";

const CALL = "country_event = { id = a.1 is_triggered_only = yes hidden = yes immediate = { country_event = b.5 } }";

async function judged(files: Record<string, string | Uint8Array>, options?: Parameters<typeof scanTexts>[1]) {
  const { diagnostics, graph } = await scanTexts(files, options);
  const diagnostic = diagnostics.find(({ location }) => location?.symbol === "b.5");
  const node = graph.nodes.find(({ id }) => id === "unresolved:event/b.5");
  return [diagnostic?.code, diagnostic?.severity, diagnostic?.classification, node?.kind === "unresolved" && node.reason];
}

describe("an event that is fired and not defined", () => {
  test("may be the game's own, which is no error", async () => {
    expect(await judged({ "events/a.txt": `add_namespace = a ${CALL}` })).toEqual([
      "EVENT_REFERENCE_UNRESOLVED",
      "info",
      "unresolved_analysis",
      "not_configured",
    ]);
  });

  test("is missing for certain when the mod declares its namespace", async () => {
    expect(await judged({ "events/a.txt": `add_namespace = a ${CALL}`, "events/b.txt": "add_namespace = b" })).toEqual([
      "EVENT_REFERENCE_MISSING",
      "error",
      "confirmed_error",
      "missing",
    ]);
  });

  test("may be an event of a mod that this one depends on, even in a namespace that both declare", async () => {
    const files = { "events/a.txt": `add_namespace = a add_namespace = b ${CALL}`, "descriptor.mod": 'dependencies = { "Great Mod" }' };
    expect(await judged(files)).toEqual(["EVENT_REFERENCE_UNRESOLVED", "info", "unresolved_analysis", "not_configured"]);
    const { diagnostics } = await scanTexts(files);
    expect(diagnostics.find(({ code }) => code === "EVENT_REFERENCE_UNRESOLVED")?.message).toContain('or of "Great Mod"');
    expect(await judged({ ...files, "descriptor.mod": 'dependencies = { "Great Mod" } replace_path = "events"' })).toContain("missing");
  });

  test("is missing for certain when the mod unloads the game's events", async () => {
    const files = { "events/a.txt": `add_namespace = a ${CALL}`, "descriptor.mod": 'replace_path="events"' };
    expect(await judged(files)).toEqual(["EVENT_REFERENCE_MISSING", "error", "confirmed_error", "missing"]);
    expect(await judged({ ...files, "descriptor.mod": 'replace_path="events/sub"' })).toContain("not_configured");
  });

  test("stays open when an event file could not be read", async () => {
    const files = { "events/a.txt": `add_namespace = a add_namespace = b ${CALL}`, "events/locked.txt": "" };
    expect(await judged(files, { workspace: { faults: { "events/locked.txt": "unreadable" } } })).toEqual([
      "EVENT_REFERENCE_MISSING",
      "warning",
      "unresolved_analysis",
      "skipped",
    ]);
  });

  test("is a slip of the keyboard when only the letter case differs", async () => {
    const files = {
      "events/a.txt": `add_namespace = a add_namespace = b ${CALL} country_event = { id = B.5 hidden = yes is_triggered_only = yes }`,
    };
    expect(await judged(files)).toEqual(["EVENT_REFERENCE_CASE_MISMATCH", "warning", "probable_defect", "missing"]);
  });

  test("is missing for certain when a missing brace has swallowed it, even in a namespace that only the game could declare", async () => {
    const files = {
      "events/a.txt": `add_namespace = a ${CALL} country_event = { id = a.2 hidden = yes is_triggered_only = yes country_event = { id = b.5 title = t } }`,
    };
    const { graph } = await scanTexts(files);
    expect(graph.nodes).toContainEqual({ kind: "unresolved", id: "unresolved:event/b.5", reference: "b.5", reason: "missing" });
  });

  test("names the definition that a missing brace has swallowed", async () => {
    const { diagnostics } = await scanTexts({
      "events/a.txt": `add_namespace = b\ncountry_event = {\n id = b.1\n is_triggered_only = yes\n title = t\n option = { name = x country_event = b.5\n}\ncountry_event = {\n id = b.5\n title = t\n}\n`,
    });
    const missing = diagnostics.find(({ code }) => code === "EVENT_REFERENCE_MISSING");
    expect(missing).toMatchObject({
      severity: "error",
      location: { start: { line: 6 } },
      related: [{ start: { line: 8 }, symbol: "b.5" }],
    });
    expect(missing?.message).toContain("stands inside b.1");
    expect(diagnostics.find(({ code }) => code === "EVENT_DEFINITION_SWALLOWED")).toMatchObject({
      severity: "error",
      location: { start: { line: 8 } },
    });
  });
});
