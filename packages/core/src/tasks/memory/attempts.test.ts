import { describe, expect, test } from "vitest";
import { AppError } from "../../errors.ts";
import type { AttemptRef } from "../attempt.ts";
import type { Settlement } from "../attempt-ledger.ts";
import type { SealedValue } from "../checkpoint.ts";
import type { JournalState } from "../write-journal.ts";
import { alice, openMemoryWorld, plan, REFERENCE, staged, write, type MemoryWorld } from "./testing.ts";

const VALUE = { text: "[1]", sourceRevision: "r1", seal: "sealed" };
const CRASH: Settlement = { kind: "failed", code: "operation_crashed", reference: REFERENCE, detail: "", retry: true };

const ROOTS = { method: "roots/list", params: {} } as const;

/** Both ways for an attempt to die. */
const DEATHS: readonly [string, (world: MemoryWorld, attempt: AttemptRef) => Promise<unknown>, string][] = [
  ["lost", (world, attempt) => world.lose(attempt), "worker_lost"],
  ["crashed", (world, attempt) => world.store.settle(attempt, CRASH), "operation_crashed"],
];

describe.each(DEATHS)("an attempt that %s", (_, die, code) => {
  test("is replaced twice, and then its task fails", async () => {
    const world = openMemoryWorld();
    const { id } = await world.create();
    for (let round = 0; round < 3; round += 1) await die(world, await world.claim(id));
    expect(await world.find(id)).toMatchObject({ status: "failed", outcome: { kind: "error", code, reference: REFERENCE } });
  });

  test("is not replaced when it came no further than the one before it (C5.5)", async () => {
    const world = openMemoryWorld();
    const { id } = await world.create();
    const first = await world.claim(id);
    await world.store.saveCheckpoint(first, VALUE);
    await die(world, first);
    expect(await world.find(id)).toMatchObject({ status: "working" });
    await die(world, await world.claim(id));
    expect(await world.find(id)).toMatchObject({ status: "failed", outcome: { kind: "error", code: "checkpoint_stuck" } });
  });

  test.each<[string, (world: MemoryWorld, attempt: AttemptRef, value: SealedValue) => Promise<unknown>]>([
    ["a checkpoint", ({ store }, attempt, value) => store.saveCheckpoint(attempt, value)],
    ["a step", ({ store }, attempt, value) => store.saveStep(attempt, { ...value, key: "s" })],
  ])("is replaced when it left %s, unless it is the one that was there", async (_what, keep) => {
    for (const [second, status] of [
      [{ ...VALUE, text: "[2]" }, "working"],
      [{ ...VALUE, sourceRevision: "r2" }, "working"],
      [{ ...VALUE, seal: "by another key" }, "failed"],
    ] as const) {
      const world = openMemoryWorld();
      const { id } = await world.create();
      for (const value of [VALUE, second]) {
        const attempt = await world.claim(id);
        await keep(world, attempt, value);
        await die(world, attempt);
      }
      expect(await world.find(id)).toMatchObject({ status });
    }
  });

  test("is replaced at no cost when its result is staged (C6.1)", async () => {
    const world = openMemoryWorld();
    const { id } = await world.create();
    await world.store.stage(await world.claim(id), staged());
    world.at += 60_001;
    await world.store.reap(10);
    for (let round = 0; round < 5; round += 1) await die(world, await world.claim(id));
    const attempt = await world.claim(id);
    expect(attempt.staged).toMatchObject({ ...staged(), taskId: id });
    expect(await world.store.settle(attempt, { kind: "published" })).toBe("completed");
    expect(await world.find(id)).toMatchObject({ status: "completed", outcome: { kind: "result", result: { content: [] } } });
  });

  test.each(["planned", "applying", "rolling_back", "committed"] as const)("is replaced at no cost when its plan is %s", async (to) => {
    const world = openMemoryWorld();
    const { id } = await world.create({ operation: write });
    const first = await world.claim(id);
    await world.store.bind(first, plan());
    await world.store.move(first, { from: ["planned"], to });
    await world.store.requestCancellation({ id, principal: alice });
    await die(world, first);
    for (let round = 0; round < 5; round += 1) await die(world, await world.claim(id));
    expect(await world.claim(id)).toMatchObject({ journalState: to, cancelRequested: true });
  });

  test("fails its task when its plan is unresolved, whatever was wished", async () => {
    const world = openMemoryWorld();
    const attempt = await world.claim((await world.create({ operation: write })).id);
    await world.store.bind(attempt, plan());
    await world.store.move(attempt, { from: ["planned"], to: "unresolved" });
    await world.store.requestCancellation({ id: attempt.taskId, principal: alice });
    await die(world, attempt);
    expect(await world.find(attempt.taskId)).toMatchObject({ status: "failed", outcome: { kind: "error", code: "write_unresolved" } });
  });

  test("ends its task as cancelled when somebody wished it, whatever was staged", async () => {
    const world = openMemoryWorld();
    const attempt = await world.claim((await world.create()).id);
    await world.store.stage(attempt, staged());
    await world.store.requestCancellation({ id: attempt.taskId, principal: alice });
    await die(world, attempt);
    expect(await world.find(attempt.taskId)).toMatchObject({ status: "cancelled", outcome: null });
  });
});

