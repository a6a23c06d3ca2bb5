import { expect, test } from "vitest";
import { scanTexts } from "../testing/scan-texts.ts";

const EVENT = { "events/a.txt": "add_namespace = a country_event = { id = a.1 title = t is_triggered_only = yes option = { name = o } }" };
const yml = (language: string, lines: string) => `\uFEFFl_${language}:\n ${lines}\n`;

async function textsOf(files: Record<string, string>) {
  const { texts } = await scanTexts({ ...EVENT, ...files });
  return Object.fromEntries(texts);
}

test("texts of titles and options are English where there is English, else what there is", async () => {
  const files = {
    "localisation/a_l_german.yml": yml("german", 't:0 "Nebel"\n o:0 "Gut"\n other:0 "egal"'),
    "localisation/z_l_english.yml": yml("english", 't:0 "Fog"'),
  };
  expect(await textsOf(files)).toEqual({ t: "Fog", o: "Gut" });
});

test("a replace folder wins over files outside of it, whatever their names", async () => {
  expect(
    await textsOf({
      "localisation/replace/a_l_english.yml": yml("english", 't:0 "New"'),
      "localisation/a_l_english.yml": yml("english", 't:0 "Old"'),
    }),
  ).toEqual({ t: "New" });
});

test("a file that the game does not load, for its name or for a missing quote, gives no text and a finding", async () => {
  const { texts, diagnostics } = await scanTexts({
    "descriptor.mod": "",
    ...EVENT,
    "localisation/texts.yml": yml("english", 't:0 "Fog"'),
    "localisation/a_l_english.yml": yml("english", 'x:0 "broken\n o:0 "Fine"'),
    "localisation/languages.yml": yml("english", 'l_english:0 "English"'),
  });
  expect([...texts]).toEqual([]);
  expect(diagnostics.map(({ code, location }) => [code, location?.path, location?.start.line])).toEqual([
    ["MISSING_QUOTE", "mod:localisation/a_l_english.yml", 2],
    ["LOCALISATION_FILE_NOT_LOADED", "mod:localisation/texts.yml", 1],
    ["EVENT_NEVER_FIRED", "mod:events/a.txt", 1],
  ]);
});

test("a file that is saved as UTF-16 makes the result partial, like a script that is", async () => {
  const scan = await scanTexts({
    ...EVENT,
    "events/b.txt": Buffer.from("\uFEFF# nothing", "utf16le"),
    "localisation/a_l_english.yml": Buffer.from(yml("english", 't:0 "Fog"'), "utf16le"),
  });
  expect(scan.skipped).toEqual([
    { path: "mod:events/b.txt", reasonCodes: ["STRUCTURE_NOT_READ"], possibleSymbolKinds: ["event"] },
    { path: "mod:localisation/a_l_english.yml", reasonCodes: ["STRUCTURE_NOT_READ"], possibleSymbolKinds: ["localisation"] },
  ]);
  expect([scan.isComplete, scan.filesScanned]).toEqual([false, ["mod:events/a.txt"]]);
});
