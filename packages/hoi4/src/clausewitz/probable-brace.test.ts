import { expect, test } from "vitest";
import { outline, parseText } from "./testing/outline.ts";
import { positionAt } from "./positions.ts";
import type { ScriptFile } from "./syntax.ts";

test("an event inside an unclosed event is reported at its line, without changing the tree", () => {
  const file = parseText(
    "country_event = {\n\tid = a.1\n\toption = { name = x }\n\ncountry_event = {\n\tid = a.2\n}\ncountry_event = {\n\tid = a.3\n}\n",
  );

  expect(probableLines(file)).toEqual([5]);
  expect(outline(file)).toBe("country_event={id=a.1 option={name=x} country_event={id=a.2} country_event={id=a.3}…");
});

test("an event of another kind counts when that kind occurs at the root", () => {
  const file = parseText("news_event = {\n\tid = a.0\n}\ncountry_event = {\n\tid = a.1\n\nnews_event = {\n\tid = a.2\n}\n");

  expect(probableLines(file)).toEqual([7]);
});

test("a focus inside an unclosed focus of the same indentation is reported", () => {
  const file = parseText("focus_tree = {\n\tfocus = {\n\t\tid = a\n\n\tfocus = {\n\t\tid = b\n\t}\n}\n");

  expect(probableLines(file)).toEqual([5]);
});

test("two unclosed events are reported apart", () => {
  const file = parseText(`${event(1, "")}${event(2, "}\n")}${event(3, "")}${event(4, "}\n")}`);

  expect(probableLines(file)).toEqual([3, 8]);
});

test("an event that another one fires is no sign of a missing brace", () => {
  const file = parseText("country_event = {\n\toption = {\n\t\tcountry_event = { id = a.2 }\n\t}\n");

  expect(file.findings.map(({ code }) => code)).toEqual(["MISSING_CLOSE_BRACE"]);
});

test("a file without indentation gives no sign", () => {
  const file = parseText("country_event = {\nid = a.1\noption = {\nname = x\n}\ncountry_event = {\nid = a.2\n}\n");

  expect(file.findings.map(({ code }) => code)).toEqual(["MISSING_CLOSE_BRACE"]);
});

test("a file with all its braces gives no sign", () => {
  expect(parseText("a = {\na = {\n}\n}\n").findings).toEqual([]);
});

function event(id: number, close: string): string {
  return `country_event = {\n\tid = a.${id}\n${close}`;
}

function probableLines(file: ScriptFile): number[] {
  return file.findings.filter(({ code }) => code === "PROBABLE_MISSING_BRACE").map(({ start }) => positionAt(file, start).line);
}
