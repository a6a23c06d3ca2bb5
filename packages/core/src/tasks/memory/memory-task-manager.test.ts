import { describe, expect, test } from "vitest";
import type { CreateTask } from "../task.ts";
import { alice, grant, keyed, openMemoryWorld, reach, workerId } from "./testing.ts";

describe("the in-memory store", () => {
  test("runs a task from its creation to its result", async () => {
    const world = openMemoryWorld();
    const { store, find } = world;
    const task = await world.create();
    expect(task).toMatchObject({ status: "working", ttlMs: 3_600_000, pollIntervalMs: 1_000, createdAt: new Date(world.at) });
    const attempt = await world.claim(task.id);
    expect(attempt).toMatchObject({ token: 1, input: { text: "hello" }, workspace: { id: "alpha", root: "mods", path: "alpha" } });
    world.at += 5;
    await store.renew([{ attempt, progress: { value: 1, total: 2, message: "half" } }], 1_000);
    expect(await find(task.id)).toMatchObject({
      progress: { value: 1, total: 2, message: "half" },
      lastUpdatedAt: new Date(world.at),
    });
    const result = { content: [{ type: "text" as const, text: "done" }] };
    expect(await store.settle(attempt, { kind: "completed", result, artifacts: [] })).toBe("completed");
    expect(await find(task.id)).toMatchObject({ status: "completed", progress: null, outcome: { kind: "result", result } });
  });

  test("hands out copies: nobody changes the store through what they hold", async () => {
    const { store, create, claim, find } = openMemoryWorld();
    const input = { list: [1] };
    const task = await create({ input });
    input.list.push(2);
    const attempt = await claim(task.id);
    expect(attempt.input).toEqual({ list: [1] });
    const result = { content: [{ type: "text" as const, text: "done" }] };
    await store.settle(attempt, { kind: "completed", result, artifacts: [] });
    result.content.pop();
    expect(await find(task.id)).toMatchObject({ outcome: { result: { content: [{ text: "done" }] } } });
  });

  test("lets an attempt write only with the newest token, while the task is open (C5.2)", async () => {
    const { store, create, claim, lose } = openMemoryWorld();
    const stale = await claim((await create()).id);
    await lose(stale);
    const newer = await claim(stale.taskId);
    await store.settle(newer, { kind: "cancelled" });
    const value = { text: "1", sourceRevision: null, seal: "sealed" };
    for (const attempt of [stale, newer]) {
      expect(await store.renew([{ attempt, progress: null }], 1_000)).toEqual([{ kind: "refused" }]);
      expect(await store.settle(attempt, { kind: "cancelled" })).toBe("refused");
      expect(await store.saveCheckpoint(attempt, value)).toBe("refused");
      expect(await store.saveStep(attempt, { ...value, key: "s" })).toBe("refused");
      expect(await store.stage(attempt, { ...value, artifacts: [] })).toBe("refused");
    }
  });
});

