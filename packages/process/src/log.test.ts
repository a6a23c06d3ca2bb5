import { expect, test } from "vitest";
import { createLogger, createTelemetry } from "./log.ts";

function capture(level: "info" | "error"): { lines: Record<string, unknown>[]; telemetry: ReturnType<typeof createTelemetry> } {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  return { lines, telemetry: createTelemetry(createLogger(level, destination)) };
}

const served = { requestId: "r1", method: "POST", path: "/mcp", status: 200, durationMs: 3 };

test("an event is one line with its name and its fields", () => {
  const { lines, telemetry } = capture("info");
  telemetry.emit("http.served", served);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ level: "info", event: "http.served", ...served });
  expect(lines[0]?.["time"]).toMatch(/^\d{4}-\d{2}-\d{2}T/u);
});

test("an error comes along with its cause and makes the line an error", () => {
  const { lines, telemetry } = capture("info");
  telemetry.emit("http.served", served, new Error("a request failed", { cause: new Error("connection refused") }));
  expect(lines).toMatchObject([{ level: "error" }]);
  expect(JSON.stringify(lines[0]?.["err"])).toContain("connection refused");
});

test("probes that succeed are not worth a line, those that fail are a warning", () => {
  const { lines, telemetry } = capture("info");
  telemetry.emit("http.served", { ...served, path: "/readyz" });
  telemetry.emit("http.served", { ...served, path: "/readyz", status: 503 }, new Error("read-only"));
  expect(lines.map(({ level }) => level)).toEqual(["warn"]);
});

test("the lines that launchers wait for appear at every level", () => {
  const { lines, telemetry } = capture("error");
  telemetry.emit("http.served", served);
  telemetry.emit("process.started", { role: "server", version: "1.2.3" });
  expect(lines).toMatchObject([{ event: "process.started", version: "1.2.3" }]);
});
