import { Buffer } from "node:buffer";
import { describe, expect, test } from "vitest";
import { parseScript } from "./parse-script.ts";
import { tokenKind } from "./syntax.ts";
import { located, outline, parseText } from "./testing/outline.ts";

describe("words", () => {
  test.each([
    ["-0.5", "a negative fraction keeps its sign"],
    ["+1", "a plus sign"],
    [".5", "a fraction without a whole part"],
    ["-.5", "a negative fraction without a whole part"],
    ["1.", "a number that ends in its point"],
    ["0x1F", "a hexadecimal number"],
    ["007", "leading zeros"],
    ["76561198000000001234", "an id too long for a JavaScript number"],
    ["100%%", "percent signs"],
    ["1936.1.1.12", "a date with an hour"],
    ["-44.3.15", "a date before year one"],
    ["proposal_cost?25", "a variable with a default"],
    ["!x", "an exclamation mark that is no operator"],
    ["arr^num", "an array index"],
    ["flag_@ROOT", "a target suffix"],
    ["@NAME", "a constant"],
    ["var:PREV.owner", "prefixes and chains"],
    ["[?var|.2%+]", "a formatted name"],
    ["a|dam", "a pipe"],
    ["gfx\\interface/a.dds", "slashes both ways"],
    ["o'neill’s", "apostrophes"],
    ["SPR_niceto_alcalá_zamora", "an accented letter"],
    ["国民党", "Japanese, whose bytes include those that unusual spaces start with"],
    ["Âme", "a letter that starts like a no-break space"],
    ["a&b*c$d~e+f", "the rest of ASCII punctuation"],
  ])("%s stays one word: %s", (word) => {
    const file = parseText(`x = ${word} y = { ${word} }`);

    expect(outline(file)).toBe(`x=${word} y={${word}}`);
    expect(file.findings).toEqual([]);
  });

  test("end at braces, operators, quotes and comments without any white space", () => {
    const file = parseText('a={b="1"c=d}foo=bar#x\nkey="x"other=y');

    expect(outline(file)).toBe('a={b="1" c=d} foo=bar key="x" other=y');
    expect(file.findings).toEqual([]);
  });

  test("end before an operator that starts with ! or ?", () => {
    expect(outline(parseText("a!=b c?=d"))).toBe("a!=b c?=d");
  });

  test("keep a value that starts with ! or ? apart from the operator before it", () => {
    expect(outline(parseText("a=!b c=?d"))).toBe("a=!b c=?d");
  });

  test("take in the spaces of inline math, which is reported as not calculated", () => {
    const file = parseText("cost = @[ base * 2 ] next = @[1-x]");

    expect(outline(file)).toBe("cost=@[ base * 2 ] next=@[1-x]");
    expect(located(file)).toEqual(["MATH_NOT_EVALUATED @[ base * 2 ]", "MATH_NOT_EVALUATED @[1-x]"]);
  });

  test("are split where inline math is longer than any real expression, since a search for its end would have no bound", () => {
    const file = parseText(`@[${" a".repeat(500)} ]`);

    expect(outline(file)).toBe(`@[${" a".repeat(500)} ]`);
    expect(file.root.entries).toHaveLength(502);
    expect(file.findings).toEqual([]);
  });

  test("do not run on when inline math is not closed on its line", () => {
    expect(outline(parseText("a = @[ b\nc = d ]"))).toBe("a=@[ b c=d ]");
  });
});

describe("operators", () => {
  test.each(["<=", ">=", "!=", "==", "?="])("%s is read, also as the first in a block, and reported as foreign to the game", (operator) => {
    const file = parseText(`a = { b ${operator} 1 }`);

    expect(outline(file)).toBe(`a={b${operator}1}`);
    expect(located(file)).toEqual([`UNSUPPORTED_OPERATOR ${operator}`]);
  });

  test.each(["=>", "=<", "<>", "!==", "==="])("%s is one unknown operator", (operator) => {
    const file = parseText(`a ${operator} b`);

    expect(outline(file)).toBe("aunknownb");
    expect(located(file)).toEqual([`UNKNOWN_OPERATOR ${operator}`]);
  });

  test("< and > need no report", () => {
    const file = parseText("check_variable = { x > 5 y<-1 }");

    expect(outline(file)).toBe("check_variable={x>5 y<-1}");
    expect(file.findings).toEqual([]);
  });
});

