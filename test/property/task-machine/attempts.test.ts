import { test } from "vitest";
import { cancel, create, permit, update } from "./client-steps.ts";
import { compareStores, timeoutMs } from "./compare-stores.ts";
import { openPostgresSide } from "./postgres-side.ts";
import { races } from "./races.ts";
import { workerSteps } from "./worker-steps.ts";

test("Postgres and the in-memory store judge every sequence of attempts alike", { timeout: timeoutMs }, async () => {
  await using side = await openPostgresSide();
  const { claim, renew, checkpoint, step, stage, unstage, settle, work, publish, bind, move, read, reap, lose } = workerSteps(
    side.artifact,
  );
  const often = [create, create, create, work, work, work, work, work, publish, settle, settle, settle, claim, reap, lose, update, update];
  await compareStores(side, [
    ...often,
    cancel,
    renew,
    checkpoint,
    step,
    stage,
    unstage,
    bind,
    move,
    move,
    read,
    permit,
    races(side.artifact),
  ]);
});