describe("an attempt", () => {
  test("finds what the one before it has left", async () => {
    const { store, create, claim } = openMemoryWorld();
    const { id } = await create();
    const first = await claim(id);
    expect(first).toMatchObject({ checkpoint: null, steps: [], inputs: [], staged: null, reusable: null, journalState: null });
    await store.saveCheckpoint(first, { ...VALUE, text: "[0]" });
    await store.saveCheckpoint(first, VALUE);
    await store.saveStep(first, { ...VALUE, key: "a", text: "0" });
    await store.saveStep(first, { ...VALUE, key: "b" });
    await store.saveStep(first, { ...VALUE, key: "a" });
    await store.settle(first, { kind: "interrupted", detail: "" });
    const steps = [
      { ...VALUE, key: "a" },
      { ...VALUE, key: "b" },
    ];
    expect(await claim(id)).toMatchObject({ token: 2, checkpoint: VALUE, steps });
  });

  test("shows nothing of a result that it has only staged", async () => {
    const { store, create, claim, find } = openMemoryWorld();
    const attempt = await claim((await create()).id);
    await store.stage(attempt, staged());
    expect(await find(attempt.taskId)).toMatchObject({ status: "working", outcome: null });
  });

  test("cannot publish what was not staged", async () => {
    const { store, create, claim, find } = openMemoryWorld();
    const attempt = await claim((await create()).id);
    await expect(store.settle(attempt, { kind: "published" })).rejects.toMatchObject({ code: "internal" });
    expect(await find(attempt.taskId)).toMatchObject({ status: "working" });
  });

  test("costs nothing when it was interrupted, also with a checkpoint that stays the same", async () => {
    const { store, create, claim, find } = openMemoryWorld();
    const { id } = await create();
    for (let round = 0; round < 5; round += 1) {
      const attempt = await claim(id);
      if (round === 0) await store.saveCheckpoint(attempt, VALUE);
      expect(await store.settle(attempt, { kind: "interrupted", detail: "" })).toBe("requeued");
    }
    expect(await find(id)).toMatchObject({ status: "working" });
  });
});

describe("an ending that contradicts the journal", () => {
  const endings: Readonly<Record<string, Settlement>> = {
    completed: { kind: "completed", result: { content: [] }, artifacts: [] },
    published: { kind: "published" },
    failed: { ...CRASH, retry: false },
    "failed for it": { ...CRASH, code: "write_unresolved", retry: false },
    cancelled: { kind: "cancelled" },
    suspended: { kind: "suspended", requests: { q: ROOTS } },
    died: CRASH,
    interrupted: { kind: "interrupted", detail: "" },
  };
  test.each<[JournalState, readonly string[]]>([
    ["planned", ["died", "interrupted"]],
    ["applying", ["died", "interrupted"]],
    ["rolling_back", ["died", "interrupted"]],
    ["committed", ["completed", "published", "died", "interrupted"]],
    ["restored", Object.keys(endings)],
    ["unresolved", ["failed for it", "died", "interrupted"]],
  ])("settles nothing while it stands at %s", async (to, accepted) => {
    for (const [name, settlement] of Object.entries(endings)) {
      const { store, create, claim } = openMemoryWorld();
      const attempt = await claim((await create({ operation: write })).id);
      await store.stage(attempt, staged());
      await store.bind(attempt, plan());
      await store.move(attempt, { from: ["planned"], to });
      const settling = store.settle(attempt, settlement);
      const answer = await settling.then(
        () => "settled",
        (error: unknown) => (error instanceof AppError ? error.code : error),
      );
      const [renewal] = await store.renew([{ attempt, progress: null }], 1_000);
      const expected = accepted.includes(name) ? { answer: "settled", renewal: "refused" } : { answer: "internal", renewal: "renewed" };
      expect({ name, answer, renewal: renewal?.kind }).toEqual({ name, ...expected });
    }
  });
});

describe("a question", () => {
  test("is asked once in the life of a task, and there is at least one to wait for", async () => {
    const { store, create, claim } = openMemoryWorld();
    const attempt = await claim((await create({ answers: [{ key: "q", method: "roots/list", answer: {} }] })).id);
    for (const requests of [{}, { p: ROOTS, q: ROOTS }])
      await expect(store.settle(attempt, { kind: "suspended", requests })).rejects.toMatchObject({ code: "operation_output_invalid" });
    expect(await store.settle(attempt, { kind: "suspended", requests: { p: ROOTS } })).toBe("parked");
  });
});
