import { describe, expect, test } from "vitest";
import type { InputRequests } from "../input.ts";
import { alice, keyed, openMemoryWorld, plan, staged, write } from "./testing.ts";

const QUESTIONS: InputRequests = {
  name: { method: "elicitation/create", params: { message: "Which?" } },
  roots: { method: "roots/list", params: {} },
};
const NAMED = { key: "name", method: "elicitation/create", answer: { action: "accept" } } as const;
const ROOTED = { key: "roots", method: "roots/list", answer: { roots: [] } } as const;

async function park() {
  const world = openMemoryWorld();
  const { id } = await world.create();
  const attempt = await world.claim(id);
  expect(await world.store.settle(attempt, { kind: "suspended", requests: QUESTIONS })).toBe("parked");
  return { ...world, world, id, ref: { id, principal: alice } };
}

describe("a parked task (C9)", () => {
  test("shows its questions and is nobody's to claim", async () => {
    const { store, id, find, claim } = await park();
    expect(await find(id)).toMatchObject({ status: "input_required", inputRequests: QUESTIONS });
    await expect(claim(id)).rejects.toThrow("nothing to claim");
    expect(await store.reap(10)).toEqual([]);
  });

  test("takes answers one by one and goes on at the last, with all of them", async () => {
    const { store, ref, claim } = await park();
    expect(await store.update(ref, [ROOTED])).toMatchObject({ status: "input_required", inputRequests: { name: QUESTIONS["name"] } });
    expect(await store.update(ref, [NAMED])).toMatchObject({ status: "working", inputRequests: {} });
    expect((await claim(ref.id)).inputs).toEqual([
      { ...NAMED, params: { message: "Which?" } },
      { ...ROOTED, params: {} },
    ]);
  });

  test("ignores what it did not ask, answers of another kind and second answers, and does not count them as changes", async () => {
    const { store, ref, world, find, claim } = await park();
    await store.update(ref, [NAMED]);
    const before = await find(ref.id);
    world.at += 1;
    const strange = [
      { ...NAMED, key: "other" },
      { ...ROOTED, method: "sampling/createMessage" as const },
      { ...NAMED, answer: { action: "decline" } },
    ];
    expect(await store.update(ref, strange)).toEqual(before);
    await store.update(ref, [ROOTED, { ...ROOTED, answer: { roots: [{ uri: "file:///" }] } }]);
    expect((await claim(ref.id)).inputs.map(({ answer }) => answer)).toEqual([NAMED.answer, ROOTED.answer]);
  });

  test("goes on once: a late answer changes a running task no more", async () => {
    const { store, ref, claim } = await park();
    await store.update(ref, [NAMED, ROOTED]);
    await claim(ref.id);
    expect(await store.update(ref, [NAMED])).toMatchObject({ status: "working" });
    await expect(claim(ref.id)).rejects.toThrow("nothing to claim");
  });

  test("is cancelled at once and drops its questions (C8.2)", async () => {
    const { store, ref } = await park();
    expect(await store.requestCancellation(ref)).toMatchObject({ status: "cancelled", inputRequests: {} });
    expect(await store.update(ref, [NAMED, ROOTED])).toMatchObject({ status: "cancelled" });
  });

  test("is cancelled when nobody has answered it for as long as it would have been kept, counted from the last change (C9.4)", async () => {
    const { store, world, id, ref, find } = await park();
    world.at += 3_600_000;
    await store.update(ref, [NAMED]);
    world.at += 3_600_000;
    expect(await store.endUnanswered(10)).toEqual([]);
    world.at += 1;
    expect(await store.endUnanswered(10)).toEqual([id]);
    expect((await find(id))?.status).toBe("cancelled");
    world.at += 30_000;
    expect(await find(id)).toBeNull();
  });

  test("is not made by an attempt whose task somebody wished to cancel", async () => {
    const { store, create, claim } = openMemoryWorld();
    const attempt = await claim((await create()).id);
    await store.requestCancellation({ id: attempt.taskId, principal: alice });
    expect(await store.settle(attempt, { kind: "suspended", requests: QUESTIONS })).toBe("cancelled");
  });
});

describe("a call that goes away (C8.5)", () => {
  test("takes its task with it when nobody else waits", async () => {
    const { store, create } = openMemoryWorld();
    const { id } = await create({ waiter: "call" });
    expect(await store.abandon({ id, principal: alice })).toMatchObject({ status: "cancelled" });
  });

  test("leaves the task to other calls until the last one goes", async () => {
    const { store, create, submit } = openMemoryWorld();
    const contentAddress = "cc".repeat(32);
    const { id } = await create({ waiter: "call", contentAddress });
    await submit({ waiter: "call", contentAddress });
    expect(await store.abandon({ id, principal: alice })).toMatchObject({ status: "working", cancelRequested: false });
    expect(await store.abandon({ id, principal: alice })).toMatchObject({ status: "cancelled" });
  });

  test.each([
    ["joined it", { waiter: "call", contentAddress: "cc".repeat(32) } as const],
    ["repeated its key", { waiter: "call", ...keyed() } as const],
  ])("leaves the task to a client with a handle that %s", async (_, changes) => {
    const { store, create, submit } = openMemoryWorld();
    const { id } = await create(changes);
    await submit({ ...changes, waiter: "client" });
    expect(await store.abandon({ id, principal: alice })).toMatchObject({ status: "working", cancelRequested: false });
  });

  test("only wishes it while an attempt runs", async () => {
    const { store, create, claim } = openMemoryWorld();
    const { id } = await create({ waiter: "call" });
    const attempt = await claim(id);
    expect(await store.abandon({ id, principal: alice })).toMatchObject({ status: "working", cancelRequested: true });
    expect(await store.renew([{ attempt, progress: null }], 1_000)).toEqual([{ kind: "renewed", cancelRequested: true }]);
  });
});

describe("a wish to cancel a write (C8.4)", () => {
  test.each(["planned", "applying", "rolling_back", "committed"] as const)("waits for the attempt that finds its plan %s", async (to) => {
    const { store, create, claim, lose } = openMemoryWorld();
    const attempt = await claim((await create({ operation: write })).id);
    await store.bind(attempt, plan());
    await store.move(attempt, { from: ["planned"], to });
    await lose(attempt);
    const wished = await store.requestCancellation({ id: attempt.taskId, principal: alice });
    expect(wished).toMatchObject({ status: "working", cancelRequested: true });
    expect(await claim(attempt.taskId)).toMatchObject({ cancelRequested: true, journalState: to });
  });

  test("is granted at once when its plan is restored", async () => {
    const { store, create, claim } = openMemoryWorld();
    const attempt = await claim((await create({ operation: write })).id);
    await store.bind(attempt, plan());
    await store.move(attempt, { from: ["planned"], to: "restored" });
    await store.settle(attempt, { kind: "interrupted", detail: "" });
    expect(await store.requestCancellation({ id: attempt.taskId, principal: alice })).toMatchObject({ status: "cancelled" });
  });
});

test("a cancelled task keeps nothing of what it had staged", async () => {
  const { store, create, claim } = openMemoryWorld();
  const contentAddress = "cc".repeat(32);
  const attempt = await claim((await create({ contentAddress })).id);
  await store.stage(attempt, staged());
  await store.settle(attempt, { kind: "cancelled" });
  expect((await claim((await create({ contentAddress })).id)).reusable).toBeNull();
});
