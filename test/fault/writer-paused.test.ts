import { expect, test } from "vitest";
import { MOVE } from "../support/statement-gate.ts";
import { textOf, untilValue } from "../support/task-world.ts";
import { startTestWorker } from "../support/test-worker.ts";
import { startWriterScene } from "../support/writer-scene.ts";

test.each([
  ["what it was when the worker was paused", "c before"],
  ["something that neither of them wrote", "c of somebody else"],
])(
  "a worker that was paused after it was permitted to replace a file touches nothing when it wakes: that file is %s",
  async (_, content) => {
    await using scene = await startWriterScene();
    const { world, worker, gate, mod, id } = scene;
    await scene.advance(3);
    await gate.untilWaiting(MOVE);
    worker.signal("SIGSTOP");
    // The answer "you may replace c.txt" lies in the worker's socket from now on.
    await gate.letThrough(MOVE);
    gate.open();
    await using rescuer = await startTestWorker(world);
    const finished = await world.untilTerminal(id, 15_000);
    expect(rescuer.events).toContainEqual({ name: "journal.rested", event: { taskId: id, token: 2, state: "committed", recovered: true } });
    expect(await mod.read("c.txt")).toBe("c after");
    await mod.write({ "a.txt": "a later", "b.txt": "b later", "c.txt": content });
    const eventsBefore = await world.events(id);
    worker.signal("SIGCONT");
    const settled = await untilValue(
      () => Promise.resolve(worker.events("attempt.settled")),
      ({ length }) => length > 0,
      10_000,
    );
    expect(settled).toMatchObject([{ token: 1, outcome: "lost" }]);
    // It neither goes on with the plan nor undoes what it had done of it.
    expect(await scene.files()).toEqual(["a later", "b later", content, "d after"]);
    expect((await mod.list()).filter((name) => name.includes(".holdfast"))).toEqual([]);
    expect(await scene.journal()).toMatchObject({ state: "committed", recoveries: 1 });
    expect(await world.find(id)).toEqual(finished);
    expect(await world.events(id)).toEqual(eventsBefore);
    expect(textOf(finished)).toBe((await scene.journal())?.["text"]);
  },
);