describe("strings", () => {
  test("resolve escaped quotes and backslashes and keep other backslashes", () => {
    const file = parseText(String.raw`a = "say \"hi\"" b = "gfx\\x.dds" c = "gfx\new"`);

    expect(outline(file)).toBe(String.raw`a="say \"hi\"" b="gfx\\x.dds" c="gfx\\new"`);
    expect(located(file)).toEqual(["UNKNOWN_ESCAPE \\"]);
  });

  test("may be empty and may hold braces, operators and comments", () => {
    const file = parseText('a = "" b = "{ # } = <"');

    expect(outline(file)).toBe('a="" b="{ # } = <"');
    expect(file.findings).toEqual([]);
  });

  test("may begin on the line below their quote, as quoted script does", () => {
    const file = parseText('text = "\n  add_ideas = x\n"');

    expect(outline(file)).toBe('text="\\n  add_ideas = x\\n"');
    expect(file.findings).toEqual([]);
  });

  test("that run into a line of script are reported where their quote is probably missing", () => {
    const file = parseText('name = "Vichy\nicon = "GFX_x"\n');

    expect(located(file)[0]).toBe('PROBABLE_MISSING_QUOTE "Vichy');
    expect(file.findings[0]?.message).toContain("icon =");
  });

  test("without a closing quote swallow the rest of the file and say so on their first line", () => {
    const file = parseText('a = b name = "Vichy\nand more');

    expect(outline(file)).toBe('a=b name="Vichy\\nand more"');
    expect(located(file)).toEqual(['UNTERMINATED_STRING "Vichy']);
  });

  test("that end in an escaped quote are not closed by it", () => {
    const file = parseText(String.raw`a = "x\"`);

    expect(outline(file)).toBe(String.raw`a="x\""`);
    expect(located(file)).toEqual([String.raw`UNTERMINATED_STRING "x\"`]);
  });
});

describe("what separates words", () => {
  test("a lone semicolon or comma, and one behind a closing quote, is ignored and reported", () => {
    const file = parseText('effectFile = "gfx/FX/buttonstate.lua" ;\na = "b"; c = { 1, 2 }');

    expect(outline(file)).toBe('effectFile="gfx/FX/buttonstate.lua" a="b" c={1 2}');
    expect(located(file)).toEqual(["STRAY_SEPARATOR ;", "STRAY_SEPARATOR ;", "STRAY_SEPARATOR ,"]);
  });

  test("a semicolon at the end of a word stays in it and is reported", () => {
    const file = parseText("a = 10;");

    expect(outline(file)).toBe("a=10;");
    expect(located(file)).toEqual(["SEMICOLON_IN_WORD 10;"]);
  });

  test("no-break and ideographic spaces separate and are reported", () => {
    const file = parseText("a\u00a0=\u3000b c\u00a0= d");

    expect(outline(file)).toBe("a=b c=d");
    expect(file.findings.map(({ code }) => code)).toEqual(["ODD_WHITESPACE", "ODD_WHITESPACE", "ODD_WHITESPACE"]);
  });

  test("a no-break space of Windows-1252 separates as well", () => {
    const file = parseScript(Buffer.from("a\u00a0= \u00e9", "latin1"));

    expect(outline(file)).toBe("a=é");
    expect(file.findings.map(({ code }) => code)).toEqual(["NOT_UTF8", "ODD_WHITESPACE"].toReversed());
  });

  test("a byte order mark inside the file separates and is reported", () => {
    const file = parseText("\ufeffa = b\n\ufeffc = d");

    expect(outline(file)).toBe("a=b c=d");
    expect(file.findings.map(({ code, start }) => [code, start])).toEqual([["MISPLACED_BOM", 9]]);
  });

  test("NUL bytes and the end-of-file mark of DOS are ignored and reported", () => {
    const file = parseText("a = b\0\0c = d\n\x1a");

    expect(outline(file)).toBe("a=b c=d");
    expect(located(file)).toEqual(["CONTROL_CHARACTER \0\0", "CONTROL_CHARACTER \x1a"]);
  });

  test("a comment may end the file without a line end", () => {
    const file = parseText("a = b # done");

    expect(outline(file)).toBe("a=b");
    expect(file.tokens.kinds.at(-1)).toBe(tokenKind.comment);
    expect(file.findings).toEqual([]);
  });

  test("a comment ends at a lone carriage return", () => {
    expect(outline(parseText("a = b # x\rc = d"))).toBe("a=b c=d");
  });
});

describe("line ends", () => {
  test.each([
    ["a = b\nc = d\n", "lf"],
    ["a = b\r\n\r\nc = d # x\r\n", "crlf"],
    ["a = b\rc = d\r", "cr"],
    ["a = b\r\nc = d\n", "mixed"],
    ["a = b\r\nc = d\r", "mixed"],
    ['a = "b\nc"\r\n', "mixed"],
    ["a = b", "none"],
    ["", "none"],
  ] as const)("of %j are %s", (text, newline) => {
    expect(parseText(text).newline).toBe(newline);
  });
});

test("a file with too many tokens is read up to the limit and the rest is one token", () => {
  const file = parseText("a = { b = c }", { maxTokens: 7 });

  expect(outline(file)).toBe("a={b…");
  expect(located(file)).toEqual(["TOO_MANY_TOKENS  = c }"]);
  expect(file.tokens.kinds.at(-1)).toBe(tokenKind.opaque);
});
