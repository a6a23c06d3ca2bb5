import { describe, expect, test } from "vitest";
import { located, outline, parseText } from "./testing/outline.ts";

describe("entries", () => {
  test("of every kind may be mixed in one block", () => {
    const file = parseText('x = { {} { 0 } 1 2 "three" a = 1 1444.1.1 = { b = c } { 4 } 5 }');

    expect(outline(file)).toBe('x={{} {0} 1 2 "three" a=1 1444.1.1={b=c} {4} 5}');
    expect(file.findings).toEqual([]);
  });

  test("without keys may stand before and behind pairs", () => {
    expect(outline(parseText("a = { {} x = y } b = { x = y 1 2 }"))).toBe("a={{} x=y} b={x=y 1 2}");
  });

  test("with one key are all kept, in order", () => {
    expect(outline(parseText("if = { a = b } else = { c = d } if = { e = f } icon = 1 icon = 2"))).toBe(
      "if={a=b} else={c=d} if={e=f} icon=1 icon=2",
    );
  });

  test("take quoted, numeric, dated and dynamic keys", () => {
    const file = parseText('"my key" = x 10 = { a.1 } 1939.1.1 = { } var:y = { } [?x] = z @C = 4 event_target:t = { }');

    expect(outline(file)).toBe('"my key"=x 10={a.1} 1939.1.1={} var:y={} [?x]=z @C=4 event_target:t={}');
    expect(file.findings).toEqual([]);
  });

  test("may follow a value directly", () => {
    expect(outline(parseText("a = b c = d e = f g"))).toBe("a=b c=d e=f g");
  });

  test("know the bytes they were written with", () => {
    const text = "x = { country = { id = 1 } }";
    const pair = parseText(text).root.entries[0]!;

    expect(pair).toMatchObject({ kind: "pair", start: 0, end: text.length });
  });
});

describe("a missing operator", () => {
  test("before a block is understood and reported", () => {
    const file = parseText("if = { a = b } else { c = d } option { name = x }");

    expect(outline(file)).toBe("if={a=b} else~{c=d} option~{name=x}");
    expect(located(file)).toEqual(["MISSING_OPERATOR else", "MISSING_OPERATOR option"]);
  });

  test("in a list makes a pair too, as in the game", () => {
    expect(outline(parseText("x = { a { b } }"))).toBe("x={a~{b}}");
  });
});

describe("a repeated operator", () => {
  test("is ignored and reported", () => {
    const file = parseText("a = = b c = = { d }");

    expect(outline(file)).toBe("a=b c={d}");
    expect(located(file)).toEqual(["REPEATED_OPERATOR =", "REPEATED_OPERATOR ="]);
  });

  test("behind a repeated key keeps the block with the second key", () => {
    const file = parseText("sub_technologies = sub_technologies={ x } y = z");

    expect(outline(file)).toBe("sub_technologies=? sub_technologies={x} y=z");
    expect(located(file)).toEqual(["MISSING_VALUE sub_technologies ="]);
  });
});

describe("a forgotten value", () => {
  test("does not eat the key of the next line", () => {
    const file = parseText("picture = \nallowed = { tag = GER }\nOR = has_completed_focus = X");

    expect(outline(file)).toBe("picture=? allowed={tag=GER} OR=? has_completed_focus=X");
    expect(located(file)).toEqual(["MISSING_VALUE picture =", "MISSING_VALUE OR ="]);
  });

  test("does not eat the brace behind it", () => {
    const file = parseText("a = { x = } b = c");

    expect(outline(file)).toBe("a={x=?} b=c");
    expect(located(file)).toEqual(["MISSING_VALUE x ="]);
  });

  test("may be the last thing in the file", () => {
    const file = parseText("a = b x =");

    expect(outline(file)).toBe("a=b x=?");
    expect(located(file)).toEqual(["MISSING_VALUE x ="]);
  });
});

