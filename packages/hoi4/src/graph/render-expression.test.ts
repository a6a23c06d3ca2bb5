import { expect, test } from "vitest";
import { parseScript } from "../clausewitz/index.ts";
import { EXPRESSION_LIMIT, hashContent, renderExpression } from "./render-expression.ts";

function rendered(script: string): string {
  return renderExpression(parseScript(Buffer.from(script)).root);
}

test("operators, quotes, headers, lists and implied operators keep their meaning in one line", () => {
  expect(rendered('a<1 b > 2\n c = "x \\"y\\"" # why\n d = { { e = f } 1 2 } color = rgb { 1 2 3 } else { g = h } i = }')).toBe(
    'a < 1 b > 2 c = "x \\"y\\"" d = { { e = f } 1 2 } color = rgb { 1 2 3 } else = { g = h } i =',
  );
});

test("a rendered expression reads as the same script again", () => {
  const once = rendered('if = { limit = { NOT = { a = "b c" } } x > 1.5 }  y = { }');
  expect(rendered(once)).toBe(once);
});

test("a longer expression is cut at the limit and says so", () => {
  const text = rendered("a = b ".repeat(EXPRESSION_LIMIT));
  expect(text).toHaveLength(EXPRESSION_LIMIT);
  expect(text.endsWith("…")).toBe(true);
});

test("the hash of a block covers all of it, and not its layout", () => {
  const hash = (script: string) => hashContent(parseScript(Buffer.from(script)).root);
  const long = "a = b ".repeat(EXPRESSION_LIMIT);
  expect(hash("a = { b = c }")).toBe(hash("a={\n\tb=c # same\n}"));
  expect(hash(`${long} x = y`)).not.toBe(hash(`${long} x = z`));
});
