import { beforeEach, describe, expect, test } from "vitest";
import type { Principal } from "../access/principal.ts";
import { taskIdFrom, workerIdSchema, type TaskId } from "../ids.ts";
import type { ClaimedAttempt } from "./attempt-ledger.ts";
import { createMemoryTaskManager, type MemoryGrant, type MemoryStoreOptions } from "./memory-task-manager.ts";
import type { CreateTask } from "./task.ts";

const alice: Principal = { issuer: "https://issuer.example", subject: "alice", groups: ["modders"], scopes: [] };
const workerId = workerIdSchema.parse("00000000-0000-4000-8000-000000000001");
const reach = { pools: ["default"], roots: ["mods"], operations: ["test.echo"] };
const grant: MemoryGrant = {
  workspaceId: "alpha",
  issuer: alice.issuer,
  memberKind: "principal",
  member: "alice",
  actions: ["read", "run"],
  expiresAt: null,
};

let at: number;
let ids: number;
beforeEach(() => {
  at = 1_700_000_000_000;
  ids = 0;
});

describe("the in-memory store", () => {
  test("runs a task from its creation to its result", async () => {
    const { store, create, claim } = open();
    const task = await create();
    expect(task).toMatchObject({ status: "working", ttlMs: 3_600_000, pollIntervalMs: 1_000, createdAt: new Date(at) });
    const attempt = await claim(task.id);
    expect(attempt).toMatchObject({ token: 1, input: { text: "hello" }, workspace: { id: "alpha", root: "mods", path: "alpha" } });
    at += 5;
    await store.renew([{ attempt, progress: { value: 1, total: 2, message: "half" } }], 1_000);
    expect(await store.find({ id: task.id, principal: alice })).toMatchObject({
      progress: { value: 1, total: 2, message: "half" },
      lastUpdatedAt: new Date(at),
    });
    const result = { content: [{ type: "text" as const, text: "done" }] };
    expect(await store.settle(attempt, { kind: "completed", result, artifacts: [] })).toBe("completed");
    const found = await store.find({ id: task.id, principal: alice });
    expect(found).toMatchObject({ status: "completed", progress: null, outcome: { kind: "result", result } });
  });

  test("hands out copies: nobody changes the store through what they hold", async () => {
    const { store, create, claim } = open();
    const input = { list: [1] };
    const task = await create({ input });
    input.list.push(2);
    const attempt = await claim(task.id);
    expect(attempt.input).toEqual({ list: [1] });
    const result = { content: [{ type: "text" as const, text: "done" }] };
    await store.settle(attempt, { kind: "completed", result, artifacts: [] });
    result.content.pop();
    expect(await store.find({ id: task.id, principal: alice })).toMatchObject({ outcome: { result: { content: [{ text: "done" }] } } });
  });

  test("holds 1,024 tasks, forgets finished ones to make room, and never a live one", async () => {
    const { store, create, claim } = open();
    const tasks = [];
    for (let count = 0; count < 1_024; count += 1) tasks.push(await create());
    const request = taskRequest();
    await expect(store.create(request)).rejects.toMatchObject({ code: "overloaded" });
    const [first, second] = tasks;
    const attempt = await claim(second?.id ?? request.id);
    await store.settle(attempt, { kind: "cancelled" });
    await create();
    expect(await store.find({ id: attempt.taskId, principal: alice })).toBeNull();
    expect(await store.find({ id: first?.id ?? request.id, principal: alice })).toMatchObject({ status: "working" });
    await expect(store.create(taskRequest())).rejects.toMatchObject({ code: "overloaded" });
  });

  test("shows a finished task until its lifetime has passed, at most an hour, and a live one for ever", async () => {
    const { store, create, claim } = open();
    const [finished, live] = [await create({ ttlMs: 90_000_000 }), await create({ ttlMs: 60_000 })];
    await store.settle(await claim(finished.id), { kind: "cancelled" });
    at += 3_600_000 - 1;
    expect(await store.find({ id: finished.id, principal: alice })).not.toBeNull();
    at += 1;
    expect(await store.find({ id: finished.id, principal: alice })).toBeNull();
    expect(await store.requestCancellation({ id: finished.id, principal: alice })).toBeNull();
    expect(await store.find({ id: live.id, principal: alice })).not.toBeNull();
  });

  test("reads grants at every call: expired ones count no more", async () => {
    const expiresAt = at + 10;
    const { store, create } = open({ grants: [{ ...grant, expiresAt }] });
    const task = await create();
    at = expiresAt;
    expect(await store.create(taskRequest())).toEqual({ kind: "denied" });
    expect(await store.find({ id: task.id, principal: alice })).toBeNull();
    expect(await store.requestCancellation({ id: task.id, principal: alice })).toBeNull();
  });

  test.each<[string, Partial<CreateTask>]>([
    ["an unknown workspace", { workspaceId: "nowhere" }],
    ["another issuer", { principal: { ...alice, issuer: "https://other.example" } }],
    ["another subject", { principal: { ...alice, subject: "bob" } }],
    ["an effect that the grant does not cover", { operation: { name: "test.echo", version: 1, effect: "write", pool: "default" } }],
  ])("denies %s", async (_, changes) => {
    expect(await open().store.create(taskRequest(changes))).toEqual({ kind: "denied" });
  });

  test("accepts a group of the issuer that vouches for it", async () => {
    const { store, create } = open({ grants: [{ ...grant, memberKind: "group", member: "modders" }] });
    await create({ principal: { ...alice, subject: "bob" } });
    const elsewhere = { ...alice, issuer: "https://other.example" };
    expect(await store.create(taskRequest({ principal: elsewhere }))).toEqual({ kind: "denied" });
  });

  test("names the failure of workers that were lost too often", async () => {
    const { store, create, claim } = open();
    const { id } = await create();
    for (let round = 0; round < 3; round += 1) {
      await claim(id);
      at += 60_001;
      expect(await store.reap(10)).toEqual([id]);
    }
    expect(await store.find({ id, principal: alice })).toMatchObject({
      status: "failed",
      outcome: { kind: "error", code: "worker_lost", reference: "00000000-0000-4000-8000-00000000000f" },
    });
  });

  test("refuses an id that is taken", async () => {
    const { store, create } = open();
    const { id } = await create();
    await expect(store.create(taskRequest({ id }))).rejects.toMatchObject({ code: "internal" });
  });
});

