import { test } from "vitest";
import { cancel, create, update } from "./client-steps.ts";
import { compareStores, timeoutMs } from "./compare-stores.ts";
import { openPostgresSide } from "./postgres-side.ts";
import { races } from "./races.ts";
import { workerSteps } from "./worker-steps.ts";

test("Postgres and the in-memory store judge every sequence of attempts alike", { timeout: timeoutMs }, async () => {
  await using side = await openPostgresSide();
  const worker = workerSteps(side.artifact);
  const { claim, renew, checkpoint, step, stage, settle, pass, bind, move, read, reap } = worker;
  const often = [claim, claim, claim, claim, settle, settle, settle, settle, reap, reap, pass, pass];
  await compareStores(side, [
    ...often,
    create,
    update,
    update,
    cancel,
    renew,
    checkpoint,
    step,
    stage,
    bind,
    move,
    move,
    read,
    races(side.artifact),
  ]);
});
