import { expect, test } from "vitest";
import { renderProgress, startProgress } from "./terminal-progress.ts";
import type { Terminal } from "./terminal.ts";

test.for([
  [0, "░░░░░░░░░░░░░░░░░░░░░░░░"],
  [0.5, "████████████░░░░░░░░░░░░"],
  [1, "████████████████████████"],
  [7, "████████████████████████"],
  [-1, "░░░░░░░░░░░░░░░░░░░░░░░░"],
] as const)("a fraction of %s fills its part of the bar", ([fraction, bar]) => {
  expect(renderProgress({ fraction, text: "reading", elapsedMs: 1250, width: 80 })).toBe(`[${bar}] 1.3 s  reading`);
});

test("a mark wanders to and fro while nobody knows how far it is, and the bar keeps its width", () => {
  const at = (elapsedMs: number) => renderProgress({ fraction: null, text: "", elapsedMs, width: 80 }).slice(1, 25);
  expect(at(0)).toBe("████░░░░░░░░░░░░░░░░░░░░");
  expect(at(2000)).toBe("░░░░░░░░░░░░░░░░░░░░████");
  expect(at(4000)).toBe(at(0));
});

test("a text that is too long for the screen is cut, so that the line can be drawn over", () => {
  const line = renderProgress({ fraction: 0, text: "x".repeat(200), elapsedMs: 0, width: 50 });
  expect(line).toHaveLength(50);
  expect(line.endsWith("…")).toBe(true);
});

test("where nobody watches, a line is printed whenever something changed and never again for the same", () => {
  const lines: string[] = [];
  const terminal: Terminal = {
    out: (line) => lines.push(line),
    note: () => undefined,
    redraw: () => lines.push("drawn over"),
    isInteractive: false,
    width: 100,
  };
  const progress = startProgress(terminal);
  progress.update({ fraction: null, text: "waits" });
  progress.update({ fraction: 0.2, text: "waits" });
  progress.update({ fraction: 0.4, text: "reads" });
  progress.finish("done");
  expect(lines).toEqual(["   waits", "   reads", "   done"]);
});
