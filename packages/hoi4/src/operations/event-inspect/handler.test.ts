import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { OperationContext, ToolResult } from "@holdfast/core";
import { inspectEvents } from "../../testing/inspect-events.ts";
import { memoryWorkspace, type MemoryWorkspaceOptions } from "../../testing/memory-workspace.ts";
import { recordingContext } from "../../testing/recording-context.ts";
import { inspectEvents as runHandler } from "./handler.ts";
import { eventInspect } from "./manifest.ts";

function inspect(files: Record<string, string>, options?: MemoryWorkspaceOptions) {
  return inspectEvents(memoryWorkspace(files, options));
}

function run(context: OperationContext): Promise<ToolResult> {
  return runHandler(eventInspect.input.parse({}), context);
}

const SMALL = {
  "descriptor.mod": 'name="Small" version="2" supported_version="1.16.*"',
  "events/a.txt": `add_namespace = a
country_event = { id = a.1 is_triggered_only = yes title = a.1.t
  option = { name = a.1.a country_event = { id = a.2 days = 3 } }
  option = { name = a.1.b trigger = { tag = AAA } run = yes } }
country_event = { id = a.2 hidden = yes is_triggered_only = yes immediate = { news_event = news.1 } }`,
  "common/scripted_effects/h.txt": "run = { random_list = { 1 = { country_event = a.9 } 3 = { } } }",
  "common/on_actions/s.txt": "on_actions = { on_startup = { effect = { if = { limit = { tag = AAA } country_event = a.1 } } } }",
  "localisation/a_l_english.yml": '\uFEFFl_english:\n a.1.t:0 "One"\n a.1.a:0 "Go"\n',
};

