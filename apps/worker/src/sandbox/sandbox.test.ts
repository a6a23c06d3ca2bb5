import { expect, test, vi } from "vitest";
import { registerPacks } from "@holdfast/core";
import { startHostileSandbox, type HostileSandbox } from "../testing/hostile-sandbox.ts";
import { createSandbox } from "./sandbox.ts";
import * as manifest from "../../../../test/fixtures/packs/hostile/manifest.ts";

test("an operation runs with the defaults that its schema fills in", async () => {
  await using hostile = await startHostileSandbox();
  expect(await hostile.text("echo", { text: "hello" })).toBe("hello");
});

test("a child has nothing of the worker's environment", async () => {
  vi.stubEnv("DATABASE_URL", "postgres://secret");
  await using hostile = await startHostileSandbox();
  vi.unstubAllEnvs();
  expect(JSON.parse(await hostile.text("environment"))).toEqual({ TZ: "UTC", LANG: "C.UTF-8" });
});

test("one child runs many operations, one after the other", async () => {
  await using hostile = await startHostileSandbox({ slots: 1 });
  const first = await hostile.text("identify");
  expect(await hostile.text("identify")).toBe(first);
});

test("operations run side by side, each in a child of its own", async () => {
  await using hostile = await startHostileSandbox({ slots: 3 });
  const waiting = [1, 2, 3].map(() => hostile.start("sleep", { ms: 60_000 }));
  const pids = () => hostile.events.filter(({ name }) => name === "child.spawned").length;
  await vi.waitFor(() => expect(pids()).toBeGreaterThanOrEqual(4), 5_000);
  expect(await hostile.text("echo", { text: "beside them" })).toBe("beside them");
  for (const run of waiting) run.abort("cancelled");
  expect(await Promise.all(waiting.map(({ outcome }) => outcome))).toMatchObject([1, 2, 3].map(() => ({ kind: "stopped" })));
});

test("while the last warm child works, a spare one is started: a kill costs nobody the time of a spawn", async () => {
  await using hostile = await startHostileSandbox({ slots: 1 });
  const spawned = () => hostile.events.filter(({ name }) => name === "child.spawned").length;
  expect(spawned()).toBe(1);
  const run = await startSleep(hostile, { ms: 60_000 });
  await vi.waitFor(() => expect(spawned()).toBe(2), 5_000);
  run.abort("cancelled");
  await run.outcome;
});

test("a child whose operation threw is not used again: nobody knows what it left half done", async () => {
  await using hostile = await startHostileSandbox({ slots: 1 });
  const pid = await hostile.text("identify");
  await hostile.run("fail", { message: "x" });
  expect(await hostile.text("identify")).not.toBe(pid);
});

test("children that somebody kills while they wait are replaced, and the sandbox does not call itself ill for long", async () => {
  await using hostile = await startHostileSandbox({ slots: 1 });
  const first = await startSleep(hostile, { ms: 1_000 });
  const waiting = Number(await hostile.text("identify"));
  await first.outcome;
  process.kill(waiting, "SIGKILL");
  const isGone = () => hostile.events.some(({ name, event }) => name === "child.exited" && "pid" in event && event.pid === waiting);
  await vi.waitFor(() => expect(isGone()).toBe(true), 5_000);
  await hostile.sandbox.whenHealthy(AbortSignal.timeout(60_000));
  expect(await hostile.text("echo", { text: "still here" })).toBe("still here");
});

test("progress comes merged, strictly increasing, and as plain data", async () => {
  await using hostile = await startHostileSandbox();
  await hostile.text("progress", { values: [1, 2, 2, 1, 3, 50, 49, 99] });
  const values = hostile.progress.map(({ value }) => value);
  expect(values).toEqual([1, 99]);
  expect(hostile.progress[0]).toMatchObject({ total: 100 });
});

test("a handler that throws gives its error as data, with what caused it", async () => {
  await using hostile = await startHostileSandbox();
  const outcome = await hostile.run("fail", { message: "no such tag" });
  expect(outcome).toMatchObject({ kind: "threw", error: { name: "TypeError", message: "no such tag" } });
  expect(outcome.kind === "threw" && outcome.error.stack).toContain("caused by: Error: underneath");
});

test("input that the operation's schema refuses never reaches its handler", async () => {
  await using hostile = await startHostileSandbox();
  expect(await hostile.run("echo", { text: 7 })).toMatchObject({ kind: "threw", error: { name: "ZodError" } });
});

test("artifacts arrive byte for byte, empty ones too, and several at once", async () => {
  await using hostile = await startHostileSandbox();
  const outcome = await hostile.run("artifact", { sizes: [0, 1, 262_144, 700_001], together: true });
  expect(hostile.artifacts.map(({ bytes, name }) => ({ name, size: bytes.length, filled: bytes.at(-1) ?? null }))).toEqual([
    { name: "part-0.bin", size: 0, filled: null },
    { name: "part-1.bin", size: 1, filled: 2 },
    { name: "part-2.bin", size: 262_144, filled: 3 },
    { name: "part-3.bin", size: 700_001, filled: 4 },
  ]);
  if (outcome.kind !== "result") throw new Error(JSON.stringify(outcome));
  const links = outcome.result.content.filter(({ type }) => type === "resource_link");
  expect(links.map((link) => ("uri" in link ? link.uri : ""))).toEqual(
    outcome.artifacts.map(({ sha256, name }) => `holdfast://workspace/current/artifact/${sha256}/${name}`),
  );
});

