import { describe, expect, test } from "vitest";
import { resolvePositions } from "./absolute-positions.ts";
import type { Placement } from "./placement.ts";

function resolve(placements: Record<string, Partial<Placement>>) {
  const complete = Object.entries(placements).map(([id, placement]): [string, Placement] => [
    id,
    { x: 0, y: 0, relativePositionId: null, isUnclear: false, ...placement },
  ]);
  return Object.fromEntries(resolvePositions(new Map(complete)));
}

describe("positions in a tree", () => {
  test("are summed up along the chain, in whatever order the focuses stand", () => {
    expect(resolve({ c: { x: -1, y: 1, relativePositionId: "b" }, a: { x: 2, y: 3 }, b: { x: 10, relativePositionId: "a" } })).toEqual({
      a: { kind: "at", position: { x: 2, y: 3 } },
      b: { kind: "at", position: { x: 12, y: 3 } },
      c: { kind: "at", position: { x: 11, y: 4 } },
    });
  });

  test("behind a circle are none, and the circle is told without the way into it", () => {
    const cycle = { kind: "cycle", focusIds: ["a", "b"] };
    expect(resolve({ way: { relativePositionId: "a" }, a: { relativePositionId: "b" }, b: { relativePositionId: "a" } })).toEqual({
      way: cycle,
      a: cycle,
      b: cycle,
    });
  });

  test("behind what is not there or not clear are none, and the reason is told", () => {
    expect(
      resolve({
        a: { relativePositionId: "gone" },
        b: { relativePositionId: "a" },
        c: { x: null, isUnclear: true },
        d: { relativePositionId: "c" },
      }),
    ).toEqual({
      a: { kind: "missing", targetId: "gone" },
      b: { kind: "missing", targetId: "gone" },
      c: { kind: "unclear", focusId: "c" },
      d: { kind: "unclear", focusId: "c" },
    });
  });

  test("of a chain as long as a file allows are found", () => {
    const chain = Array.from({ length: 100_000 }, (_, index) => [
      `f${index}`,
      { x: 1, relativePositionId: index === 0 ? null : `f${index - 1}` },
    ]);
    expect(resolve(Object.fromEntries(chain.toReversed()) as Record<string, Partial<Placement>>)["f99999"]).toEqual({
      kind: "at",
      position: { x: 100_000, y: 0 },
    });
  });
});
