import { expect, it } from "vitest";
import { negotiateTtl, ttlAtEnd } from "./retention.ts";

const minute = 60_000;

it.each([
  ["nothing gets a day", undefined, 1_440 * minute],
  ["no end gets a week", null, 10_080 * minute],
  ["a length within the limits is kept", 90 * minute, 90 * minute],
  ["a short one becomes a minute", 1, minute],
  ["a long one becomes a week", 2 ** 53, 10_080 * minute],
])("%s (C12.1)", (_, requested, granted) => {
  expect(negotiateTtl(requested)).toBe(granted);
});

it.each([0, -0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "60000", true, {}, []])("%j is no retention (C12.1)", (requested) => {
  expect(negotiateTtl(requested)).toBeNull();
});

it.each([
  ["in time keeps what was granted", 3 * minute, 2 * minute, 3 * minute],
  ["shortly before its time is over stays for half a minute", 3 * minute, 2.75 * minute, 3.25 * minute],
  ["after its time stays for half a minute", minute, 10 * minute, 10.5 * minute],
])("a task that ends %s (C12.1)", (_, granted, age, ttl) => {
  expect(ttlAtEnd(granted, age)).toBe(ttl);
});
