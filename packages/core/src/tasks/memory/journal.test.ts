import { describe, expect, test } from "vitest";
import { JOURNAL_STATES } from "../write-journal.ts";
import { grant, openMemoryWorld, plan, write } from "./testing.ts";

describe("the journal of writes (C7)", () => {
  test("keeps the whole plan for the attempt that has the task, and hands out copies", async () => {
    const { store, create, claim, lose } = openMemoryWorld();
    const first = await claim((await create({ operation: write })).id);
    expect(await store.read(first)).toBeNull();
    expect(await store.bind(first, plan())).toBe("bound");
    (await store.read(first))?.files[0]?.before?.bytes.fill(9);
    await lose(first);
    expect(await store.read(first)).toBeNull();
    expect(await store.read(await claim(first.taskId))).toEqual({ ...plan(), state: "planned", recoveries: 0 });
  });

  test("takes one plan a task, and the same one again from the attempt that may not have heard the answer", async () => {
    const { store, create, claim } = openMemoryWorld();
    const attempt = await claim((await create({ operation: write })).id);
    await store.bind(attempt, plan());
    expect(await store.bind(attempt, plan())).toBe("bound");
    expect(await store.bind(attempt, plan({ seal: "of another plan" }))).toBe("refused");
    await store.move(attempt, { from: ["planned"], to: "applying" });
    expect(await store.bind(attempt, plan())).toBe("refused");
  });

  test("binds nothing for an owner whose grant to write has ended (C2.6)", async () => {
    const ending = openMemoryWorld({ grants: [{ ...grant, expiresAt: 1_700_000_000_500 }] });
    const attempt = await ending.claim((await ending.create({ operation: write })).id);
    ending.at += 1_000;
    expect(await ending.store.bind(attempt, plan())).toBe("denied");
    expect(await ending.store.read(attempt)).toBeNull();
  });

  test("begins nothing for an owner whose grant to write has ended since it was bound (C2.6)", async () => {
    const ending = openMemoryWorld({ grants: [{ ...grant, expiresAt: 1_700_000_000_500 }] });
    const attempt = await ending.claim((await ending.create({ operation: write })).id);
    expect(await ending.store.bind(attempt, plan())).toBe("bound");
    ending.at += 1_000;
    expect(await ending.store.move(attempt, { from: ["planned", "applying"], to: "applying" })).toBe("denied");
    expect(await ending.store.move(attempt, { from: ["planned"], to: "restored" })).toBe("moved");
  });

  test("takes no plan again from another attempt, which has to take up the one that is there", async () => {
    const { store, create, claim, lose } = openMemoryWorld();
    const attempt = await claim((await create({ operation: write })).id);
    await store.bind(attempt, plan());
    await lose(attempt);
    expect(await store.bind(await claim(attempt.taskId), plan())).toBe("refused");
  });

  test.each([
    ["restored", ["restored"]],
    ["unresolved", ["unresolved"]],
    ["committed", ["committed", "unresolved"]],
  ] as const)("leaves what is %s so, but for what turns out not to be ours", async (stands, allowed) => {
    for (const to of JOURNAL_STATES) {
      const { store, create, claim } = openMemoryWorld();
      const attempt = await claim((await create({ operation: write })).id);
      await store.bind(attempt, plan());
      await store.move(attempt, { from: ["planned"], to: stands });
      expect(await store.move(attempt, { from: [stands], to })).toBe(allowed.some((state) => state === to) ? "moved" : "refused");
    }
  });

  test("lets one plan at a time write below a root, until it is committed, restored or given up", async () => {
    for (const end of ["committed", "restored", "unresolved"] as const) {
      const { store, create, claim } = openMemoryWorld();
      const attemptIn = async (workspaceId: string) => await claim((await create({ operation: write, workspaceId })).id);
      const [first, sameRoot, elsewhere] = [await attemptIn("alpha"), await attemptIn("beta"), await attemptIn("gamma")];
      await store.bind(first, plan());
      expect(await store.bind(elsewhere, plan())).toBe("bound");
      for (const to of ["planned", "applying", "rolling_back"] as const) {
        await store.move(first, { from: ["planned", "applying"], to });
        expect(await store.bind(sameRoot, plan())).toBe("busy");
      }
      await store.move(first, { from: ["rolling_back"], to: end });
      expect(await store.bind(sameRoot, plan())).toBe("bound");
    }
  });

  test("moves on only from where it stands, and answers whether an attempt may still write (C7.4)", async () => {
    const { store, create, claim, lose } = openMemoryWorld();
    const stale = await claim((await create({ operation: write })).id);
    expect(await store.move(stale, { from: ["planned"], to: "applying" })).toBe("refused");
    await store.bind(stale, plan());
    expect(await store.move(stale, { from: ["applying"], to: "committed" })).toBe("refused");
    expect(await store.move(stale, { from: ["planned", "applying"], to: "applying" })).toBe("moved");
    await lose(stale);
    const newer = await claim(stale.taskId);
    expect(await store.move(stale, { from: ["applying"], to: "applying" })).toBe("refused");
    // Its answer may be lost: an attempt is counted once, however often it asks.
    for (let round = 0; round < 2; round += 1)
      expect(await store.move(newer, { from: ["applying"], to: "rolling_back", recovered: true })).toBe("moved");
    expect(await store.read(newer)).toMatchObject({ state: "rolling_back", recoveries: 1 });
  });
});
