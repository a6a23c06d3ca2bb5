import { expect, it } from "vitest";
import { createSeals } from "./seals.ts";

const old = { id: "old", secret: new Uint8Array(32).fill(1) };
const young = { id: "young", secret: new Uint8Array(32).fill(2) };
const parts = ["task", 1, { a: null }];

it("knows its own seal, whichever key made it (C3.3)", () => {
  const before = createSeals([old]).seal("receipt", parts);
  const rotated = createSeals([young, old]);
  expect(rotated.isGenuine("receipt", parts, before)).toBe(true);
  expect(rotated.seal("receipt", parts)).toMatch(/^young\./u);
});

it.each([
  ["other parts", "receipt", ["task", 2, { a: null }]],
  ["parts that were cut differently", "receipt", ["task", "1", { a: null }]],
  ["another purpose", "journal", parts],
])("refuses a seal for %s", (_, purpose, sealed) => {
  const seals = createSeals([old]);
  expect(seals.isGenuine(purpose, sealed, seals.seal("receipt", parts))).toBe(false);
});

it("refuses a seal of a key that it does not know, under a borrowed id, and none at all", () => {
  const seals = createSeals([old]);
  const stranger = createSeals([{ id: "old", secret: young.secret }]).seal("receipt", parts);
  for (const seal of [createSeals([young]).seal("receipt", parts), stranger, "", "old.", "old", "."]) {
    expect(seals.isGenuine("receipt", parts, seal)).toBe(false);
  }
});
