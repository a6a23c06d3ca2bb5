import { expect, test } from "vitest";
import { encodeValue } from "./encode-value.ts";

const encode = (value: unknown, maxBytes = 1_000) => encodeValue(value, { what: "it", maxBytes });

test.each([
  [null],
  [true],
  [-0.5],
  ["\u0000 \ud800 🦊"],
  [[1, [2, { a: [] }]]],
  [{ b: 1, a: { ["__proto__"]: 1 } }],
  [Object.assign(Object.create(null), { a: 1 })],
])("%j is kept as it is", (value: unknown) => {
  expect(JSON.parse(encode(value))).toEqual(value);
});

test("what is used twice is no circle", () => {
  const shared = { a: 1 };
  expect(encode([shared, shared])).toBe('[{"a":1},{"a":1}]');
});

test.each([
  [undefined, "it is undefined"],
  [{ a: [undefined] }, "it.a[0] is undefined"],
  [[Number.NaN], "it[0] is NaN"],
  [Number.POSITIVE_INFINITY, "it is Infinity"],
  [1n, "it is a bigint"],
  [() => 1, "it is a function"],
  [new Map(), "it is an object of class Map"],
  [new Uint8Array(1), "it is an object of class Uint8Array"],
  [{ toJSON: () => 1 }, "it is an object of class Object"],
])("%o would not come back, and is refused with its place", (value: unknown, reason) => {
  expect(() => encode(value)).toThrow(TypeError);
  expect(() => encode(value)).toThrow(reason);
});

test("bytes are counted as they are stored", () => {
  expect(encode("é".repeat(10), 22)).toHaveLength(12);
  expect(() => encode("é".repeat(10), 21)).toThrow("it of 22 bytes exceeds the 21 that can be kept");
});
