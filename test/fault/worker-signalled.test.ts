import { expect, test } from "vitest";
import { createTaskWorld, untilValue } from "../support/task-world.ts";
import { isAlive, runWorkerProcess, startWorkerProcess } from "../support/worker-process.ts";

test.each(["SIGTERM", "SIGINT"] as const)(
  "%s drains: the attempt is interrupted at no cost, the exit code is 0, and no child is left",
  async (signal) => {
    await using world = await createTaskWorld();
    await using worker = await startWorkerProcess(world, { HOLDFAST_DRAIN_MS: "500" });
    const id = await world.create("sleep", { ms: 60_000, deaf: true });
    await world.untilRunning(id);
    const children = worker.children();
    worker.signal(signal);
    expect(await worker.exit).toEqual({ code: 0, signal: null });
    expect(await world.attempts(id)).toMatchObject([{ state: "interrupted" }]);
    expect(await world.query("select budget_spent from holdfast.live_task where task_id = $1", [id])).toEqual([{ budget_spent: 0 }]);
    expect(children.filter(isAlive)).toEqual([]);
  },
);

test("a second signal ends the worker at once, in the middle of its drain", async () => {
  await using world = await createTaskWorld();
  await using worker = await startWorkerProcess(world, { HOLDFAST_DRAIN_MS: "60000" });
  const id = await world.create("sleep", { ms: 60_000, deaf: true });
  await world.untilRunning(id);
  const children = worker.children();
  worker.signal("SIGTERM");
  await untilValue(
    () => Promise.resolve(worker.events("process.draining")),
    ({ length }) => length === 1,
    5_000,
  );
  const signalledAt = performance.now();
  worker.signal("SIGTERM");
  expect(await worker.exit).toEqual({ code: 1, signal: null });
  expect(performance.now() - signalledAt).toBeLessThan(2_000);
  await untilValue(
    () => Promise.resolve(children.filter(isAlive)),
    ({ length }) => length === 0,
    5_000,
  );
});

test.each([
  ["without a database URL", {}, "DATABASE_URL is required"],
  ["with a database that is not there", { DATABASE_URL: "postgres://me:hunter2@127.0.0.1:1/x" }, "connection refused"],
  [
    "with a database that it cannot listen to",
    { DATABASE_LISTEN_URL: "postgres://me:hunter2@127.0.0.1:1/x", HOLDFAST_ROOTS: "mods=/mods" },
    "DATABASE_LISTEN_URL is not usable",
  ],
  ["with a pack that does not load", { HOLDFAST_PACKS: "/nowhere" }, "HOLDFAST_PACKS is not usable"],
  ["with slots that are no number", { HOLDFAST_SLOTS: "many" }, "HOLDFAST_SLOTS is not usable"],
])("a worker %s says why in one line and exits with 2", async (_, env: Record<string, string>, complaint) => {
  await using world = await createTaskWorld();
  const base = env["DATABASE_URL"] === undefined && complaint !== "DATABASE_URL is required" ? { DATABASE_URL: world.url } : {};
  const { code, stderr } = await runWorkerProcess({ HOLDFAST_KEYS: world.keys, ...base, ...env });
  expect(code).toBe(2);
  expect(stderr).toContain(complaint);
  expect(stderr.trim().split("\n")).toHaveLength(1);
  expect(stderr).not.toContain("hunter2");
});
