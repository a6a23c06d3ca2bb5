import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { taskIdFrom, taskIdSchema } from "@holdfast/core";
import type { Key } from "@holdfast/process";
import { createTaskHandles, type HandleScope } from "./handles.ts";

const taskId = taskIdSchema.parse("019b76da-a800-7707-8707-070707070707");
const address = { workspaceId: "current", taskId };
const scope: HandleScope = { generation: "m", principal: { issuer: "https://id.example", subject: "alice" } };

function key(id: string): Key {
  return { id, secret: randomBytes(32) };
}

test("a handle opens for whom it was given, on every node with the key", () => {
  const keys = [key("k1")];
  const handle = createTaskHandles(keys).sign(scope, address);
  expect(createTaskHandles(keys).open(scope, handle)).toEqual(address);
});

test("a handle stays within the characters that an HTTP header carries as they are", () => {
  expect(createTaskHandles([key("k1")]).sign(scope, address)).toMatch(/^[A-Za-z0-9._-]{1,200}$/u);
});

test("changing, adding or leaving out any character gives no task", () => {
  const handles = createTaskHandles([key("k1"), key("k2")]);
  const handle = handles.sign(scope, address);
  const characters = ["A", "a", "1", "2", "b", "-", "_", ".", "=", "é"];
  const alterations = Array.from(handle, (original, index) => {
    const [before, after] = [handle.slice(0, index), handle.slice(index + 1)];
    return [
      before + after,
      ...characters.map((character) => before + character + original + after),
      ...characters.filter((character) => character !== original).map((character) => before + character + after),
    ];
  }).flat();
  const opened = [...alterations, `${handle} `, `${handle}\n`].filter((altered) => handles.open(scope, altered) !== null);
  expect(opened).toEqual([]);
});

test("every spelling of the signature but one is refused", () => {
  const handles = createTaskHandles([key("k1")]);
  const handle = handles.sign(scope, address);
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const opened = Array.from(alphabet).filter((character) => handles.open(scope, handle.slice(0, -1) + character) !== null);
  expect(opened).toEqual([handle.at(-1)]);
});

test.for([
  ["another subject", { issuer: "https://id.example", subject: "bob" }],
  ["another issuer", { issuer: "https://id.example/", subject: "alice" }],
  ["the same letters split elsewhere", { issuer: "https://id.exampl", subject: "ealice" }],
] as const)("a handle is unknown to %s", ([, principal]) => {
  const handles = createTaskHandles([key("k1")]);
  expect(handles.open({ generation: "m", principal }, handles.sign(scope, address))).toBeNull();
});

test("a signature does not move to another workspace or task", () => {
  const handles = createTaskHandles([key("k1")]);
  const handle = handles.sign(scope, address);
  const otherTask = taskIdFrom({ unixMs: Date.UTC(2026, 0, 1), random: new Uint8Array(10).fill(8) });
  expect(handles.open(scope, handle.replace(".current.", ".other."))).toBeNull();
  expect(handles.open(scope, handle.replace(taskId, otherTask))).toBeNull();
});

test("rotating keeps older handles alive while their key is listed, and new ones are signed with the first", () => {
  const [older, newer] = [key("older"), key("newer")];
  const handle = createTaskHandles([older]).sign(scope, address);
  const rotated = createTaskHandles([newer, older]);
  expect(rotated.open(scope, handle)).toEqual(address);
  expect(createTaskHandles([newer]).open(scope, rotated.sign(scope, address))).toEqual(address);
  expect(createTaskHandles([newer]).open(scope, handle)).toBeNull();
});

test("two keys of one id do not open each other's handles", () => {
  expect(createTaskHandles([key("k1")]).open(scope, createTaskHandles([key("k1")]).sign(scope, address))).toBeNull();
});

// Computed outside of this code, with Python's hmac: a change here would orphan every handle that clients hold.
test("the form of a handle is pinned", () => {
  const handles = createTaskHandles([{ id: "k1", secret: new Uint8Array(32) }]);
  expect(handles.sign(scope, address)).toBe(
    "m.k1.current.019b76da-a800-7707-8707-070707070707.Ylm02pRflnWM2z9Z7E5Ey4TJxkbEKZ-Px6EAYxl7rUY",
  );
});
