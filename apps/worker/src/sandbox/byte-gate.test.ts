import { expect, test } from "vitest";
import { createByteGate } from "./byte-gate.ts";

/** Lets the promises that are due settle. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

function enterAll(sizes: readonly number[]) {
  const gate = createByteGate(100);
  const inside: number[] = [];
  const leaves: (() => void)[] = [];
  for (const size of sizes)
    gate.enter(size).then(
      (leave) => {
        inside.push(size);
        leaves.push(leave);
      },
      (error: unknown) => expect.unreachable(String(error)),
    );
  return { inside, leaves };
}

test("what fits together is inside together, and the rest waits for room", async () => {
  const { inside, leaves } = enterAll([60, 40, 30]);
  await turn();
  expect(inside).toEqual([60, 40]);
  leaves[0]?.();
  await turn();
  expect(inside).toEqual([60, 40, 30]);
});

test("what is larger than the gate passes alone", async () => {
  const { inside, leaves } = enterAll([10, 500, 1]);
  await turn();
  expect(inside).toEqual([10]);
  leaves[0]?.();
  await turn();
  expect(inside).toEqual([10, 500]);
  leaves[1]?.();
  await turn();
  expect(inside).toEqual([10, 500, 1]);
});

test("bytes are given back once, however often their owner leaves", async () => {
  const { inside, leaves } = enterAll([60, 40, 100]);
  await turn();
  leaves[0]?.();
  leaves[0]?.();
  await turn();
  expect(inside).toEqual([60, 40]);
});