describe("a scan", () => {
  test("answers rows that say where an event comes from and where it leads", async () => {
    const { output } = await inspect(SMALL);
    expect(output.data?.events).toEqual([
      {
        id: "a.1",
        type: "country_event",
        titleKey: "a.1.t",
        title: "One",
        file: "mod:events/a.txt",
        line: 2,
        flags: ["triggered_only"],
        options: [
          { name: "a.1.a", text: "Go", isConditional: false },
          { name: "a.1.b", text: null, isConditional: true },
        ],
        callers: [
          {
            kind: "on_action",
            id: "on_startup",
            event: null,
            phase: null,
            via: [],
            when: "at once",
            chance: null,
            conditions: 1,
            file: "mod:common/on_actions/s.txt",
            line: 1,
          },
        ],
        calls: [
          {
            event: "a.2",
            from: "a.1.a",
            resolution: "resolved",
            via: [],
            when: "after 3 days",
            chance: null,
            conditions: 0,
            file: "mod:events/a.txt",
            line: 3,
          },
          {
            event: "a.9",
            from: "a.1.b",
            resolution: "missing",
            via: ["run"],
            when: "at once",
            chance: "1 of 4",
            conditions: 0,
            file: "mod:common/scripted_effects/h.txt",
            line: 1,
          },
        ],
        unresolvedTargets: ["a.9"],
      },
      {
        id: "a.2",
        type: "country_event",
        titleKey: null,
        title: null,
        file: "mod:events/a.txt",
        line: 5,
        flags: ["hidden", "triggered_only"],
        options: [],
        callers: [
          {
            kind: "option",
            id: "a.1.a",
            event: "a.1",
            phase: null,
            via: [],
            when: "after 3 days",
            chance: null,
            conditions: 0,
            file: "mod:events/a.txt",
            line: 3,
          },
        ],
        calls: [
          {
            event: "news.1",
            from: "immediate",
            resolution: "not_configured",
            via: [],
            when: "at once",
            chance: null,
            conditions: 0,
            file: "mod:events/a.txt",
            line: 5,
          },
        ],
        unresolvedTargets: ["news.1"],
      },
    ]);
  });

  test("counts what the graph holds and says what was read", async () => {
    const { output } = await inspect(SMALL);
    expect(output).toMatchObject({
      status: "ok",
      code: "EVENT_SCAN_COMPLETED",
      workspaceId: "current",
      filesScanned: [
        "mod:common/on_actions/s.txt",
        "mod:common/scripted_effects/h.txt",
        "mod:events/a.txt",
        "mod:localisation/a_l_english.yml",
      ],
      blockers: [],
      data: {
        mode: "scan",
        analysisMode: "full",
        mod: { name: "Small", version: "2", supportedVersion: "1.16.*", replacesEvents: false },
        // Edges: start, two options, two calls of theirs, the helper's, the immediate one.
        counts: {
          events: 2,
          options: 2,
          entries: 1,
          helpers: 1,
          unresolvedNodes: 2,
          terminals: 0,
          edges: 7,
          diagnostics: 2,
          blockingDiagnostics: 1,
          skippedSources: 0,
        },
        complete: true,
        hint: null,
      },
    });
    expect(output.validation.passed).toBe(false);
    expect(output.validation.checks.filter(({ passed }) => !passed)).toEqual([
      { id: "targets_defined", passed: false, message: "1 missing target." },
    ]);
  });

  test("says the essential in words", async () => {
    const { text } = await inspect(SMALL);
    expect(text).toBe(
      [
        "Small: 2 events with 2 options, started from 1 place, in 4 files.",
        "1 error and 0 warnings:",
        "- mod:common/scripted_effects/h.txt:1 a.9 is fired here, but no file defines it.",
        "The whole graph is in event-graph.json.",
      ].join("\n"),
    );
  });

  test("links the whole graph as an artifact with sorted keys and no clock", async () => {
    const { result, output, context } = await inspect(SMALL);
    const [artifact] = context.artifacts;
    const bytes = Buffer.from(artifact?.bytes ?? []);
    const document = JSON.parse(bytes.toString()) as Record<string, unknown>;
    expect(artifact).toMatchObject({ name: "event-graph.json", mimeType: "application/json" });
    expect(Object.keys(document)).toEqual([
      "complete",
      "counts",
      "diagnostics",
      "edges",
      "files",
      "graphHash",
      "layers",
      "mod",
      "nodes",
      "precedence",
      "revision",
      "schema",
      "shadowedFiles",
      "skippedSources",
    ]);
    expect(document).toMatchObject({ revision: output.data?.revision, graphHash: output.data?.graphHash });
    expect([document["nodes"], document["edges"]]).toMatchObject([{ length: 8 }, { length: 7 }]);
    const uri = `holdfast://workspace/current/artifact/${createHash("sha256").update(bytes).digest("hex")}/event-graph.json`;
    expect(output.artifacts).toMatchObject([{ uri }]);
    expect(result.content).toContainEqual(expect.objectContaining({ type: "resource_link", uri }));
  });

  test("gives the same bytes in whatever order the files are listed", async () => {
    const [first, second] = await Promise.all([inspect(SMALL), inspect(SMALL, { arrange: (paths) => paths.toReversed() })]);
    expect(Buffer.compare(first.context.artifacts[0]?.bytes ?? Buffer.of(1), second.context.artifacts[0]?.bytes ?? Buffer.of(2))).toBe(0);
    expect(second.result).toEqual(first.result);
  });

  test("reports progress that grows to its total", async () => {
    const { context } = await inspect(SMALL);
    const values = context.reports.map(({ value }) => value);
    expect(values).toEqual(values.toSorted((a, b) => a - b));
    expect(context.reports.at(-1)).toMatchObject({ value: 6, total: 6 });
    const bytes = Object.values(SMALL).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    // The descriptor is read when files are listed.
    const counted = bytes - SMALL["descriptor.mod"].length;
    expect(context.reports.map(({ message }) => message)).toContain(`Read 4 of 4 files, ${counted} of ${counted} bytes`);
  });
});

