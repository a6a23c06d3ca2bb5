import { expect, test } from "vitest";
import { createTaskWorld, untilValue, type TaskWorld } from "../support/task-world.ts";
import { LEASE_MS, startTestWorker } from "../support/test-worker.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { startWorkerProcess } from "../support/worker-process.ts";

test("when renewals vanish, the child is gone before its lease can be taken by another worker", async () => {
  await using world = await createTaskWorld();
  await using wire = await startTcpProxy(world.url);
  await using worker = await startTestWorker(world, { databaseUrl: wire.url, listenUrl: wire.url });
  const id = await world.create("sleep", { ms: 60_000, deaf: true });
  await world.until(id, ({ progress }) => progress !== null, 5_000);
  wire.freeze();
  const deaths = () =>
    worker.events.filter(({ name, event }) => name === "child.exited" && "reason" in event && event.reason.includes("lease"));
  await untilValue(
    () => Promise.resolve(deaths()),
    ({ length }) => length === 1,
    LEASE_MS + 2_000,
  );
  // By the database's clock, which alone decides when somebody else may claim.
  expect(await world.query("select lease_expires_at > now() as held from holdfast.live_task where task_id = $1", [id])).toEqual([
    { held: true },
  ]);
  expect(worker.events.map(({ name }) => name)).toContain("lease.untrusted");
  wire.thaw();
});

test("a worker whose connections are all reset keeps its attempt and settles it", async () => {
  await using world = await createTaskWorld();
  await using wire = await startTcpProxy(world.url);
  await using worker = await startTestWorker(world, { databaseUrl: wire.url, listenUrl: wire.url, leaseMs: 6_000 });
  const id = await world.create("sleep", { ms: 1_500 });
  await world.until(id, ({ progress }) => progress !== null, 5_000);
  wire.cut();
  wire.mend();
  expect(await world.untilTerminal(id, 10_000)).toMatchObject({ status: "completed" });
  expect(await world.attempts(id)).toMatchObject([{ token: 1, state: "succeeded", workerId: worker.id }]);
  const next = await world.create("echo", { text: "still listening for jobs" });
  expect(await world.untilTerminal(next, 15_000)).toMatchObject({ status: "completed" });
});

test.each([
  ["a result", "read", "could not be staged, trying again"],
  ["the outcome of a write", "write", "could not be settled, trying again"],
] as const)("%s that is ready while the database is away is stored when it comes back", async (_, effect, message) => {
  await using world = await createTaskWorld();
  await using wire = await startTcpProxy(world.url);
  await using worker = await startWorkerProcess(world, { DATABASE_URL: wire.url, HOLDFAST_LEASE_MS: "10000" });
  const id = await world.create("sleep", { ms: 1_000, deaf: true }, { effect });
  await world.until(id, ({ progress }) => progress !== null, 5_000);
  wire.cut();
  const retries = () => Promise.resolve(worker.messages(message));
  await untilValue(retries, ({ length }) => length >= 2, 5_000);
  wire.mend();
  expect(await world.untilTerminal(id)).toMatchObject({ status: "completed" });
  expect(await world.attempts(id)).toMatchObject([{ token: 1, state: "succeeded" }]);
});

test("an artifact that meets the database's absence is stored when it comes back, at no cost", async () => {
  await using world = await createTaskWorld();
  await using wire = await startTcpProxy(world.url);
  await using worker = await startWorkerProcess(world, { DATABASE_URL: wire.url, HOLDFAST_LEASE_MS: "20000" });
  // Holds the upload in the database, so that the cut meets it there.
  await using holder = await lockArtifacts(world);
  const id = await world.create("artifact", { sizes: [100_000] });
  const uploads = () =>
    world.query("select from pg_stat_activity where query like '%insert into holdfast.artifact_blob%' and wait_event_type = 'Lock'");
  await untilValue(uploads, ({ length }) => length === 1, 10_000);
  wire.cut();
  const retries = () => Promise.resolve(worker.messages("could not be stored, trying again"));
  await untilValue(retries, ({ length }) => length >= 1, 5_000);
  wire.mend();
  await holder.release();
  expect(await world.untilTerminal(id, 15_000)).toMatchObject({ status: "completed" });
  expect(await world.attempts(id)).toMatchObject([{ token: 1, state: "succeeded" }]);
});

async function lockArtifacts(world: TaskWorld): Promise<AsyncDisposable & { release(): Promise<void> }> {
  const client = await world.database.pool.connect();
  await client.query("begin; lock table holdfast.artifact_blob in exclusive mode");
  let released: Promise<void> | null = null;
  const release = () => (released ??= client.query("rollback").then(() => client.release()));
  return { release, [Symbol.asyncDispose]: release };
}
