import { expect, test } from "vitest";
import { taskIdOf, toolCall } from "../support/mcp-request.ts";
import { createServerWorld, taskIdIn, type ServerWorld } from "../support/server-world.ts";
import { untilValue } from "../support/task-world.ts";

/** A task that ended and is over its time, in a service without a process. */
async function leftTask(world: ServerWorld): Promise<string> {
  await using node = await world.startNode();
  const handle = taskIdOf(await node.call(toolCall("slow_compute", { label: "left" }, { token: await world.token(), tasks: true })));
  await world.settle(handle);
  const id = taskIdIn(handle);
  await node.stop();
  await world.query("update holdfast.task set created_at = now() - interval '8 days' where id = $1", [id]);
  return id;
}

test.each<["node" | "worker"]>([["node"], ["worker"]])(
  "a %s to which nobody says anything forgets what has ended and is over its time",
  async (kind) => {
    await using world = await createServerWorld();
    const id = await leftTask(world);
    const parts = () =>
      world.query(
        `select id from holdfast.task where id = $1
         union all select task_id from holdfast.task_result where task_id = $1
         union all select task_id from holdfast.task_event where task_id = $1`,
        [id],
      );
    expect((await parts()).length).toBeGreaterThan(2);
    // Whoever starts looks at once, and every half minute from then on.
    await using _alone = kind === "node" ? await world.startNode() : await world.startWorker();
    await untilValue(parts, ({ length }) => length === 0, 15_000);
  },
);