describe("an operator without a key", () => {
  test.each(["==", "=", "!="])("%s is ignored and reported", (operator) => {
    const file = parseText(`a = { ${operator} b }`);

    expect(outline(file)).toBe("a={b}");
    expect(located(file)).toEqual([`OPERATOR_WITHOUT_KEY ${operator}`]);
  });
});

describe("a colour header", () => {
  test.each(["rgb", "hsv", "HSV", "hsv360"])("%s belongs to the block behind it, also on the next line", (tag) => {
    const file = parseText(`color = ${tag} { 10 20 30 }\nother = ${tag}\n{ 1 }`);

    expect(outline(file)).toBe(`color=${tag}{10 20 30} other=${tag}{1}`);
    expect(file.findings).toEqual([]);
  });

  test("covers its block", () => {
    const text = "color = rgb { 10 }";
    const pair = parseText(text).root.entries[0]!;

    expect(pair.value).toMatchObject({ kind: "tagged-block", start: 8, end: text.length });
  });

  test("is a country tag where no block follows", () => {
    const file = parseText("owner = RGB add_core_of = RGB x = { RGB }");

    expect(outline(file)).toBe("owner=RGB add_core_of=RGB x={RGB}");
    expect(file.findings).toEqual([]);
  });

  test("in key position is a key", () => {
    expect(outline(parseText("rgb = { 1 } RGB { 2 }"))).toBe("rgb={1} RGB~{2}");
  });

  test("has no quotes", () => {
    const file = parseText('a = "rgb" { 1 }');

    expect(outline(file)).toBe('a="rgb" {1}');
    expect(located(file)).toEqual(['UNATTACHED_BLOCK "rgb" {']);
  });
});

test("a block behind any other finished value stays apart and is reported", () => {
  const file = parseText("a = b { c = d }");

  expect(outline(file)).toBe("a=b {c=d}");
  expect(located(file)).toEqual(["UNATTACHED_BLOCK b {"]);
});

describe("braces", () => {
  test("too many at the root are ignored one by one", () => {
    const file = parseText("a = { b = c } }\nd = e\n} } f = g");

    expect(outline(file)).toBe("a={b=c} d=e f=g");
    expect(located(file)).toEqual(["EXTRA_CLOSE_BRACE }", "EXTRA_CLOSE_BRACE }", "EXTRA_CLOSE_BRACE }"]);
  });

  test("too few are closed at the end of the file, each unclosed one reported where it opens", () => {
    const file = parseText("a = { b = { c = d ");

    expect(outline(file)).toBe("a={b={c=d……");
    expect(file.findings.map(({ code, start }) => [code, start])).toEqual([
      ["MISSING_CLOSE_BRACE", 4],
      ["MISSING_CLOSE_BRACE", 10],
    ]);
  });

  test("of an anonymous block at the root close like any other", () => {
    expect(outline(parseText("{ a } { {} }"))).toBe("{a} {{}}");
  });
});

describe("deep nesting", () => {
  test("is read down to the limit", () => {
    const file = parseText(`${"a={".repeat(256)}b${"}".repeat(256)}`);

    expect(outline(file)).toBe(`${"a={".repeat(256)}b${"}".repeat(256)}`);
    expect(file.findings).toEqual([]);
  });

  test("beyond the limit keeps the range of the block, leaves its inside out and goes on behind it", () => {
    const file = parseText("a={b={c={d}e=f}g=h}", { maxDepth: 2 });

    expect(outline(file)).toBe("a={b={c={} e=f} g=h}");
    expect(located(file)).toEqual(["DEPTH_LIMIT {d}"]);
  });

  test("a million levels deep neither overflows the stack nor loses a byte", () => {
    const file = parseText("{".repeat(1_000_000));

    expect(file.tokens.count).toBe(1_000_000);
    expect(file.findings.map(({ code }) => code)).toContain("DEPTH_LIMIT");
  });

  test("behind a header keeps the header", () => {
    expect(outline(parseText("a={c=rgb{1}}", { maxDepth: 1 }))).toBe("a={c=rgb{}}");
  });
});
