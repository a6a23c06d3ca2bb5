import { expect, test } from "vitest";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { createTaskWorld, untilValue } from "../support/task-world.ts";
import { startWorkerProcess } from "../support/worker-process.ts";

test("a worker whose queue could not take note of finished jobs fetches the next ones and can still be drained", async () => {
  await using world = await createTaskWorld();
  await using wire = await startTcpProxy(world.url);
  // Only the queue goes over the wire; attempts are settled past it.
  await using worker = await startWorkerProcess(world, { DATABASE_LISTEN_URL: wire.url, HOLDFAST_SLOTS: "4" });
  const longest = await world.create("sleep", { ms: 60_000 });
  const others = await Promise.all([1_000, 1_150, 1_300].map((ms) => world.create("sleep", { ms })));
  for (const id of [longest, ...others]) await world.untilRunning(id);
  wire.freeze();
  for (const id of others) expect(await world.untilTerminal(id)).toMatchObject({ status: "completed" });
  // Several notes fail while they are under way, and an attempt outlives them: the queue by itself would now wait for ever.
  wire.cut();
  const failures = () => Promise.resolve(worker.messages("Failed to complete jobs"));
  await untilValue(failures, ({ length }) => length === others.length, 5_000);
  wire.thaw();
  wire.mend();
  const next = await world.create("echo", { text: "still fetching jobs" });
  expect(await world.untilTerminal(next, 15_000)).toMatchObject({ status: "completed" });
  expect(await world.find(longest)).toMatchObject({ status: "working" });
  await world.cancel(longest);
  worker.signal("SIGTERM");
  expect(await worker.exit).toEqual({ code: 0, signal: null });
});

test("a worker that holds fetched jobs when its queue breaks lives on", async () => {
  await using world = await createTaskWorld();
  await using wire = await startTcpProxy(world.url);
  await using worker = await startWorkerProcess(world, { DATABASE_LISTEN_URL: wire.url, HOLDFAST_SLOTS: "1" });
  for (let round = 0; round < 5; round += 1) {
    const ids = await Promise.all(Array.from({ length: 20 }, () => world.create("echo", { text: "" })));
    const settled = () => Promise.resolve(worker.events("attempt.settled"));
    await untilValue(settled, ({ length }) => length > round * 20, 10_000);
    wire.cut();
    wire.mend();
    for (const id of ids) expect(await world.untilTerminal(id, 20_000)).toMatchObject({ status: "completed" });
  }
  worker.signal("SIGTERM");
  expect(await worker.exit).toEqual({ code: 0, signal: null });
});

test("a drain gives back the jobs at hand without an error", async () => {
  await using world = await createTaskWorld();
  for (const ms of [1_000, 0, 0]) await world.create("sleep", { ms });
  await using worker = await startWorkerProcess(world, { HOLDFAST_SLOTS: "1" });
  await untilValue(
    () => Promise.resolve(worker.events("attempt.claimed")),
    ({ length }) => length === 1,
    10_000,
  );
  worker.signal("SIGTERM");
  expect(await worker.exit).toEqual({ code: 0, signal: null });
  expect(worker.messages("").filter(({ level }) => level === "error")).toEqual([]);
  // Two that waited, and that of the attempt which was interrupted.
  expect(await world.query("select count(*)::int as jobs from graphile_worker.jobs where locked_at is null")).toEqual([{ jobs: 3 }]);
});
