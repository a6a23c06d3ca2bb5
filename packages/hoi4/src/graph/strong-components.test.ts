import { expect, test } from "vitest";
import { componentsOf } from "./strong-components.ts";

function sorted(graph: Record<string, string[]>): string[][] {
  return componentsOf(Object.keys(graph), (name) => graph[name] ?? [])
    .map((names) => names.toSorted())
    .toSorted((a, b) => ((a[0] ?? "") < (b[0] ?? "") ? -1 : 1));
}

test("names that lead to each other are together, all others alone", () => {
  expect(sorted({ a: ["b"], b: ["c", "d"], c: ["a"], d: ["e"], e: ["f"], f: ["e", "e"], g: ["a", "f"], h: [] })).toEqual([
    ["a", "b", "c"],
    ["d"],
    ["e", "f"],
    ["g"],
    ["h"],
  ]);
});

test("a chain longer than the stack of the machine is followed to its end", () => {
  const length = 50_000;
  const names = Array.from({ length }, (_, index) => String(index));
  const components = componentsOf(names, (name) => [String((Number(name) + 1) % length)]);
  expect(components).toHaveLength(1);
  expect(components[0]).toHaveLength(length);
});

test("a chain without a circle takes time with its length, not with the square of it", () => {
  const length = 50_000;
  const names = Array.from({ length }, (_, index) => String(index));
  const before = process.cpuUsage();
  expect(componentsOf(names, (name) => (Number(name) + 1 < length ? [String(Number(name) + 1)] : []))).toHaveLength(length);
  expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
});
