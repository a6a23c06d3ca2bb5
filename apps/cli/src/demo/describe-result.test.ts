import { expect, test } from "vitest";
import { describeResult } from "./describe-result.ts";
import { createNarrator } from "./narrator.ts";
import { table } from "./table.ts";

const at = { file: "mod:events/a.txt", line: 3 };
const counts = { events: 2, options: 1, entries: 1, edges: 3, unresolvedNodes: 1, diagnostics: 1, blockingDiagnostics: 1 };
const call = { event: "a.2", from: "a.1.x", when: "after 3 days", resolution: "resolved", ...at };
const event = { id: "a.1", title: "The Lamp", titleKey: "a.1.t", options: [{}], callers: [], calls: [] as (typeof call)[], ...at };

function scan(data: object, rest: object = {}): unknown {
  return {
    content: [{ type: "text", text: "in short" }],
    structuredContent: { diagnostics: [], data: { mod: { name: "Harbour" }, counts, complete: true, hint: null, events: [], ...data } },
    ...rest,
  };
}

function describe(result: unknown): string {
  return describeResult({ result, artifact: null, width: 100 }).lines.join("\n");
}

test("counts are told in words, with one thing in the singular", () => {
  expect(describe(scan({}))).toBe(
    "Harbour: 2 events with 1 option, fired from 1 place outside of events,\n3 connections, 1 target that the mod does not define, 1 error.",
  );
});

test("an event stands in the table with who fires it and what it fires", () => {
  const callers = [{ kind: "on_action", id: "on_startup", when: "at once", ...at }];
  const text = describe(scan({ events: [{ ...event, callers, calls: [call, { ...call, event: "a.9" }, { ...call, event: "a.8" }] }] }));
  expect(text).toContain("EVENT  TITLE     OPTIONS  FIRED BY              FIRES");
  expect(text).toContain("a.1    The Lamp  1        on_action on_startup  a.2 (after 3 days), a.9 (after 3 days) +1");
});

test("a target that is not there is told with its place and the reason", () => {
  const text = describe(scan({ events: [{ ...event, calls: [{ ...call, event: "a.404", resolution: "missing" }] }] }));
  expect(text).toContain("  a.404  by a.1 (a.1.x), mod:events/a.txt:3: nobody defines it");
});

test("a finding is told with file and line", () => {
  const location = { path: "mod:events/fog.txt", start: { line: 12 } };
  const result = {
    content: [],
    structuredContent: { ...structured(), diagnostics: [{ severity: "error", message: "A brace is missing.", location }] },
  };
  expect(describe(result)).toContain("  error    mod:events/fog.txt:12  A brace is missing.");
});

test("long lists are cut and say so", () => {
  const events = Array.from({ length: 14 }, (_, index) => ({
    ...event,
    id: `a.${index}`,
    calls: [{ ...call, event: "x", resolution: "dynamic" }],
  }));
  const text = describe(scan({ events }));
  expect(text).toContain("... and 4 more with fewer connections.");
  expect(text).toContain("  ... and 6 more.");
});

test("an operation that refused says its own sentence and counts as an error", () => {
  const refusal = {
    isError: true,
    content: [{ type: "text", text: "The folder of the mod does not exist." }],
    structuredContent: { diagnostics: [], data: null },
  };
  expect(describeResult({ result: refusal, artifact: null, width: 100 })).toEqual({
    lines: ["The folder of the mod does not exist."],
    gist: "The folder of the mod does not exist.",
    isError: true,
  });
});

test("the artifact is shown by address, size and first bytes", () => {
  const artifact = {
    uri: "holdfast://workspace/current/artifact/ab/event-graph.json",
    name: "event-graph.json",
    size: 12_345,
    beginning: '{"complete":\ntrue',
  };
  const { lines } = describeResult({ result: scan({}), artifact, width: 100 });
  expect(lines.slice(-3)).toEqual([
    "The whole graph is the artifact event-graph.json, 12,345 bytes, which any client with a grant can read:",
    "  holdfast://workspace/current/artifact/ab/event-graph.json",
    'Its first bytes, as resources/read gave them: {"complete": true...',
  ]);
});

test("a table that is wider than the screen cuts its widest column first", () => {
  expect(table(["ID", "TEXT"], [["a", "a rather long sentence"]], 14)).toEqual(["ID  TEXT", "a   a rather …"]);
});

test("a table gives no column less than its narrowest width, even on a screen of nothing", () => {
  expect(table(["A", "B"], [["123456789", "123456789"]], 1)).toEqual(["A        B", "123456…  123456…"]);
});

test("columns stand straight under wide characters", () => {
  expect(
    table(
      ["ID", "TEXT", "N"],
      [
        ["a", "財閥", "1"],
        ["b", "abcd", "2"],
      ],
      40,
    ),
  ).toEqual(["ID  TEXT  N", "a   財閥  1", "b   abcd  2"]);
});

test("texts of a mod cannot steer the terminal", () => {
  const lines: string[] = [];
  const terminal = {
    out: (line: string) => lines.push(line),
    note: () => undefined,
    redraw: () => undefined,
    isInteractive: false,
    width: 80,
  };
  createNarrator(terminal).say("The \u001b[2JLamp\r\u202egoes");
  expect(lines).toEqual(["   The  [2JLamp  goes"]);
});

function structured(): object {
  return { diagnostics: [], data: { mod: { name: "Harbour" }, counts, complete: true, hint: null, events: [] } };
}
