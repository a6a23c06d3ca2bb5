import fc from "fast-check";
import { test } from "vitest";
import { abandon, again, cancel, create, find, permit, update } from "./client-steps.ts";
import { compareStores, timeoutMs } from "./compare-stores.ts";
import { openPostgresSide } from "./postgres-side.ts";
import { races } from "./races.ts";
import { TimePasses } from "./step.ts";
import { workerSteps } from "./worker-steps.ts";

test("Postgres and the in-memory store answer every sequence of requests alike", { timeout: timeoutMs }, async () => {
  await using side = await openPostgresSide();
  const { claim, settle, work, publish, serve, reap, expire, endUnanswered } = workerSteps(side.artifact);
  const time = fc.constantFrom(5, 10, 20, 60).map((minutes) => new TimePasses(minutes));
  const often = [create, create, again, again, again, again, work, work, work, publish, serve, serve, settle, update, update, time, time];
  await compareStores(side, [...often, claim, cancel, abandon, abandon, find, reap, expire, endUnanswered, permit, races(side.artifact)]);
});
