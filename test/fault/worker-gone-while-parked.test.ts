import { expect, test } from "vitest";
import { createTaskWorld, textOf, untilValue } from "../support/task-world.ts";
import { startTestWorker } from "../support/test-worker.ts";
import { isAlive, startWorkerProcess } from "../support/worker-process.ts";

const question = { method: "elicitation/create", params: { message: "Sure?", requestedSchema: { type: "object" } } } as const;
const yes = { key: "sure", method: "elicitation/create", answer: { action: "accept", content: {} } } as const;

test("a task that waits for its client outlives its worker, needs none to be answered, and is resumed once", async () => {
  await using world = await createTaskWorld();
  const id = await world.create("durable.ask", { rounds: [{ sure: question }] });
  const ref = { id, principal: world.principal };
  {
    await using asked = await startWorkerProcess(world);
    await world.until(id, ({ status }) => status === "input_required", 15_000);
    // Waiting costs no process: the one that has asked is gone, whatever becomes of its worker.
    const [spawned] = asked.events("child.spawned");
    await untilValue(
      () => Promise.resolve(asked.events("child.exited").map((line) => line["reason"])),
      (reasons) => reasons.includes("its operation ended as suspended"),
      10_000,
    );
    const exited = asked.events("child.exited").map((line) => Number(line["pid"]));
    expect(exited.filter(isAlive)).toEqual([]);
    expect(exited).toContain(Number(spawned?.["pid"]));
    asked.signal("SIGKILL");
    await asked.exit;
  }
  // Nobody takes it for lost: there is no lease that could run out.
  {
    await using idle = await startTestWorker(world);
    const other = await world.create("hostile.echo", { text: "done" });
    await world.untilTerminal(other);
    expect(idle.events.filter(({ name, event }) => name === "attempt.claimed" && "taskId" in event && event.taskId === id)).toEqual([]);
  }
  expect(await world.find(id)).toMatchObject({ status: "input_required", inputRequests: { sure: question } });
  await Promise.all([1, 2, 3].map(() => world.manager.update(ref, [yes])));
  expect(await world.find(id)).toMatchObject({ status: "working", inputRequests: {} });
  await using first = await startTestWorker(world);
  await using second = await startTestWorker(world);
  expect(JSON.parse(textOf(await world.untilTerminal(id, 15_000)))).toMatchObject({ answers: [{ sure: yes.answer }] });
  expect(await world.attempts(id)).toMatchObject([{ state: "suspended" }, { state: "succeeded" }]);
  expect([...first.events, ...second.events].filter(({ name }) => name === "attempt.claimed")).toHaveLength(1);
});
