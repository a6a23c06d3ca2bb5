import { expect, test } from "vitest";
import { MOVE } from "../support/statement-gate.ts";
import { textOf } from "../support/task-world.ts";
import { AFTER, after, before, startWriterScene } from "../support/writer-scene.ts";

test.each([
  ["a file that is to be replaced", { "c.txt": "c of somebody else" }],
  ["a file that is to be made", { "d.txt": "d of somebody else" }],
  ["a file that is to be removed", { "b.txt": "b of somebody else" }],
])(
  "%s changes in the middle of a write: it is not overwritten, all others are put back, and the caller learns which one",
  async (_, foreign) => {
    await using scene = await startWriterScene();
    await scene.advance(2);
    await scene.gate.untilWaiting(MOVE);
    expect(await scene.files()).toEqual([after[0], ...before.slice(1)]);
    await scene.mod.write(foreign);
    scene.gate.open();
    const task = await scene.world.untilTerminal(scene.id);
    expect(textOf(task)).toBe(`conflict: ${Object.keys(foreign).join(", ")}`);
    const expected = Object.keys(AFTER).map((name, index) => (foreign as Record<string, string>)[name] ?? before[index]);
    expect(await scene.files()).toEqual(expected);
    expect(await scene.journal()).toMatchObject({ state: "restored" });
    expect((await scene.mod.list()).filter((name) => name.includes(".holdfast"))).toEqual([]);
  },
);

test("a file that was replaced already changes before the commit: nobody can say what is right, and the task says so", async () => {
  await using scene = await startWriterScene();
  await scene.advance(4);
  await scene.gate.untilWaiting(MOVE);
  await scene.mod.write({ "a.txt": "a of somebody else" });
  scene.gate.open();
  const task = await scene.world.untilTerminal(scene.id);
  expect(task).toMatchObject({ status: "failed", outcome: { code: "write_unresolved" } });
  expect(await scene.files()).toEqual(["a of somebody else", ...before.slice(1)]);
  expect(await scene.journal()).toMatchObject({ state: "unresolved" });
});

test("a worker is killed, and a file that it may have replaced is changed: ours are put back, and the rest is left for somebody to look at", async () => {
  await using scene = await startWriterScene();
  await scene.advance(3);
  await scene.gate.untilWaiting(MOVE);
  await scene.kill(MOVE);
  await scene.mod.write({ "b.txt": "b of somebody else" });
  const { task } = await scene.takeOver();
  expect(task).toMatchObject({ status: "failed", outcome: { code: "write_unresolved" } });
  expect(await scene.files()).toEqual(["a before", "b of somebody else", "c before", null]);
});

test("a worker is killed, and a file that it cannot have come to is changed: ours are put back, and the plan is a conflict", async () => {
  await using scene = await startWriterScene();
  await scene.advance(2);
  await scene.gate.untilWaiting(MOVE);
  await scene.kill(MOVE);
  await scene.mod.write({ "c.txt": "c of somebody else" });
  const { task, rests } = await scene.takeOver();
  expect(textOf(task)).toBe("conflict: c.txt");
  expect(rests).toMatchObject([{ state: "restored", recovered: true }]);
  expect(await scene.files()).toEqual(["a before", "b before", "c of somebody else", null]);
});

test("a worker is killed before it touched anything, and a file of the plan is changed: the plan is a conflict", async () => {
  await using scene = await startWriterScene();
  await scene.advance(0);
  await scene.gate.untilWaiting(MOVE);
  await scene.kill(MOVE);
  await scene.mod.write({ "a.txt": "a of somebody else" });
  const { task } = await scene.takeOver();
  expect(textOf(task)).toBe("conflict: a.txt");
  expect(await scene.files()).toEqual(["a of somebody else", ...before.slice(1)]);
});

test("a worker is killed before it touched anything, and the owner may no longer write: nothing is changed", async () => {
  await using scene = await startWriterScene();
  await scene.advance(0);
  await scene.gate.untilWaiting(MOVE);
  await scene.kill(MOVE);
  await scene.world.query("update holdfast.access_grant set actions = array['read']");
  const { task, rests } = await scene.takeOver();
  expect(task).toMatchObject({ status: "failed", outcome: { code: "workspace_not_found" } });
  expect(rests).toMatchObject([{ state: "restored", recovered: true }]);
  expect(await scene.files()).toEqual(before);
  expect(await scene.journal()).toMatchObject({ state: "restored" });
});

test("a file changes while a plan waits to be bound, and the worker is killed then: nothing was begun, and it is a conflict", async () => {
  await using scene = await startWriterScene();
  await scene.mod.write({ "a.txt": "a of somebody else" });
  await scene.advance(1);
  await scene.kill(null);
  const { task } = await scene.takeOver();
  expect(textOf(task)).toBe("conflict: a.txt");
  expect(await scene.files()).toEqual(["a of somebody else", ...before.slice(1)]);
  expect(await scene.world.events(scene.id)).not.toContain("journal.applying");
});
