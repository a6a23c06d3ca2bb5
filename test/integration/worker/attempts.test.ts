import { expect, test } from "vitest";
import { createTaskWorld } from "../../support/task-world.ts";
import { startTestWorker } from "../../support/test-worker.ts";

test("a task is claimed, run and completed with the exact result of its operation", async () => {
  await using world = await createTaskWorld();
  await using worker = await startTestWorker(world);
  const id = await world.create("echo", { text: "héllo \\ud800 \u0001" });
  const task = await world.untilTerminal(id);
  expect(task).toMatchObject({
    status: "completed",
    outcome: { kind: "result", result: { content: [{ type: "text", text: "héllo \\ud800 \u0001" }] } },
  });
  expect(await world.attempts(id)).toMatchObject([{ token: 1, workerId: worker.id, state: "succeeded" }]);
  expect(await world.events(id)).toEqual(["task.created", "attempt.claimed", "task.completed"]);
});
