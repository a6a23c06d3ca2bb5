import { expect, test } from "vitest";
import { MOVE, BIND, SETTLE } from "../support/statement-gate.ts";
import { textOf, untilValue } from "../support/task-world.ts";
import { after, before, startWriterScene } from "../support/writer-scene.ts";

const TERMINAL = /^task\.(?:completed|failed|cancelled)$/u;

test("killed before binding: nothing is changed, and the next attempt makes a plan of its own", async () => {
  await using scene = await startWriterScene();
  await scene.kill(BIND);
  expect(await scene.journal()).toBeUndefined();
  expect(await scene.files()).toEqual(before);
  const { task, rests } = await scene.takeOver();
  expect(textOf(task)).toMatch(/^planned by /u);
  expect(rests).toMatchObject([{ state: "committed", recovered: false }]);
  expect(await scene.files()).toEqual(after);
  expect(await scene.world.attempts(scene.id)).toMatchObject([{ state: "lost" }, { state: "succeeded" }]);
});

test.each<[string, { moves: number; kept: number; state: string }]>([
  ["after binding", { moves: 0, kept: 0, state: "planned" }],
  ["before the first replacement", { moves: 1, kept: 0, state: "applying" }],
  ["between two replacements", { moves: 2, kept: 1, state: "applying" }],
  ["after the removal of a file", { moves: 3, kept: 2, state: "applying" }],
  ["before the last file, which is new, is made", { moves: 4, kept: 3, state: "applying" }],
  ["after the last replacement, before its commit", { moves: 5, kept: 4, state: "applying" }],
])("killed %s: another worker carries out the very same plan", async (_, { moves, kept, state }) => {
  await using scene = await startWriterScene();
  await scene.advance(moves);
  await scene.gate.untilWaiting(MOVE);
  await scene.kill(MOVE);
  const left = await scene.journal();
  expect(left).toMatchObject({ state, recoveries: 0 });
  expect(await scene.files()).toEqual([...after.slice(0, kept), ...before.slice(kept)]);
  const { task, rests } = await scene.takeOver();
  expect(textOf(task)).toBe(left?.["text"]);
  expect(rests).toMatchObject([{ state: "committed", recovered: true }]);
  expect(await scene.files()).toEqual(after);
  expect(await scene.journal()).toEqual({ ...left, state: "committed", recoveries: 1 });
  expect((await scene.mod.list()).filter((name) => name.includes(".holdfast"))).toEqual([]);
  expect((await scene.world.events(scene.id)).filter((kind) => TERMINAL.test(kind))).toEqual(["task.completed"]);
});

test("killed as soon as the last file is seen in its place: the plan is committed, whether its commit was on its way or not", async () => {
  await using scene = await startWriterScene();
  await scene.advance(5);
  // The worker does not get past its commit, which would write a table that the test holds. It may have sent it by now.
  await untilValue(
    () => scene.mod.read("d.txt"),
    (text) => text === "d after",
    10_000,
  );
  await scene.kill(null);
  const { task } = await scene.takeOver();
  expect(textOf(task)).toBe((await scene.journal())?.["text"]);
  expect(await scene.files()).toEqual(after);
});

test("killed when its commit is on its way: the commit stands, and the files are not touched again", async () => {
  await using scene = await startWriterScene();
  await scene.advance(5);
  await scene.gate.untilWaiting(MOVE);
  await scene.kill(null);
  await untilValue(scene.journal, (entry) => entry?.["state"] === "committed", 10_000);
  // Whoever applied the plan again would put this back.
  await scene.mod.write({ "a.txt": "changed after the commit" });
  const { task } = await scene.takeOver();
  expect(textOf(task)).toBe((await scene.journal())?.["text"]);
  expect(await scene.mod.read("a.txt")).toBe("changed after the commit");
  // What the plan took away lay in a folder beside the files.
  expect((await scene.mod.list()).filter((name) => name.includes(".holdfast"))).toEqual([]);
});

test("killed after the commit: the task gets the plan's result, and nothing is planned or applied again", async () => {
  await using scene = await startWriterScene();
  await scene.advance(6);
  await scene.gate.untilWaiting(SETTLE);
  await scene.kill(SETTLE);
  expect(await scene.journal()).toMatchObject({ state: "committed" });
  await scene.mod.write({ "a.txt": "changed after the commit" });
  const { task } = await scene.takeOver();
  expect(textOf(task)).toBe((await scene.journal())?.["text"]);
  expect(await scene.mod.read("a.txt")).toBe("changed after the commit");
  expect(await scene.journal()).toMatchObject({ recoveries: 0 });
});