function open(options: Partial<MemoryStoreOptions> = {}) {
  const store = createMemoryTaskManager({
    now: () => at,
    newReference: () => "00000000-0000-4000-8000-00000000000f",
    workspaces: [{ id: "alpha", root: "mods", path: "alpha" }],
    grants: [grant],
    ...options,
  });
  const create = async (changes: Partial<CreateTask> = {}) => {
    const outcome = await store.create(taskRequest(changes));
    if (outcome.kind !== "created") throw new Error("denied");
    return outcome.task;
  };
  const claim = async (taskId: TaskId): Promise<ClaimedAttempt> => {
    const attempt = await store.claim({ taskId, workerId, leaseMs: 60_000, reach });
    if (attempt === null) throw new Error("nothing to claim");
    return attempt;
  };
  return { store, create, claim };
}

function taskRequest(changes: Partial<CreateTask> = {}): CreateTask {
  ids += 1;
  return {
    id: taskIdFrom({ unixMs: at, random: Uint8Array.from({ length: 10 }, (_, index) => (index < 8 ? 0 : ids >> (8 * (9 - index)))) }),
    principal: alice,
    workspaceId: "alpha",
    operation: { name: "test.echo", version: 1, effect: "read", pool: "default" },
    input: { text: "hello" },
    ttlMs: 3_600_000,
    pollIntervalMs: 5_000,
    ...changes,
  };
}
