import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { folderWorkspace, inspectEvents, type Inspected } from "@holdfast/hoi4/testing";

// Public mods that lie beside the project and not in it; what they cover is covered by the example mod as well.
const mods = path.join(import.meta.dirname, "../../../shared/mods");

const isAbsent = (name: string) => !existsSync(path.join(mods, name));

async function scan(name: string): Promise<Inspected["output"]> {
  const { output } = await inspectEvents(folderWorkspace(path.join(mods, name)));
  return output;
}

describe("counts made by grep", () => {
  test.skipIf(isAbsent("strong-democratic-japan"))(
    "strong-democratic-japan (shared/mods): twelve events with twenty-two options, eleven of which the game tries by itself",
    async () => {
      const { data, diagnostics } = await scan("strong-democratic-japan");
      expect(data?.counts).toMatchObject({
        events: 12,
        options: 22,
        entries: 11,
        helpers: 0,
        unresolvedNodes: 0,
        terminals: 22,
        edges: 22 + 22 + 11,
        blockingDiagnostics: 0,
      });
      expect(data?.mod).toMatchObject({ name: "StrongDemocraticJapan", supportedVersion: "1.10.*" });
      expect(data?.events[0]).toMatchObject({
        id: "sdj_japan.1",
        line: 8,
        title: "軍国主義者への抵抗",
        flags: ["triggered_only"],
        callers: [],
      });
      expect(data?.events[1]).toMatchObject({
        id: "sdj_japan.2",
        flags: ["fire_only_once"],
        callers: [{ kind: "game", when: "when the game tries it, 1 day on average" }],
      });
      expect(diagnostics.map(({ code, location }) => [code, location?.symbol])).toEqual([["EVENT_NEVER_FIRED", "sdj_japan.1"]]);
    },
  );

  test.skipIf(isAbsent("ammunition"))(
    "ammunition (shared/mods): one hidden event behind a byte order mark, fired twelve times, and nineteen scripted effects without a missing one",
    async () => {
      const { data, diagnostics } = await scan("ammunition");
      // 55 lines run a scripted effect, 12 fire the event, and what the event runs fires nothing more.
      expect(data?.counts).toMatchObject({ events: 1, options: 0, helpers: 19, unresolvedNodes: 0, terminals: 1, edges: 55 + 12 + 1 });
      const event = data?.events[0];
      expect(event).toMatchObject({ id: "JAM_ev.1", line: 3, flags: ["hidden", "triggered_only"] });
      expect(event?.callers.map(({ id, when, line }) => [id, when, line])).toEqual([
        ["on_startup", "after 1 day", 13],
        ["on_startup", "after 2 days", 17],
        ["on_startup", "after 3 days", 21],
        ["on_startup", "after 4 days", 25],
        ["on_startup", "after 5 days", 29],
        ["on_startup", "after 6 days", 33],
        ["on_weekly", "after 1 day", 171],
        ["on_weekly", "after 2 days", 175],
        ["on_weekly", "after 3 days", 179],
        ["on_weekly", "after 4 days", 183],
        ["on_weekly", "after 5 days", 187],
        ["on_weekly", "after 6 days", 191],
      ]);
      expect(diagnostics).toEqual([]);
    },
  );

  test.skipIf(isAbsent("ultimate-germanization"))(
    "ultimate-germanization (shared/mods): no event, and four on_actions that run three scripted effects",
    async () => {
      const { data, diagnostics } = await scan("ultimate-germanization");
      expect(data?.counts).toMatchObject({ events: 0, entries: 4, helpers: 3, edges: 6, unresolvedNodes: 0 });
      expect(data?.hint).toContain("events/*.txt");
      expect(diagnostics.map(({ code }) => code)).toEqual(["DESCRIPTOR_MISSING"]);
    },
  );
});
