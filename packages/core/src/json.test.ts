import { describe, expect, it } from "vitest";
import { canonicalJson, findUnstorableText, isStorableText } from "./json.ts";

describe("canonicalJson", () => {
  it("gives one text for one value whatever order its keys were added in", () => {
    expect(canonicalJson({ b: 1, a: { d: [2, { z: null, y: true }], c: "x" } })).toBe('{"a":{"c":"x","d":[2,{"y":true,"z":null}]},"b":1}');
    expect(canonicalJson({ a: { c: "x", d: [2, { y: true, z: null }] }, b: 1 })).toBe(
      canonicalJson({ b: 1, a: { d: [2, { z: null, y: true }], c: "x" } }),
    );
  });

  it("orders keys by code unit, not by locale", () => {
    expect(canonicalJson({ ä: 1, Z: 2, a: 3 })).toBe('{"Z":2,"a":3,"ä":1}');
  });

  it("keeps the order of lists", () => {
    expect(canonicalJson([3, 1, 2])).toBe("[3,1,2]");
  });
});

describe("findUnstorableText", () => {
  it("names the place of a NUL or of half a surrogate pair", () => {
    expect(findUnstorableText({ list: ["fine", { deep: "a\u0000b" }] })).toEqual(["list", 1, "deep"]);
    expect(findUnstorableText(["\ud83d"])).toEqual([0]);
  });

  it("names the object when one of its keys cannot be stored", () => {
    expect(findUnstorableText({ outer: { "bad\u0000key": 1 } })).toEqual(["outer"]);
  });

  it("finds nothing in ordinary text, emoji included", () => {
    expect(findUnstorableText({ emoji: "🏴‍☠️", nothing: null, count: 1 })).toBeNull();
  });
});

it("tells a whole surrogate pair from half of one", () => {
  expect(isStorableText("\ud83d\ude00")).toBe(true);
  expect(isStorableText("\ude00\ud83d")).toBe(false);
});
