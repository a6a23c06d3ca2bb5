import type { InputAnswer, InputRequests, TaskId } from "@holdfast/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { alice, keyed, memberOf, newWorkerId, openBench, parkedTask, question, reach, standing, type Bench } from "../testing/bench.ts";
import { addGrant, removeGrant } from "./change-grants.ts";
import { updateTask } from "./update-task.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

const parked = (questions: InputRequests = { name: question("Name?"), tag: question("Tag?") }) => parkedTask(bench, questions);
const answer = (key: string, text: string): InputAnswer => ({
  key,
  method: "elicitation/create",
  answer: { action: "accept", content: { text } },
});
const update = (id: TaskId, ...answers: readonly InputAnswer[]) => bench.manager.update({ id, principal: alice }, answers);
/** What the next attempt is given. */
const given = async (id: TaskId) => Object.fromEntries((await bench.claim(id)).inputs.map((input) => [input.key, input.answer]));
const eventsOf = async (id: TaskId, kind: string) =>
  await bench.sql("select detail from holdfast.task_event where task_id = $1 and kind = $2", [id, kind]);
const versionOf = async (id: TaskId) =>
  await bench.sql(
    "select t.xmin::text as task, l.xmin::text as live from holdfast.task as t inner join holdfast.live_task as l on l.task_id = t.id where t.id = $1",
    [id],
  );

describe("a parked task", () => {
  test("shows its questions, and goes on with the answers to all of them", async () => {
    const task = await parked();
    expect(task).toMatchObject({ status: "input_required", inputRequests: { name: question("Name?"), tag: question("Tag?") } });
    await bench.sql("delete from graphile_worker._private_jobs where key = $1", [task.id]);
    expect(standing(await update(task.id, answer("tag", "ITA"), answer("name", "Italy")))).toEqual({ status: "working", questions: [] });
    expect(await bench.sql("select from graphile_worker.jobs where key = $1", [task.id])).toHaveLength(1);
    expect(await given(task.id)).toEqual({ name: answer("name", "Italy").answer, tag: answer("tag", "ITA").answer });
  });

  test("takes answers one by one, and stays parked until the last", async () => {
    const task = await parked();
    const first = await update(task.id, answer("name", "Italy"));
    expect(standing(first)).toEqual({ status: "input_required", questions: ["tag"] });
    expect(first?.lastUpdatedAt.getTime()).toBeGreaterThan(task.lastUpdatedAt.getTime());
    expect(await bench.ledger.claim({ taskId: task.id, workerId: newWorkerId(), leaseMs: 1_000, reach })).toBeNull();
    expect(await update(task.id, answer("tag", "ITA"))).toMatchObject({ status: "working" });
    expect(await given(task.id)).toEqual({ name: answer("name", "Italy").answer, tag: answer("tag", "ITA").answer });
  });

  test("ignores unknown keys, answers of another kind, and keys that no database keeps, and is not changed by them", async () => {
    const task = await parked();
    const before = await versionOf(task.id);
    const strange = [
      answer("other", "x"),
      answer("name\u0000", "x"),
      answer("\ud800", "x"),
      { ...answer("name", "x"), method: "roots/list" as const },
    ];
    expect(await update(task.id, ...strange)).toEqual(task);
    expect(await update(task.id)).toEqual(task);
    expect(await versionOf(task.id)).toEqual(before);
    // Nor do they get in the way of those that fit.
    expect(await update(task.id, ...strange, answer("name", "a"), answer("tag", "b"))).toMatchObject({ status: "working" });
    expect(await given(task.id)).toEqual({ name: answer("name", "a").answer, tag: answer("tag", "b").answer });
  });

  test("counts the first of several answers to one key, in one request and in several", async () => {
    const task = await parked();
    await update(task.id, answer("name", "first"), answer("name", "second"));
    await update(task.id, answer("name", "third"));
    await update(task.id, answer("tag", "only"));
    await update(task.id, answer("tag", "late"));
    expect(await given(task.id)).toEqual({ name: answer("name", "first").answer, tag: answer("tag", "only").answer });
    expect(await eventsOf(task.id, "task.resumed")).toHaveLength(1);
  });

  test("keeps what no text column could: NULs and half surrogate pairs in an answer", async () => {
    const task = await parked({ name: question("Name?") });
    await update(task.id, answer("name", "a\u0000b\ud800c"));
    expect(await given(task.id)).toEqual({ name: answer("name", "a\u0000b\ud800c").answer });
  });

  test("may ask again, under other keys, and remembers what it was told", async () => {
    const task = await parked({ name: question("Name?") });
    await update(task.id, answer("name", "Italy"));
    await bench.ledger.settle(await bench.claim(task.id), { kind: "suspended", requests: { tag: question("Tag?") } });
    expect(standing(await update(task.id, answer("name", "late")))).toEqual({ status: "input_required", questions: ["tag"] });
    expect(await update(task.id, answer("tag", "ITA"))).toMatchObject({ status: "working" });
    expect(await given(task.id)).toEqual({ name: answer("name", "Italy").answer, tag: answer("tag", "ITA").answer });
  });

  test("is cancelled at once, its open questions with it, and takes no answer any more", async () => {
    const task = await parked();
    await update(task.id, answer("name", "Italy"));
    expect(standing(await bench.manager.requestCancellation({ id: task.id, principal: alice }))).toEqual({
      status: "cancelled",
      questions: [],
    });
    expect(await bench.sql("select key from holdfast.task_input where task_id = $1", [task.id])).toEqual([{ key: "name" }]);
    expect(await update(task.id, answer("tag", "late"))).toMatchObject({ status: "cancelled" });
    expect(await eventsOf(task.id, "task.resumed")).toEqual([]);
  });
});

