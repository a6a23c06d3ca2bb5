import { Buffer } from "node:buffer";
import { describe, expect, test } from "vitest";
import { type LocalisationFile, readLocalisation } from "./localisation.ts";

describe("an entry", () => {
  test("has a key, a version that may be missing, and its text as written", () => {
    const file = read(' a.1.t:0 "Hello" \n b:"no space"\n\tc_d-e\':12 "§Rred§! $key$ £icon\\n" # note');

    expect(file.entries.map(({ key, version, text, language }) => [key, version, text, language])).toEqual([
      ["a.1.t", 0, "Hello", "english"],
      ["b", null, "no space", "english"],
      ["c_d-e'", 12, "§Rred§! $key$ £icon\\n", "english"],
    ]);
    expect(file.findings).toEqual([]);
  });

  test("ends at the last quote of its line", () => {
    const file = read(' a:0 "He said "no" and left"\n b:0 "\\"x\\""');

    expect(file.entries.map(({ text }) => text)).toEqual(['He said "no" and left', '\\"x\\"']);
    expect(file.findings).toEqual([]);
  });

  test("knows the bytes of its key and its text", () => {
    const file = read(' grüße:0 "Österreich" # x');
    const [entry] = file.entries;

    expect(slice(file, entry!.keyRange)).toBe("grüße");
    expect(slice(file, entry!.textRange)).toBe("Österreich");
    expect(codes(file)).toEqual(["INVALID_KEY grüße"]);
  });

  test("with text behind its closing quote is reported", () => {
    const file = read(' a:0 "b" c');

    expect(file.entries).toMatchObject([{ text: "b", isLoaded: true }]);
    expect(codes(file)).toEqual(["TEXT_AFTER_QUOTE c"]);
  });

  test("whose comment holds a quote shows the comment in the game and is reported", () => {
    const file = read(' a:0 "b" # see "c"');

    expect(file.entries).toMatchObject([{ text: 'b" # see "c' }]);
    expect(codes(file)).toEqual(['QUOTE_IN_COMMENT b" # see "c']);
  });

  test("that repeats a key of its language is reported, but not one of another language", () => {
    const file = read(' a:0 "1"\nl_german:\n a:0 "2"\n a:0 "3"');

    expect(file.entries.map(({ language, text }) => [language, text])).toEqual([
      ["english", "1"],
      ["german", "2"],
      ["german", "3"],
    ]);
    expect(codes(file)).toEqual(["DUPLICATE_KEY a"]);
  });

  test.each([' a:0 "b', ' a:0 b"', " a:0 b", " a:"])("without both quotes stops the game from loading what follows: %j", (line) => {
    const file = read(` x:0 "y"\n${line}\n c:0 "d"`);

    expect(file.entries.map(({ key, isLoaded }) => [key, isLoaded])).toEqual([
      ["x", true],
      ["a", false],
      ["c", false],
    ]);
    expect(codes(file)).toEqual([`MISSING_QUOTE ${line.trim()}`]);
  });

  test("that has only an opening quote reaches to the end of its line", () => {
    expect(read(' a:0 "b c').entries).toMatchObject([{ text: "b c" }]);
  });
});

describe("a line", () => {
  test("may end in LF, CR LF or CR", () => {
    expect(read(' a:0 "1"\r\n b:0 "2"\r c:0 "3"\n').entries.map(({ text }) => text)).toEqual(["1", "2", "3"]);
  });

  test("that is blank or a comment is nothing", () => {
    expect(read('\n \t\n# a:0 "b"\n  # c').findings).toEqual([]);
  });

  test.each(["garbage", '"a":0 "b"', 'a b "c"', ' a:0 x "b"'])("of another form is reported: %j", (line) => {
    const file = read(line);

    expect(file.entries).toEqual([]);
    expect(codes(file)).toEqual([`MALFORMED_LINE ${line.trim()}`]);
  });
});

describe("a header", () => {
  test("may stand behind spaces and before a comment, and may hold an underscore", () => {
    const file = readLocalisation(Buffer.from('\ufeff  l_simp_chinese:  # see "x"\n a:0 "b"'));

    expect(file.entries).toMatchObject([{ language: "simp_chinese" }]);
    expect(file.findings).toEqual([]);
  });

  test("that is missing is reported at the key", () => {
    const file = readLocalisation(Buffer.from('\ufeff a:0 "b"'));

    expect(file.entries).toMatchObject([{ key: "a", language: null }]);
    expect(codes(file)).toEqual(["MISSING_LANGUAGE a"]);
  });

  test("is not a key that happens to begin like one", () => {
    expect(read(' l_english_name:0 "b"').entries).toMatchObject([{ key: "l_english_name" }]);
  });
});

describe("the bytes of a localisation file", () => {
  test("without a byte order mark are an error, and are read nevertheless", () => {
    const file = readLocalisation(Buffer.from('l_english:\n a:0 "b"'));

    expect(file.entries).toHaveLength(1);
    expect(file.findings).toMatchObject([{ code: "MISSING_BOM", severity: "error", start: 0, end: 0 }]);
  });

  test("that are UTF-16 are not read", () => {
    const file = readLocalisation(Buffer.from('\ufeffl_english:\n a:0 "b"', "utf16le"));

    expect(file.entries).toEqual([]);
    expect(file.findings).toMatchObject([{ code: "UTF16_TEXT", severity: "error" }]);
  });

  test("that are not UTF-8 behind their mark are reported", () => {
    const file = readLocalisation(Buffer.concat([Buffer.from('\ufeffl_english:\n a:0 "'), Buffer.from([0xe9, 0x22])]));

    expect(file.entries).toMatchObject([{ text: "é" }]);
    expect(file.findings).toMatchObject([{ code: "BOM_WITHOUT_UTF8" }]);
  });

  test("may be empty", () => {
    expect(readLocalisation(Buffer.from("\ufeff"))).toMatchObject({ entries: [], findings: [] });
  });
});

test("findings stop at the limit and say how many more there were", () => {
  const file = readLocalisation(Buffer.from(`\ufeffl_english:\n${"garbage\n".repeat(20)}`), { maxFindings: 5 });

  expect(file.findings).toHaveLength(5);
  expect(file.findingsOmitted).toBe(15);
});

test("entries stop at the limit, where the rest of the file is reported as not read", () => {
  const bytes = Buffer.from('\ufeffl_english:\n a:0 "1"\n b:0 "2"\n# done\n\n c:0 "3"\n d:0 "4"\n');

  const file = readLocalisation(bytes, { maxEntries: 2 });
  expect(file.entries.map(({ key }) => key)).toEqual(["a", "b"]);
  expect(file.findings).toMatchObject([{ code: "TOO_MANY_ENTRIES", severity: "error", start: bytes.indexOf(" c:0"), end: bytes.length }]);
  expect(readLocalisation(bytes, { maxEntries: 4 }).findings).toEqual([]);
});

function read(lines: string): LocalisationFile {
  return readLocalisation(Buffer.from(`\ufeffl_english:\n${lines}`));
}

function codes(file: LocalisationFile): string[] {
  return file.findings.map((finding) => `${finding.code} ${slice(file, finding)}`);
}

function slice({ bytes }: LocalisationFile, { start, end }: { start: number; end: number }): string {
  return Buffer.from(bytes.subarray(start, end)).toString("utf8");
}
