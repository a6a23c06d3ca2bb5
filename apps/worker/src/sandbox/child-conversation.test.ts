import { createHash } from "node:crypto";
import { defineOperation, type KeepAnswer } from "@holdfast/core";
import { expect, test } from "vitest";
import { z } from "zod";
import { createByteGate } from "./byte-gate.ts";
import { converse } from "./child-conversation.ts";
import { ChildViolation, type ChildEnd, type ChildListener, type ChildProcess } from "./child-process.ts";
import type { ChildFrame, ParentFrame } from "./frames.ts";
import type { LeftBehind, OperationJob, ReceivedArtifact, ReceivedPlan, TransactionAnswer } from "./operation-job.ts";

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
function startConversation(
  limits: { artifactBytes?: number } = {},
  {
    effect = "read",
    left = {},
    keep = () => Promise.resolve("kept"),
    transact = () => Promise.resolve({ kind: "committed" }),
  }: {
    effect?: "read" | "write";
    left?: Partial<LeftBehind>;
    keep?: () => Promise<KeepAnswer>;
    transact?: OperationJob["transact"];
  } = {},
) {
  const kept: string[] = [];
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
    effect,
    asks: ["roots/list"],
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
      left: { checkpoint: null, steps: [], inputs: [], ...left },
      saveCheckpoint(text) {
        kept.push(text);
        return keep();
      },
      saveStep(key, text) {
        kept.push(`${key}: ${text}`);
        return keep();
      },
      transact,
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
    kept,
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

const checkpoint: ChildFrame = { kind: "checkpoint.save", run: RUN, value: { b: [1], a: "\u0000" } };
const step: ChildFrame = { kind: "step.save", run: RUN, key: "s", value: 1 };
const suspend: ChildFrame = { kind: "suspend", run: RUN, requests: { k: { method: "roots/list", params: {} } } };
const plan: ChildFrame = {
  kind: "transaction",
  run: RUN,
  result: { content: [] },
  files: [
    { path: "a", expectedSha256: null, size: 4 },
    { path: "gone", expectedSha256: sha256(content), size: null },
    { path: "empty", expectedSha256: null, size: 0 },
    { path: "b", expectedSha256: null, size: 6 },
  ],
};

test("a checkpoint and a step are kept as JSON texts, one at a time, and acknowledged when they are durable", async () => {
  const answer = Promise.withResolvers<KeepAnswer>();
  const child = startConversation({}, { keep: () => answer.promise });
  child.says(checkpoint);
  await turn();
  expect(child.sent.map(({ kind }) => kind)).toEqual(["run"]);
  expect(() => child.says(step)).toThrow(/in the middle of "checkpoint.save"/u);
  answer.resolve("kept");
  await turn();
  expect(child.sent.at(-1)).toEqual({ kind: "kept", run: RUN });
  child.says(step);
  expect(child.kept).toEqual(['{"b":[1],"a":"\\u0000"}', "s: 1"]);
});

test.each<[string, ChildFrame]>([
  ["checkpoint", checkpoint],
  ["step", step],
])("a %s that a newer attempt keeps from being stored ends the run", async (_, frame) => {
  const child = startConversation({}, { keep: () => Promise.resolve("refused") });
  child.says(frame);
  expect(await child.end).toEqual({ kind: "refused" });
});

test("a plan arrives with the bytes of each file, and the child learns how it ended", async () => {
  const plans: ReceivedPlan[] = [];
  const transact = (received: ReceivedPlan): Promise<TransactionAnswer> => {
    plans.push(received);
    return Promise.resolve({ kind: "conflict", paths: ["a"] });
  };
  const child = startConversation({}, { effect: "write", transact });
  child.says(plan);
  await turn();
  expect(child.sent.at(-1)).toEqual({ kind: "admitted", run: RUN });
  child.sends(content);
  await turn();
  expect(
    plans.flatMap(({ files }) => files.map(({ path, bytes }) => [path, bytes === null ? null : Buffer.from(bytes).toString()])),
  ).toEqual([
    ["a", "ten "],
    ["gone", null],
    ["empty", ""],
    ["b", "bytes."],
  ]);
  expect(child.sent.at(-1)).toEqual({ kind: "transaction.ended", run: RUN, outcome: { kind: "conflict", paths: ["a"] } });
});

test("a plan with a result that cannot be delivered is not carried out", async () => {
  const child = startConversation({}, { effect: "write", transact: () => Promise.reject(new Error("not to be called")) });
  child.says({ ...plan, result: { content: "none" }, files: [] });
  await turn();
  expect(child.sent.at(-1)).toMatchObject({ kind: "transaction.ended", outcome: { kind: "rejected" } });
});

test.each<[TransactionAnswer, unknown]>([
  [{ kind: "lost" }, { kind: "refused" }],
  [
    { kind: "postponed", detail: "busy" },
    { kind: "postponed", detail: "busy" },
  ],
  [
    { kind: "unresolved", detail: "who knows" },
    { kind: "unresolved", detail: "who knows" },
  ],
])("a plan that ends with %j ends the run", async (answer, end) => {
  const child = startConversation({}, { effect: "write", transact: () => Promise.resolve(answer) });
  child.says({ ...plan, files: [] });
  expect(await child.end).toEqual(end);
});

test("new questions end the run", async () => {
  const child = startConversation();
  child.says(suspend);
  expect(await child.end).toEqual({ kind: "suspended", requests: { k: { method: "roots/list", params: {} } } });
});

test.each<[string, ChildFrame, Parameters<typeof startConversation>[1], number?]>([
  ["a checkpoint that is too large", checkpoint, {}, 8 * 1024 * 1024 + 1_025],
  ["a step that is too large", step, {}, 8 * 1024 * 1024 + 1_025],
  ["progress that is too large", progress, {}, 64 * 1024 + 1],
  [
    "one step more than a task may have",
    step,
    { left: { steps: Array.from({ length: 1_000 }, (_, index) => ({ key: String(index), text: "1" })) } },
  ],
  ["steps that are too large together", step, { left: { steps: [{ key: "k", text: "x".repeat(34 * 1024 * 1024) }] } }],
  ["a plan of an operation that reads", plan, { effect: "read" }],
  ["a plan that leads out of the workspace", { ...plan, files: [{ path: "../a", expectedSha256: null, size: 1 }] }, { effect: "write" }],
  ["a plan of too many bytes", { ...plan, files: [{ path: "a", expectedSha256: null, size: 2 ** 26 + 1 }] }, { effect: "write" }],
  ["waiting for nothing", { ...suspend, requests: {} }, {}],
  ["waiting for what was asked before", suspend, { left: { inputs: [{ key: "k", method: "roots/list", params: {}, answer: {} }] } }],
  ["a question that the manifest does not list", { ...suspend, requests: { k: { method: "elicitation/create", params: {} } } }, {}],
])("%s is a violation", (_, frame, options, bytes = 100) => {
  const child = startConversation({}, options);
  expect(() => child.says(frame, bytes)).toThrow(ChildViolation);
});