test("an operation is told when its artifacts exceed their limit, and goes on", async () => {
  await using hostile = await startHostileSandbox();
  const outcome = await hostile.run("artifact", { sizes: [4 * 1024 * 1024, 1] });
  expect(outcome).toMatchObject({ kind: "threw", error: { name: "RangeError" } });
  expect(hostile.artifacts).toHaveLength(1);
});

test("an artifact that a newer attempt keeps from being stored ends the run", async () => {
  await using hostile = await startHostileSandbox();
  const outcome = await hostile.run("artifact", { sizes: [10] }, { storeArtifact: () => Promise.resolve({ kind: "refused" }) });
  expect(outcome).toMatchObject({ kind: "stopped", by: "lost" });
});

test("a store that fails is not blamed on the operation", async () => {
  await using hostile = await startHostileSandbox();
  const outcome = await hostile.run("artifact", { sizes: [10] }, { storeArtifact: () => Promise.reject(new Error("no connection")) });
  expect(outcome).toMatchObject({ kind: "storage" });
});

test("an operation that heeds its signal stops at once when it is cancelled", async () => {
  await using hostile = await startHostileSandbox();
  const run = await startSleep(hostile, { ms: 60_000 });
  run.abort("cancelled");
  expect(await run.outcome).toMatchObject({ kind: "stopped", by: "cancelled" });
  expect(hostile.events.some(({ event }) => "reason" in event && event.reason.includes("did not stop"))).toBe(false);
});

test("an operation that is deaf to its signal is killed after the grace period", async () => {
  await using hostile = await startHostileSandbox();
  const run = await startSleep(hostile, { ms: 60_000, deaf: true });
  run.abort("cancelled");
  expect(await run.outcome).toMatchObject({ kind: "stopped", by: "cancelled" });
  await vi.waitFor(() =>
    expect(hostile.events).toContainEqual(
      expect.objectContaining({ event: expect.objectContaining({ reason: expect.stringContaining("did not stop") as string }) as object }),
    ),
  );
});

test("a run that is stopped before it has a child never starts", async () => {
  await using hostile = await startHostileSandbox();
  const run = hostile.start("progress", { values: [1] });
  run.abort("drain");
  expect(await run.outcome).toMatchObject({ kind: "stopped", by: "drain" });
  expect(hostile.progress).toEqual([]);
});

test("a result that is there before the wish to stop is heard stands", async () => {
  await using hostile = await startHostileSandbox();
  const run = await startSleep(hostile, { ms: 200, deaf: true });
  run.abort("cancelled");
  expect(await run.outcome).toMatchObject({ kind: "result" });
});

test("a cancellation during a drain counts, a drain during a cancellation does not", async () => {
  await using hostile = await startHostileSandbox();
  for (const [first, second] of [
    ["drain", "cancelled"],
    ["cancelled", "drain"],
  ] as const) {
    const run = await startSleep(hostile, { ms: 60_000, deaf: true });
    run.abort(first);
    run.abort(second);
    expect(await run.outcome).toMatchObject({ kind: "stopped", by: "cancelled" });
  }
});

test.each([{ deaf: false }, { deaf: true }])(
  "a run that exceeds its time limit is over, whether or not it is deaf: $deaf",
  async ({ deaf }) => {
    await using hostile = await startHostileSandbox();
    expect(await hostile.run("overrun", { deaf })).toMatchObject({ kind: "stopped", by: "timeout" });
  },
);

test("an operation in another version than the child has is not run", async () => {
  await using hostile = await startHostileSandbox();
  const outcome = await hostile.run("echo", { text: "x" }, { operation: { ...manifest.identify, name: "hostile.echo", version: 2 } });
  expect(outcome).toMatchObject({ kind: "unknown" });
});

test("a pack that does not load is reported with its reason", async () => {
  const sandbox = createSandbox({
    packs: ["/nowhere/at-all"],
    roots: [],
    operations: registerPacks([manifest.pack]),
    slots: 1,
    telemetry: { emit: () => undefined },
  });
  await expect(sandbox.start()).rejects.toMatchObject({
    cause: { message: expect.stringContaining("/nowhere/at-all/manifest.ts") as string },
  });
  await sandbox.close();
});

/** Starts an operation that reports as soon as it runs, and waits for that. */
async function startSleep(hostile: HostileSandbox, input: { ms: number; deaf?: boolean }) {
  hostile.progress.length = 0;
  const run = hostile.start("sleep", input);
  await vi.waitFor(() => expect(hostile.progress).toHaveLength(1), 5_000);
  return run;
}