test("a task that is not parked takes no answers: queued, running and ended", async () => {
  const task = await bench.createTask();
  expect(await update(task.id, answer("name", "early"))).toEqual(task);
  const attempt = await bench.claim(task.id);
  expect(await update(task.id, answer("name", "early"))).toMatchObject({ status: "working" });
  await bench.ledger.settle(attempt, { kind: "completed", result: { content: [] }, artifacts: [] });
  const ended = await bench.manager.find({ id: task.id, principal: alice });
  expect(await update(task.id, answer("name", "late"))).toEqual(ended);
});

/** Lets updates of several nodes wait for the row of the task, all with the same snapshot of it, and then go on one after the other. */
async function together(id: TaskId, answers: readonly InputAnswer[], change = "select $1::uuid"): Promise<void> {
  const holder = await bench.session();
  await holder.query("begin");
  await holder.query("select from holdfast.live_task where task_id = $1 for update", [id]);
  const updates = answers.map((each) => updateTask(bench.open(), { id, principal: alice }, [each]));
  await bench.whenBlocked(updates.length);
  await holder.query(change, [id]);
  await holder.query("commit");
  await Promise.all(updates);
}

describe("answers from several nodes at the same moment", () => {
  test("to different keys are all taken, and the task goes on, once", async () => {
    const task = await parked();
    await together(task.id, [answer("name", "Italy"), answer("tag", "ITA")]);
    expect(await bench.manager.find({ id: task.id, principal: alice })).toMatchObject({ status: "working" });
    expect(await eventsOf(task.id, "task.resumed")).toHaveLength(1);
    expect(await given(task.id)).toEqual({ name: answer("name", "Italy").answer, tag: answer("tag", "ITA").answer });
  });

  test("to the same key count once", async () => {
    const task = await parked();
    const texts = ["a", "b", "c", "d"];
    await together(
      task.id,
      texts.map((text) => answer("name", text)),
    );
    expect(await eventsOf(task.id, "input.answered")).toEqual([{ detail: { keys: ["name"] } }]);
    expect(await bench.manager.find({ id: task.id, principal: alice })).toMatchObject({ status: "input_required" });
    await update(task.id, answer("tag", "ITA"));
    const kept = (await given(task.id))["name"];
    expect(texts.map((text) => answer("name", text).answer)).toContainEqual(kept);
  });

  test("to all keys, many times over, let the task go on once", async () => {
    const nodes = [bench.open(), bench.open()];
    for (let round = 0; round < 20; round += 1) {
      const task = await parked();
      await Promise.all(
        nodes.flatMap((node, index) =>
          ["name", "tag"].map((key) => updateTask(node, { id: task.id, principal: alice }, [answer(key, `${key} from ${index}`)])),
        ),
      );
      expect(standing(await bench.manager.find({ id: task.id, principal: alice }))).toEqual({ status: "working", questions: [] });
      expect(await eventsOf(task.id, "task.resumed")).toHaveLength(1);
      expect(await eventsOf(task.id, "input.answered")).toHaveLength(2);
    }
  });
});

test("an answer that comes while the task is being parked neither counts nor lets it go on", async () => {
  const task = await bench.createTask();
  await bench.claim(task.id);
  await together(
    task.id,
    [answer("name", "guessed")],
    `with asked as (
       insert into holdfast.task_input (task_id, key, method, params) values ($1, 'name', 'elicitation/create', '{}')
     ),
     parked as (
       update holdfast.live_task set parked = true, worker_id = null, lease_expires_at = null where task_id = $1
     )
     update holdfast.task set status = 'input_required' where id = $1`,
  );
  expect(await bench.manager.find({ id: task.id, principal: alice })).toMatchObject({
    status: "input_required",
    inputRequests: { name: {} },
  });
  expect(await eventsOf(task.id, "task.resumed")).toEqual([]);
});

test("answering needs to own the task and the right to submit it", async () => {
  const carol = { ...alice, subject: "carol" };
  const grant = { ...memberOf(carol), expiresAt: null };
  await addGrant(bench.database, { ...grant, actions: ["read", "write"] });
  const task = await parkedTask(bench, { name: question("Name?") }, { ...keyed("of carol"), principal: carol });
  const answered = (principal: typeof carol) => bench.manager.update({ id: task.id, principal }, [answer("name", "x")]);
  expect(await answered(alice)).toBeNull();
  expect(await answered({ ...carol, issuer: "https://other.example" })).toBeNull();
  expect(await answered({ ...carol, subject: "carol\u0000" })).toBeNull();
  await addGrant(bench.database, { ...grant, actions: ["read", "run"] });
  expect(await answered(carol)).toBeNull();
  expect(await bench.manager.find({ id: task.id, principal: carol })).toEqual(task);
  await removeGrant(bench.database, grant);
  expect(await answered(carol)).toBeNull();
  await addGrant(bench.database, { ...grant, actions: ["write"] });
  expect(await answered(carol)).toMatchObject({ status: "working" });
});
