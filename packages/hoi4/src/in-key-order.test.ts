import { expect, test } from "vitest";
import { canonicalJson } from "@holdfast/core";
import { inKeyOrder } from "./in-key-order.ts";
import { generateMod } from "./testing/generate/generate-mod.ts";
import { scanTexts } from "./testing/scan-texts.ts";
import { toJson } from "./to-json.ts";

test.each([[{ b: 1, a: { d: undefined, c: [{ z: null, y: "é\u0000" }] }, B: true }], [[]], ["text"], [null], [-0.5]])(
  "the text of %j is the canonical one",
  (value) => {
    expect(JSON.stringify(inKeyOrder(value))).toBe(canonicalJson(toJson(value)));
  },
);

test("the text of a graph is the canonical one", async () => {
  const { graph, diagnostics } = await scanTexts(generateMod({ events: 80, seed: 3 }).files);
  expect(JSON.stringify(inKeyOrder({ graph, diagnostics }))).toBe(canonicalJson(toJson({ graph, diagnostics })));
});

test.each([Number.NaN, Number.POSITIVE_INFINITY])("%s is refused, which JSON would make null", (value) => {
  expect(() => inKeyOrder({ a: [value] })).toThrow(TypeError);
});
