import { expect, test } from "vitest";
import { createFileCache } from "./file-cache.ts";

/** Asks for each key as a scan does: what is not kept is made and offered. Answers how many were. */
function scan(cache: ReturnType<typeof createFileCache<string>>, keys: readonly string[], { refresh = false } = {}): number {
  const pass = cache.open({ refresh });
  return keys.filter((key) => pass.get(key) === undefined).map((key) => pass.put(key, key, 10)).length;
}

const keys = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`);

test("what was made once is there for the next pass, and a refreshing pass makes it anew", () => {
  const cache = createFileCache<string>({ maxBytes: 100 });
  expect([scan(cache, ["a", "b"]), scan(cache, ["a", "b"])]).toEqual([2, 0]);
  expect([scan(cache, ["a"], { refresh: true }), scan(cache, ["a", "b"])]).toEqual([1, 0]);
  expect(cache.bytes).toBe(20);
});

test("never more is kept than the bound", () => {
  const cache = createFileCache<string>({ maxBytes: 35 });
  scan(cache, keys("a", 100));
  expect(cache.bytes).toBe(30);
  cache.open().put("huge", "", 36);
  expect(cache.bytes).toBeLessThanOrEqual(35);
});

test("what nobody uses makes room for what is used", () => {
  const cache = createFileCache<string>({ maxBytes: 50 });
  scan(cache, keys("old", 5));
  expect([scan(cache, keys("new", 5)), scan(cache, keys("new", 5)), scan(cache, keys("old", 5))]).toEqual([5, 0, 5]);
});

test("of a mod that is larger than the cache, each pass finds what has room", () => {
  const cache = createFileCache<string>({ maxBytes: 60 });
  scan(cache, keys("a", 10));
  expect(scan(cache, keys("a", 10))).toBe(4);
  // An edited file must not push out the one that comes next, and that one the next again.
  expect(scan(cache, ["a0", "edited", ...keys("a", 10).slice(2)])).toBe(5);
});
