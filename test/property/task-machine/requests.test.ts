import fc from "fast-check";
import { test } from "vitest";
import { abandon, cancel, create, find, update } from "./client-steps.ts";
import { compareStores, timeoutMs } from "./compare-stores.ts";
import { openPostgresSide } from "./postgres-side.ts";
import { races } from "./races.ts";
import { TimePasses } from "./step.ts";
import { workerSteps } from "./worker-steps.ts";

test("Postgres and the in-memory store answer every sequence of requests alike", { timeout: timeoutMs }, async () => {
  await using side = await openPostgresSide();
  const { claim, stage, settle, pass, reap, expire } = workerSteps(side.artifact);
  const time = fc.constantFrom(5, 10, 20, 60).map((minutes) => new TimePasses(minutes));
  const often = [create, create, create, create, create, claim, claim, pass, pass, pass, settle];
  await compareStores(side, [
    ...often,
    update,
    update,
    cancel,
    abandon,
    abandon,
    find,
    stage,
    reap,
    expire,
    time,
    time,
    races(side.artifact),
  ]);
});
