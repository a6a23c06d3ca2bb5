import { expect, test } from "vitest";
import { taskIdFrom, type Task } from "@holdfast/core";
import { detailedTaskJson, taskJson } from "./task-json.ts";

function task(overrides: Partial<Task> = {}): Task {
  return {
    id: taskIdFrom({ unixMs: 0, random: new Uint8Array(10) }),
    workspaceId: "current",
    operation: "test.echo",
    operationVersion: 1,
    status: "working",
    statusMessage: null,
    progress: null,
    cancelRequested: false,
    createdAt: new Date(Date.UTC(2026, 6, 28)),
    lastUpdatedAt: new Date(Date.UTC(2026, 6, 29)),
    ttlMs: 60_000,
    pollIntervalMs: 1000,
    outcome: null,
    ...overrides,
  };
}

test("a task has the members of the extension, under their names", () => {
  expect(taskJson("handle", task())).toEqual({
    taskId: "handle",
    status: "working",
    createdAt: "2026-07-28T00:00:00.000Z",
    lastUpdatedAt: "2026-07-29T00:00:00.000Z",
    ttlMs: 60_000,
    pollIntervalMs: 1000,
  });
});

test.for<[Partial<Task>, string | undefined]>([
  [{}, undefined],
  [{ progress: { value: 3, total: 10, message: "parsing events" } }, "parsing events (3 of 10)"],
  [{ progress: { value: 3, total: null, message: "parsing events" } }, "parsing events"],
  [{ progress: { value: 3, total: 10, message: null } }, "3 of 10"],
  [{ progress: { value: 3, total: null, message: null } }, undefined],
  [{ progress: { value: 3, total: 10, message: "parsing" }, cancelRequested: true }, "cancellation requested"],
  [{ statusMessage: "kept", progress: { value: 3, total: 10, message: "parsing" } }, "kept"],
  [{ status: "cancelled", cancelRequested: true }, undefined],
])("of %j a person reads %j", ([overrides, sentence]) => {
  expect(taskJson("handle", task(overrides))["statusMessage"]).toBe(sentence);
});

test("only a terminal task has an outcome", () => {
  const result = { content: [] };
  expect(detailedTaskJson("h", task({ status: "completed", outcome: { kind: "result", result } }))).toMatchObject({ result });
  expect(detailedTaskJson("h", task({ status: "cancelled" }))).not.toHaveProperty("error");
  expect(Object.keys(detailedTaskJson("h", task()))).toEqual(Object.keys(taskJson("h", task())));
});
