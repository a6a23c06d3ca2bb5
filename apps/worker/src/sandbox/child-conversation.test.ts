import { createHash } from "node:crypto";
import { defineOperation } from "@holdfast/core";
import { expect, test } from "vitest";
import { z } from "zod";
import { createByteGate } from "./byte-gate.ts";
import { converse } from "./child-conversation.ts";
import { ChildViolation, type ChildEnd, type ChildListener, type ChildProcess } from "./child-process.ts";
import type { ChildFrame, ParentFrame } from "./frames.ts";
import type { ReceivedArtifact } from "./operation-job.ts";

const RUN = 7;
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const content = Buffer.from("ten bytes.");
const announcement: ChildFrame = {
  kind: "artifact",
  run: RUN,
  name: "a.bin",
  mimeType: "x/y",
  title: null,
  size: 10,
  sha256: sha256(content),
};
const result: ChildFrame = { kind: "result", run: RUN, reusable: true, result: { content: [] } };
const progress: ChildFrame = { kind: "progress", run: RUN, value: 1, total: null, message: null };

/** A conversation whose child says what the test says. */
function startConversation(limits: { artifactBytes?: number } = {}) {
  const sent: ParentFrame[] = [];
  const stored: ReceivedArtifact[] = [];
  const kills: string[] = [];
  let listener: ChildListener | null = null;
  const child: ChildProcess = {
    pid: 1,
    memoryMiB: 1,
    ready: Promise.resolve(),
    ended: new Promise<ChildEnd>(() => undefined),
    isUsable: true,
    send: (frame) => void sent.push(frame),
    listen: (next) => void (listener = next),
    kill: (reason) => void kills.push(reason),
    output: () => "",
    residentBytes: () => null,
  };
  const operation = defineOperation({
    name: "test.run",
    version: 1,
    title: "",
    description: "",
    input: z.object({ workspaceId: z.string() }),
    effect: "read",
    limits: { artifactBytes: 100, timeoutMs: 1_000, resultBytes: 1_000, ...limits },
  });
  const { end } = converse({
    child,
    run: RUN,
    gate: createByteGate(1_000),
    job: {
      operation,
      input: {},
      workspace: { id: "current", root: "/", path: "", revision: "r" },
      left: { checkpoint: null, steps: [], inputs: [] },
      saveCheckpoint: () => Promise.resolve("kept"),
      saveStep: () => Promise.resolve("kept"),
      transact: () => Promise.resolve({ kind: "committed" }),
      onProgress: () => undefined,
      storeArtifact(file) {
        stored.push(file);
        return Promise.resolve({ kind: "stored", sha256: sha256(file.bytes) });
      },
    },
  });
  const heard = () => {
    if (listener === null) throw new Error("nobody listens to the child");
    return listener;
  };
  return {
    sent,
    stored,
    kills,
    end,
    says: (frame: ChildFrame, bytes = 100) => heard().onFrame(frame, bytes),
    sends: (bytes: Buffer) => heard().onBytes(bytes),
    allowedBytes: () => heard().maxBytes("bytes"),
    isHeard: () => listener !== null,
  };
}

/** Lets the promises that are due settle. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

test("an artifact is announced, admitted, sent, stored and acknowledged, and then the result counts", async () => {
  const child = startConversation();
  child.says(announcement);
  await turn();
  expect(child.sent.at(-1)).toEqual({ kind: "admitted", run: RUN });
  child.sends(content.subarray(0, 4));
  child.sends(content.subarray(4));
  await turn();
  expect(child.stored.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(["ten bytes."]);
  expect(child.sent.at(-1)).toEqual({ kind: "kept", run: RUN });
  child.says(result);
  expect(await child.end).toEqual(result);
  expect(child.isHeard()).toBe(false);
});

test.each([
  ["bytes before they are admitted", (child) => child.sends(content)],
  ["more bytes than announced", (child) => announced(child, () => child.sends(Buffer.alloc(11)))],
  ["empty pieces, which would never end", (child) => announced(child, () => child.sends(Buffer.alloc(0)))],
  ["a second artifact in the middle of the first", (child) => announced(child, () => child.says(announcement))],
  ["a result in the middle of an artifact", (child) => announced(child, () => child.says(result))],
  ["an artifact beyond the operation's limit", (child) => child.says({ ...announcement, size: 101 })],
  ["the result of another run", (child) => child.says({ ...result, run: RUN + 1 })],
  ["progress of another run", (child) => child.says({ ...progress, run: RUN - 1 })],
  ["being ready again", (child) => child.says({ kind: "ready" })],
] satisfies [string, (child: ReturnType<typeof startConversation>) => void | Promise<void>][])("%s is a violation", async (_, says) => {
  const child = startConversation();
  await expect((async () => says(child))()).rejects.toThrow(ChildViolation);
});

async function announced(child: ReturnType<typeof startConversation>, next: () => void): Promise<void> {
  child.says(announcement);
  await turn();
  next();
}

test("artifacts share one limit", async () => {
  const child = startConversation({ artifactBytes: 19 });
  child.says(announcement);
  await turn();
  child.sends(content);
  await turn();
  expect(() => child.says(announcement)).toThrow(/where 9 are left/u);
});

test("frames of bytes are refused by their header until an artifact is admitted", async () => {
  const child = startConversation();
  expect(child.allowedBytes()).toBe(0);
  child.says(announcement);
  await turn();
  expect(child.allowedBytes()).toBeGreaterThan(0);
});

test("bytes that do not have the announced digest are not acknowledged, and end the child", async () => {
  const child = startConversation();
  child.says(announcement);
  await turn();
  child.sends(Buffer.from("ten bytes?"));
  await turn();
  expect(child.kills).toHaveLength(1);
  expect(child.sent.at(-1)).toEqual({ kind: "admitted", run: RUN });
});

test("endless progress is a violation once it amounts to more than an operation may say", () => {
  const child = startConversation();
  expect(() => {
    for (let said = 0; said < 2 * 1024 * 1024; said += 10_000) child.says(progress, 10_000);
  }).toThrow(ChildViolation);
});
