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
    attempt: null,
    inputRequests: {},
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

const roots = { method: "roots/list" as const, params: {} };

test("a task that waits shows its open questions, and no other task shows any", () => {
  expect(detailedTaskJson("h", task({ status: "input_required", inputRequests: { where: roots } }))).toMatchObject({
    status: "input_required",
    inputRequests: { where: roots },
  });
  expect(detailedTaskJson("h", task({ inputRequests: { where: roots } }))).not.toHaveProperty("inputRequests");
});

test.for<unknown>([
  {},
  { "a key": roots },
  { where: { method: "ping", params: {} } },
  { where: { method: "elicitation/create", params: { message: "?" } } },
  { where: { method: "elicitation/create", params: { mode: "url", message: "?", url: "not a url" } } },
  { where: { method: "sampling/createMessage", params: { messages: "none", maxTokens: 1 } } },
  { where: { ...roots, result: {} } },
])("stored questions that are %j are never delivered", (inputRequests) => {
  expect(() => detailedTaskJson("h", task({ status: "input_required", inputRequests: inputRequests as Task["inputRequests"] }))).toThrow(
    expect.objectContaining({ code: "internal" }),
  );
});
