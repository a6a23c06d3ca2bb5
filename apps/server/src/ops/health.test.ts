import { expect, test } from "vitest";
import { createHealth, type HealthOptions, type Readiness } from "./health.ts";

async function readinessWith(options: Partial<HealthOptions>): Promise<Readiness> {
  const health = createHealth({ checkDatabase: async () => undefined, listenerState: () => "up", isDraining: () => false, ...options });
  return (await health.ready()).readiness;
}

test("a node with a usable database and a listener is ready", async () => {
  expect(await readinessWith({})).toEqual({ status: "ready", database: "usable", listener: "up", draining: false });
});

test("a node without listener is degraded and still serves", async () => {
  expect(await readinessWith({ listenerState: () => "isolated" })).toMatchObject({ status: "degraded", listener: "isolated" });
});

test("a node without a usable database is not ready, and says why to the log only", async () => {
  const cause = new Error("cannot execute INSERT in a read-only transaction");
  const health = createHealth({ checkDatabase: () => Promise.reject(cause), listenerState: () => "up", isDraining: () => false });
  expect(await health.ready()).toEqual({
    readiness: { status: "unready", database: "unusable", listener: "up", draining: false },
    cause,
  });
});

test("a draining node is not ready", async () => {
  expect(await readinessWith({ isDraining: () => true })).toMatchObject({ status: "unready", draining: true });
});

test("a database that hangs makes the node not ready instead of hanging the probe", async () => {
  expect(await readinessWith({ checkDatabase: () => new Promise(() => undefined) })).toMatchObject({ status: "unready" });
});

test("probes share one look at the database for a second", async () => {
  let checks = 0;
  let clock = 0;
  const health = createHealth({
    checkDatabase: async () => {
      checks += 1;
    },
    listenerState: () => "up",
    isDraining: () => false,
    now: () => clock,
  });
  await Promise.all([health.ready(), health.ready()]);
  clock = 1000;
  await health.ready();
  expect(checks).toBe(1);
  clock = 1001;
  await health.ready();
  expect(checks).toBe(2);
});