describe("room in the in-memory store (C15.1)", () => {
  test("is 1,024 tasks; finished ones make room, live ones never", async () => {
    const { store, create, claim, find, request, submit } = openMemoryWorld();
    const [first, second] = [await create(), await create()];
    for (let count = 2; count < 1_024; count += 1) await create();
    await expect(submit()).rejects.toMatchObject({ code: "overloaded" });
    await store.settle(await claim(second.id), { kind: "cancelled" });
    await store.create(request());
    expect(await find(second.id)).toBeNull();
    expect(await find(first.id)).toMatchObject({ status: "working" });
    await expect(submit()).rejects.toMatchObject({ code: "overloaded" });
  });

  test("is not made of a parked task", async () => {
    const { store, create, claim, submit } = openMemoryWorld({ maxTasks: 1 });
    const { id } = await create();
    await store.settle(await claim(id), { kind: "suspended", requests: { q: { method: "roots/list", params: {} } } });
    await expect(submit()).rejects.toMatchObject({ code: "overloaded" });
  });

  test("is not made of what a receipt stands for", async () => {
    const { store, create, claim, submit } = openMemoryWorld({ maxTasks: 1 });
    const { id } = await create(keyed());
    await store.settle(await claim(id), { kind: "cancelled" });
    await expect(submit()).rejects.toMatchObject({ code: "overloaded" });
    expect(await submit(keyed())).toMatchObject({ kind: "repeated", task: { id, status: "cancelled" } });
  });

  test("is made by expiry, most overdue first, of finished tasks without receipt only (C12.2)", async () => {
    const world = openMemoryWorld();
    const { store, create, claim } = world;
    const [later, sooner, live, kept] = [
      await create({ ttlMs: 120_000 }),
      await create({ ttlMs: 60_000 }),
      await create({ ttlMs: 60_000 }),
      await create({ ...keyed(), ttlMs: 60_000 }),
    ];
    for (const { id } of [later, sooner, kept]) await store.settle(await claim(id), { kind: "cancelled" });
    expect(await store.expire(10)).toBe(0);
    world.at += 120_000;
    expect(await store.expire(10, 120_000)).toBe(0);
    expect(await store.expire(10, 60_000)).toBe(1);
    await expect(create({ id: sooner.id })).resolves.toMatchObject({ id: sooner.id });
    expect(await store.expire(10)).toBe(1);
    expect(await world.find(live.id)).toMatchObject({ status: "working" });
  });

  test("shows a finished task until its lifetime has passed, at most an hour, and a live one for ever", async () => {
    const world = openMemoryWorld();
    const { store, create, claim, find } = world;
    const [finished, live] = [await create({ ttlMs: 90_000_000 }), await create({ ttlMs: 60_000 })];
    await store.settle(await claim(finished.id), { kind: "cancelled" });
    world.at += 3_600_000 - 1;
    expect(await find(finished.id)).not.toBeNull();
    world.at += 1;
    expect(await find(finished.id)).toBeNull();
    expect(await store.requestCancellation({ id: finished.id, principal: alice })).toBeNull();
    expect(await find(live.id)).not.toBeNull();
  });
});

describe("access in the in-memory store", () => {
  test("reads grants at every call: expired ones count no more", async () => {
    const expiresAt = 1_700_000_000_010;
    const world = openMemoryWorld({ grants: [{ ...grant, expiresAt }] });
    const { id } = await world.create();
    world.at = expiresAt;
    expect(await world.submit()).toEqual({ kind: "denied" });
    expect(await world.find(id)).toBeNull();
    const ref = { id, principal: alice };
    expect(await world.store.requestCancellation(ref)).toBeNull();
    expect(await world.store.abandon(ref)).toBeNull();
    expect(await world.store.update(ref, [])).toBeNull();
  });

  test.each<[string, Partial<CreateTask>]>([
    ["an unknown workspace", { workspaceId: "nowhere" }],
    ["another issuer", { principal: { ...alice, issuer: "https://other.example" } }],
    ["another subject", { principal: { ...alice, subject: "bob" } }],
    ["an effect that the grant does not cover", keyed()],
  ])("denies %s", async (_, changes) => {
    const { submit } = openMemoryWorld({ grants: [{ ...grant, actions: ["read", "run"] }] });
    expect(await submit(changes)).toEqual({ kind: "denied" });
  });

  test("accepts a group of the issuer that vouches for it", async () => {
    const { create, submit } = openMemoryWorld({ grants: [{ ...grant, memberKind: "group", member: "modders" }] });
    await create({ principal: { ...alice, subject: "bob" } });
    expect(await submit({ principal: { ...alice, issuer: "https://other.example" } })).toEqual({ kind: "denied" });
  });

  test("finds nothing to claim out of a worker's reach", async () => {
    const { store, create } = openMemoryWorld();
    const { id: taskId } = await create();
    for (const missing of ["pools", "roots", "operations"] as const)
      expect(await store.claim({ taskId, workerId, leaseMs: 1_000, reach: { ...reach, [missing]: ["elsewhere"] } })).toBeNull();
  });

  test("refuses an id that is taken", async () => {
    const { create, submit } = openMemoryWorld();
    const { id } = await create();
    await expect(submit({ id })).rejects.toMatchObject({ code: "internal" });
  });
});
