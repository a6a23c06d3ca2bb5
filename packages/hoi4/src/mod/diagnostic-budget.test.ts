import { expect, test } from "vitest";
import { scanTexts } from "../testing/scan-texts.ts";
import type { Diagnostic } from "./diagnostic.ts";
import { openBudget } from "./diagnostic-budget.ts";
import { startOf } from "./source-location.ts";

function found(count: number, severity: Diagnostic["severity"] = "info"): Diagnostic[] {
  return Array.from({ length: count }, (_, index) => ({
    code: `C${index}`,
    severity,
    category: "syntax",
    message: "m",
    classification: "probable_defect",
    confidence: "confirmed",
    location: startOf("mod:a.txt"),
  }));
}

test("files keep everything while there is room, and the worst of it afterwards", () => {
  const budget = openBudget(10);
  expect(budget.spend("mod:a.txt", found(8))).toHaveLength(8);
  const second = budget.spend("mod:b.txt", [...found(7), ...found(1, "error")]);
  expect(second.map(({ severity }) => severity)).toEqual(["error", "info", "info", "info", "info", "warning"]);
  expect(second.at(-1)).toMatchObject({ code: "FILE_FINDINGS_OMITTED", message: "3 more findings in this file are not listed." });
  expect(budget.spend("mod:c.txt", found(5))).toHaveLength(5);
  expect(budget.spend("mod:d.txt", found(6)).at(-1)).toMatchObject({ message: "1 more finding in this file is not listed." });
});

test("a mod of many broken files is scanned, with a bounded list of what is wrong", async () => {
  const script = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`events/${index}.txt`, "}".repeat(200)]));
  const texts = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`localisation/${index}_l_english.yml`, "what\n".repeat(200)]));
  const { diagnostics } = await scanTexts({ ...script, ...texts });
  // 250 files fill the budget; of each other one the worst five and a count are left.
  expect(diagnostics.filter(({ code }) => code === "FILE_FINDINGS_OMITTED")).toHaveLength(90);
  expect(diagnostics.length).toBeLessThan(50_000 + 90 * 6 + 10);
});
