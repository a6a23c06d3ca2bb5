import { expect, test } from "vitest";
import { createLane, type LaneOptions } from "./lane.ts";

/** How long a condition may take on a machine that does other things too. */
const soon = { timeout: 10_000 };

/** A lane whose batches end when the test says so. */
function heldLane(options: Partial<Pick<LaneOptions<number, number>, "batchSize" | "batchWeight" | "weigh" | "queueLimit">> = {}) {
  const batches: (readonly number[])[] = [];
  const open: PromiseWithResolvers<void>[] = [];
  const lane = createLane<number, number>({
    run: async (items) => {
      batches.push(items);
      const gate = Promise.withResolvers<void>();
      open.push(gate);
      await gate.promise;
      return items.map((item) => item * 10);
    },
    blamesOneItem: () => true,
    ...options,
  });
  const finish = async (): Promise<void> => {
    await expect.poll(() => open.length, soon).toBeGreaterThan(0);
    open.shift()?.resolve();
  };
  return { lane, batches, finish };
}

test("what arrives while a batch is in flight goes together in the next, and everybody gets their own answer", async () => {
  const { lane, batches, finish } = heldLane();
  const first = lane.submit(1);
  await expect.poll(() => batches, soon).toEqual([[1]]);
  const rest = [2, 3, 4].map((item) => lane.submit(item));
  expect(batches).toEqual([[1]]);
  await finish();
  expect(await first).toBe(10);
  await finish();
  expect(await Promise.all(rest)).toEqual([20, 30, 40]);
  expect(batches).toEqual([[1], [2, 3, 4]]);
});

test("a single item is sent without waiting for others", async () => {
  const { lane, batches } = heldLane();
  void lane.submit(1).catch(() => undefined);
  // Two turns of the microtask queue: no timer, no input or output.
  await Promise.resolve();
  await Promise.resolve();
  expect(batches).toEqual([[1]]);
});

test("a batch is no larger than its cap, and items keep their order", async () => {
  const { lane, batches, finish } = heldLane({ batchSize: 2 });
  const all = Promise.all([1, 2, 3, 4, 5].map((item) => lane.submit(item)));
  for (let batch = 0; batch < 3; batch += 1) await finish();
  expect(await all).toEqual([10, 20, 30, 40, 50]);
  expect(batches).toEqual([[1, 2], [3, 4], [5]]);
});

test("heavy items share no batch, and one that is too heavy for any goes alone", async () => {
  const { lane, batches, finish } = heldLane({ batchWeight: 10, weigh: (item) => item });
  const all = Promise.all([4, 6, 1, 50, 9, 1, 1].map((item) => lane.submit(item)));
  for (let batch = 0; batch < 5; batch += 1) await finish();
  await all;
  expect(batches).toEqual([[4, 6], [1], [50], [9, 1], [1]]);
});

test("a full queue refuses what comes on top, and takes more once it has moved", async () => {
  const { lane, batches, finish } = heldLane({ batchSize: 1, queueLimit: 2 });
  const first = lane.submit(1);
  await expect.poll(() => batches.length, soon).toBe(1);
  const waiting = [lane.submit(2), lane.submit(3)];
  await expect(lane.submit(4)).rejects.toMatchObject({ code: "overloaded" });
  await finish();
  await first;
  waiting.push(lane.submit(5));
  for (let batch = 0; batch < 3; batch += 1) await finish();
  expect(await Promise.all(waiting)).toEqual([20, 30, 50]);
});

test("a batch that fails for the sake of one item is repeated one by one: that item fails alone", async () => {
  const batches: (readonly number[])[] = [];
  const lane = createLane<number, number>({
    run: async (items) => {
      batches.push(items);
      if (items.includes(2)) throw new Error("two is bad");
      return items;
    },
    blamesOneItem: () => true,
  });
  const outcomes = await Promise.allSettled([1, 2, 3].map((item) => lane.submit(item)));
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(batches).toEqual([[1, 2, 3], [1], [2], [3]]);
});

test("a fault that is nobody's is not repeated: all get it, and the lane goes on", async () => {
  let isDown = true;
  const batches: (readonly number[])[] = [];
  const lane = createLane<number, number>({
    run: async (items) => {
      batches.push(items);
      if (isDown) throw new Error("the database is down");
      return items;
    },
    blamesOneItem: () => false,
  });
  const outcomes = await Promise.allSettled([1, 2].map((item) => lane.submit(item)));
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  isDown = false;
  expect(await lane.submit(3)).toBe(3);
  expect(batches).toEqual([[1, 2], [3]]);
});

test("an answer that is missing is an error of that item", async () => {
  const lane = createLane<number, number>({ run: async (items) => items.slice(1), blamesOneItem: () => false });
  const outcomes = await Promise.allSettled([1, 2].map((item) => lane.submit(item)));
  expect(outcomes).toMatchObject([{ status: "fulfilled" }, { status: "rejected", reason: { code: "internal" } }]);
});
