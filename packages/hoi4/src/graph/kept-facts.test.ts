import { describe, expect, test } from "vitest";
import { sha256Of } from "../sha256.ts";
import { createFactsCache, readKept } from "./kept-facts.ts";

function loaded(text: string, path = "events/a.txt") {
  const bytes = Buffer.from(text);
  const file = {
    path,
    relativePath: path,
    displayPath: `mod:${path}`,
    layer: "mod",
    order: 0,
    size: bytes.length,
    role: { kind: "events" },
  } as const;
  return { file, bytes, sha256: sha256Of(bytes) };
}

const event = (effects: string) => `country_event = { id = a.1 hidden = yes is_triggered_only = yes immediate = { ${effects} } }`;
const NONE = new Map<string, string>();

describe("the facts of a file", () => {
  test("are those of its bytes at its path, and of no others", () => {
    const cache = createFactsCache();
    const first = readKept(cache.open(), loaded(event("")), NONE);
    expect(readKept(cache.open(), loaded(event("")), NONE)).toBe(first);
    expect(readKept(cache.open(), loaded(event("x = yes")), NONE)).not.toBe(first);
    const moved = readKept(cache.open(), loaded(event(""), "events/b.txt"), NONE);
    expect(moved.facts.events[0]?.at.path).toBe("mod:events/b.txt");
  });

  test("hold as long as the words in it are the scripted effects that they were, whatever others there are", () => {
    const cache = createFactsCache();
    const text = event("one = yes two = yes");
    const callsWith = (helpers: [string, string][]) =>
      readKept(cache.open(), loaded(text), new Map(helpers)).facts.events.flatMap(({ calls }) => calls.map(({ target }) => target));
    const one = { kind: "helper", name: "one", isSpelledAlike: true };
    expect(callsWith([["one", "one"]])).toEqual([one]);
    expect(
      callsWith([
        ["one", "one"],
        ["three", "three"],
      ]),
    ).toEqual([one]);
    expect(callsWith([["one", "One"]])).toEqual([{ kind: "helper", name: "One", isSpelledAlike: false }]);
    expect(callsWith([["two", "two"]])).toEqual([{ ...one, name: "two" }]);
    expect(callsWith([])).toEqual([]);
  });

  test("count for more when one call keeps a long chain of conditions", () => {
    const chain = (branches: number) =>
      event(`if = { limit = { a = b } } ${"else_if = { limit = { a = b } } ".repeat(branches)} else = { country_event = a.1 }`);
    const bytesOf = (text: string) => {
      const cache = createFactsCache();
      readKept(cache.open(), loaded(text), NONE);
      return cache.bytes;
    };
    const long = chain(1_000);
    // A condition takes about as much as two hundred characters.
    expect(bytesOf(long)).toBeGreaterThan(1_000 * 200);
    expect(bytesOf(long.replace("country_event = a.1 }", "a = b }"))).toBeLessThan(50_000);
  });
});