test("killed in the middle of a task that was cancelled: every file is put back, and the task is cancelled", async () => {
  await using scene = await startWriterScene();
  await scene.advance(3);
  await scene.gate.untilWaiting(MOVE);
  await scene.kill(MOVE);
  await scene.world.cancel(scene.id);
  expect(await scene.files()).toEqual([...after.slice(0, 2), ...before.slice(2)]);
  const { task, rests } = await scene.takeOver();
  expect(task).toMatchObject({ status: "cancelled" });
  expect(await scene.files()).toEqual(before);
  expect(rests).toMatchObject([{ state: "restored", recovered: true }]);
});

test("killed after binding, in a task that was cancelled: the plan is never begun, and the task is cancelled", async () => {
  await using scene = await startWriterScene();
  await scene.advance(0);
  await scene.gate.untilWaiting(MOVE);
  await scene.kill(MOVE);
  await scene.world.cancel(scene.id);
  const { task, rests } = await scene.takeOver();
  expect(task).toMatchObject({ status: "cancelled" });
  expect(rests).toMatchObject([{ state: "restored", recovered: true }]);
  expect(await scene.world.events(scene.id)).not.toContain("journal.applying");
  expect(await scene.files()).toEqual(before);
});

test.each([
  ["is as it was again", "c before", "operation_failed", "restored"],
  ["is still somebody else's", "c of somebody else", "write_unresolved", "unresolved"],
])(
  "killed while its files are put back, for the sake of one that %s: another worker puts back the rest, and goes on with nothing",
  async (_, content, code, state) => {
    await using scene = await startWriterScene();
    await scene.advance(2);
    await scene.gate.untilWaiting(MOVE);
    await scene.mod.write({ "c.txt": "c of somebody else" });
    // The removal of b.txt, the decision to undo it, and its return; a.txt waits.
    for (let move = 0; move < 3; move += 1) await scene.gate.letThrough(MOVE);
    await scene.gate.untilWaiting(MOVE);
    await scene.kill(MOVE);
    expect(await scene.journal()).toMatchObject({ state: "rolling_back" });
    expect(await scene.files()).toEqual(["a after", "b before", "c of somebody else", null]);
    await scene.mod.write({ "c.txt": content });
    const { task } = await scene.takeOver();
    expect(task).toMatchObject({ status: "failed", outcome: { code } });
    expect(await scene.journal()).toMatchObject({ state, recoveries: 1 });
    expect(await scene.files()).toEqual(["a before", "b before", content, null]);
    expect((await scene.mod.list()).filter((name) => name.includes(".holdfast"))).toEqual([]);
  },
);

test("killed again and again with the same plan: after three recoveries somebody has to look at it", async () => {
  await using scene = await startWriterScene();
  await scene.advance(2);
  await scene.gate.untilWaiting(MOVE);
  await scene.kill(MOVE);
  await scene.world.query("update holdfast.journal_entry set recoveries = 3");
  const { task } = await scene.takeOver();
  expect(task).toMatchObject({ status: "failed", outcome: { code: "write_unresolved" } });
  expect(await scene.journal()).toMatchObject({ state: "unresolved" });
  expect(await scene.files()).toEqual([...after.slice(0, 1), ...before.slice(1)]);
});

test.each([
  ["another result", "update holdfast.journal_entry set result = '{\"content\":[]}'"],
  ["other bytes", "update holdfast.journal_file set after_bytes = 'forged' where position = 2"],
  [
    "other bytes with their digest",
    "update holdfast.journal_file set after_bytes = 'forged', after_sha256 = sha256('forged') where position = 2",
  ],
  ["another file", "update holdfast.journal_file set path = '\"victim.txt\"' where position = 3"],
])("killed in the middle of a plan that was given %s in the store since: it is not believed", async (_, forge) => {
  await using scene = await startWriterScene();
  await scene.advance(2);
  await scene.gate.untilWaiting(MOVE);
  await scene.kill(MOVE);
  await scene.world.query(forge);
  const { task } = await scene.takeOver();
  expect(task).toMatchObject({ status: "failed", outcome: { code: "write_unresolved" } });
  expect(await scene.files()).toEqual([...after.slice(0, 1), ...before.slice(1)]);
  expect(await scene.mod.read("victim.txt")).toBeNull();
});
