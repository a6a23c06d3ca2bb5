import { describe, expect, test } from "vitest";
import { alice, keyed, openMemoryWorld, staged, write } from "./testing.ts";

const ADDRESS = "cc".repeat(32);

describe("a request with a key (C4)", () => {
  test("gives the same task again, whatever was hinted about polling and retention, with the receipt that stands", async () => {
    const { create, submit } = openMemoryWorld();
    const { id } = await create(keyed());
    const again = await submit({ ...keyed({ seal: "another" }), ttlMs: 60_000, pollIntervalMs: 7 });
    const receipt = { taskId: id, operation: "test.echo", operationVersion: 1, inputSha256: "aa".repeat(32), seal: "sealed" };
    expect(again).toMatchObject({ kind: "repeated", task: { id, ttlMs: 3_600_000, pollIntervalMs: 1_000 }, receipt });
  });

  test.each([
    ["another input", keyed({ inputSha256: "ab".repeat(32) })],
    ["another operation", { ...keyed(), operation: { ...write, name: "test.other" } }],
    ["another version", { ...keyed(), operation: { ...write, version: 2 } }],
  ])("conflicts with %s and changes nothing", async (_, changes) => {
    const { create, submit, find } = openMemoryWorld();
    const task = await create(keyed());
    expect(await submit(changes)).toEqual({ kind: "conflict" });
    expect(await find(task.id)).toEqual(task);
  });

  test.each([
    ["in another workspace", { workspaceId: "beta" }],
    ["with another key", keyed({ key: "K" })],
  ])("is another request %s", async (_, changes) => {
    const { create } = openMemoryWorld();
    const { id } = await create(keyed());
    expect((await create({ ...keyed(), ...changes })).id).not.toBe(id);
  });

  test("shows an expired outcome again for the time that is asked for now, counted from the creation (C4.5, C4.6)", async () => {
    const world = openMemoryWorld();
    const { store, create, claim, submit, find } = world;
    const { id, createdAt } = await create({ ...keyed(), ttlMs: 60_000 });
    await store.settle(await claim(id), { kind: "failed", code: "operation_failed", reference: "r", detail: "", retry: false });
    world.at += 500_000;
    expect(await find(id)).toBeNull();
    expect(await submit(keyed({ inputSha256: "ab".repeat(32) }))).toEqual({ kind: "conflict" });
    expect(await find(id)).toBeNull();
    const renewed = {
      id,
      status: "failed",
      ttlMs: 620_000,
      createdAt,
      outcome: { kind: "error", code: "operation_failed", reference: "r" },
    };
    expect(await submit({ ...keyed(), ttlMs: 120_000 })).toMatchObject({ kind: "repeated", task: renewed });
    world.at += 60_000;
    expect(await submit({ ...keyed(), ttlMs: 3_600_000 })).toMatchObject({ kind: "repeated", task: { ttlMs: 620_000 } });
    world.at += 60_000;
    expect(await find(id)).toBeNull();
  });
});

describe("a request with a content address (C4.8)", () => {
  test("joins the identical one that is open", async () => {
    const { store, create, submit, claim, find } = openMemoryWorld();
    const { id } = await create({ contentAddress: ADDRESS });
    expect(await submit({ contentAddress: ADDRESS })).toMatchObject({ kind: "joined", task: { id } });
    await store.settle(await claim(id), { kind: "suspended", requests: { q: { method: "roots/list", params: {} } } });
    const joined = await submit({ contentAddress: ADDRESS });
    expect(joined).toEqual({ kind: "joined", task: await find(id) });
    expect((await create({ contentAddress: "dd".repeat(32) })).id).not.toBe(id);
  });

  test("joins nothing that has a key, nor does a request with a key join", async () => {
    const { create } = openMemoryWorld();
    await create({ ...keyed(), contentAddress: ADDRESS });
    await create({ contentAddress: ADDRESS });
    await create({ ...keyed({ key: "another" }), contentAddress: ADDRESS });
  });

  test("joins nothing that somebody wished to cancel, and nothing that is over", async () => {
    const { store, create, claim } = openMemoryWorld();
    const doomed = await create({ contentAddress: ADDRESS });
    await claim(doomed.id);
    await store.requestCancellation({ id: doomed.id, principal: alice });
    const { id } = await create({ contentAddress: ADDRESS });
    await store.settle(await claim(id), { kind: "completed", result: { content: [] }, artifacts: [] });
    await create({ contentAddress: ADDRESS });
  });

  test("lets its attempt have the newest published result of the same address", async () => {
    const { store, create, claim } = openMemoryWorld();
    for (const text of ['{"content":[],"isError":true}', '{"content":[]}']) {
      const attempt = await claim((await create({ contentAddress: ADDRESS })).id);
      await store.stage(attempt, staged({ text }));
      await store.settle(attempt, { kind: "published" });
    }
    const attempt = await claim((await create({ contentAddress: ADDRESS })).id);
    expect(attempt.reusable).toMatchObject({ text: '{"content":[]}', sourceRevision: "r1", seal: "sealed", artifacts: [] });
    expect((await claim((await create()).id)).reusable).toBeNull();
  });

  test("lets its attempt have no result that was not staged, was made of files that changed, took an answer, or has expired", async () => {
    const world = openMemoryWorld();
    const { store, create, claim } = world;
    const reusable = async () => (await claim((await create({ contentAddress: ADDRESS })).id)).reusable;
    const again = async (finish: (attempt: Awaited<ReturnType<typeof claim>>) => Promise<unknown>, changes = {}) => {
      const attempt = await claim((await create({ contentAddress: ADDRESS, ...changes })).id);
      await finish(attempt);
      const next = await claim((await create({ contentAddress: ADDRESS })).id);
      await store.settle(next, { kind: "cancelled" });
      return next.reusable;
    };
    const publish = async (attempt: Awaited<ReturnType<typeof claim>>, sourceRevision: string | null) => {
      await store.stage(attempt, staged({ sourceRevision }));
      await store.settle(attempt, { kind: "published" });
    };
    expect(await again((attempt) => store.settle(attempt, { kind: "completed", result: { content: [] }, artifacts: [] }))).toBeNull();
    expect(await again((attempt) => publish(attempt, null))).toBeNull();
    const answers = [{ key: "q", method: "roots/list" as const, answer: {} }];
    expect(await again((attempt) => publish(attempt, "r1"), { answers })).toBeNull();
    expect(await again((attempt) => publish(attempt, "r1"), { ttlMs: 60_000 })).toMatchObject({ sourceRevision: "r1" });
    world.at += 60_000;
    expect(await reusable()).toBeNull();
  });
});

test("answers that were given before there was a task are there for its first attempt", async () => {
  const { create, claim } = openMemoryWorld();
  const { id, status } = await create({ answers: [{ key: "q", method: "elicitation/create", answer: { action: "accept" } }] });
  expect(status).toBe("working");
  expect((await claim(id)).inputs).toEqual([{ key: "q", method: "elicitation/create", params: {}, answer: { action: "accept" } }]);
});