describe("bad input", () => {
  test.each([
    ["missing", "WORKSPACE_MISSING", "The folder of the mod does not exist."],
    ["unreadable", "WORKSPACE_UNREADABLE", "The folder of the mod cannot be opened"],
    ["outside", "WORKSPACE_OUTSIDE", "The folder of the mod is a link"],
  ] as const)("a folder that is %s is an answer that a modder understands", async (listFault, code, sentence) => {
    const { result, output, text, context } = await inspect({}, { listFault });
    expect(result.isError).toBe(true);
    expect(output).toMatchObject({ status: "error", code, data: null, blockers: [{ code, message: text }] });
    expect(text).toContain(sentence);
    expect(context.artifacts).toEqual([]);
  });

  test("an empty folder is no error, and the answer says what a mod looks like", async () => {
    const { result, output, text } = await inspect({});
    expect(result.isError).toBeUndefined();
    expect(output).toMatchObject({ status: "ok", data: { counts: { events: 0, edges: 0, diagnostics: 0 }, complete: true, events: [] } });
    expect(output.data?.hint).toContain("events/*.txt");
    expect(text).toContain("has no events");
  });

  test("the folder above a mod gets a hint to the mod", async () => {
    const { output } = await inspect({ "my_mod/events/a.txt": "" });
    expect(output.data?.hint).toContain('"my_mod"');
  });

  test("a broken file is reported with its line, and the others are analysed", async () => {
    const { output } = await inspect({
      "events/a.txt": "add_namespace = a\ncountry_event = { id = a.1 hidden = yes is_triggered_only = yes\n",
      "events/b.txt": "country_event = { id = a.2 hidden = yes is_triggered_only = yes }",
    });
    expect(output.diagnostics).toContainEqual(
      expect.objectContaining({
        code: "MISSING_CLOSE_BRACE",
        severity: "error",
        location: expect.objectContaining({ path: "mod:events/a.txt", start: { line: 2, column: 17, offset: 34 } }) as object,
      }),
    );
    expect(output.data?.events.map(({ id }) => id)).toEqual(["a.1", "a.2"]);
    expect(output.validation.checks.find(({ id }) => id === "syntax")?.passed).toBe(false);
  });

  test("a file that cannot be opened makes the result partial and names the file", async () => {
    const { output, text } = await inspect(SMALL, { faults: { "common/on_actions/s.txt": "unreadable" } });
    expect(output).toMatchObject({
      status: "ok",
      code: "EVENT_SCAN_PARTIAL",
      data: {
        complete: false,
        skippedSources: [{ path: "mod:common/on_actions/s.txt", reasonCodes: ["FILE_UNREADABLE"], possibleSymbolKinds: ["on_action"] }],
      },
    });
    expect(output.filesScanned).not.toContain("mod:common/on_actions/s.txt");
    expect(output.diagnostics).toContainEqual(expect.objectContaining({ code: "SOURCE_SKIPPED" }));
    expect(text).toContain("1 file could not be read in full");
  });

  test("a script nested deeper than is read makes the result partial", async () => {
    const { output } = await inspect({ "common/on_actions/a.txt": `${"a = { ".repeat(300)}${"}".repeat(300)}` });
    expect(output).toMatchObject({
      code: "EVENT_SCAN_PARTIAL",
      data: { complete: false, skippedSources: [{ reasonCodes: ["STRUCTURE_NOT_READ"] }] },
    });
  });

  test("a graph too large to store is an answer in one sentence, and nothing is stored", async () => {
    const context = recordingContext(memoryWorkspace(SMALL));
    const result = await runHandler(eventInspect.input.parse({}), context, { maxArtifactBytes: 1_000 });
    expect(result).toMatchObject({ isError: true, structuredContent: { status: "error", code: "SCAN_RESULT_LIMIT", data: null } });
    expect(result.content).toMatchObject([{ type: "text", text: expect.stringContaining("as much as one scan stores") as string }]);
    expect(context.artifacts).toEqual([]);
  });

  test("a fault of the service itself is thrown, not told to the caller", async () => {
    const workspace = { ...memoryWorkspace({}), list: () => Promise.reject(new Error("bug")) };
    await expect(run(recordingContext(workspace))).rejects.toThrow("bug");
  });
});

describe("cancellation", () => {
  test("stops the scan with the reason of the signal before anything is stored", async () => {
    const cancel = new AbortController();
    const context = recordingContext(memoryWorkspace(SMALL), { signal: cancel.signal });
    const reason = new Error("cancelled by the client");
    const running = run({
      ...context,
      progress: (report) => {
        context.progress(report);
        cancel.abort(reason);
      },
    });
    await expect(running).rejects.toBe(reason);
    expect(context.reports).toHaveLength(1);
    expect(context.artifacts).toEqual([]);
  });

  test("is heard while a scan is busy, because it lets the event loop turn", async () => {
    const events = Array.from(
      { length: 3000 },
      (_, index) =>
        `country_event = { id = a.${index} hidden = yes trigger = { tag = AAA } immediate = { country_event = a.${index + 1} } }`,
    );
    const files = Object.fromEntries(Array.from({ length: 8 }, (_, file) => [`events/${file}.txt`, events.join("\n")]));
    const cancel = new AbortController();
    setImmediate(() => setImmediate(() => cancel.abort(new Error("cancelled"))));
    await expect(run(recordingContext(memoryWorkspace(files), { signal: cancel.signal }))).rejects.toThrow("cancelled");
  });
});
