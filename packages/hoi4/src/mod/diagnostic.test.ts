import { expect, test } from "vitest";
import { scanTexts } from "../testing/scan-texts.ts";

async function countsOf(path: string, text: string): Promise<Record<string, number>> {
  const { diagnostics } = await scanTexts({ "descriptor.mod": "", [path]: text });
  const own = diagnostics.filter(({ location }) => location?.path === `mod:${path}`);
  return Object.fromEntries([...Map.groupBy(own, ({ code }) => code)].map(([code, all]) => [code, all.length]));
}

test("of a script full of the same slip a part is listed, with the number of the others", async () => {
  const path = "common/scripted_effects/a.txt";
  expect(await countsOf(path, `h = { ${"else = { } ".repeat(200)} }`)).toEqual({ EVENT_ELSE_WITHOUT_IF: 200 });
  expect(await countsOf(path, `h = { ${"else = { } ".repeat(201)} }`)).toEqual({ EVENT_ELSE_WITHOUT_IF: 200, FILE_FINDINGS_OMITTED: 1 });
  const { diagnostics } = await scanTexts({ [path]: `h = { ${"else = { } ".repeat(5_000)} }` });
  expect(diagnostics.find(({ code }) => code === "FILE_FINDINGS_OMITTED")?.message).toBe("4800 more findings in this file are not listed.");
});

test.each([
  ["events/a.txt", "}".repeat(300)],
  ["descriptor.mod", "}".repeat(300)],
  ["localisation/a_l_english.yml", `\uFEFFl_english:\n${"what\n".repeat(300)}`],
])("%s says how many slips of syntax it does not list", async (path, text) => {
  expect(await countsOf(path, text)).toMatchObject({ SYNTAX_FINDINGS_OMITTED: 1 });
});
