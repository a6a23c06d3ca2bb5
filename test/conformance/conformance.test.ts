import { testDatabase } from "@holdfast/db/testing";
import { expect, test } from "vitest";
import { runConformance } from "./run-conformance.ts";
import type { SuiteRevision } from "./suite.ts";

/** All that the suite said when something is wrong, nothing else. */
async function findWrong(revision: SuiteRevision): Promise<readonly string[]> {
  await using database = await testDatabase();
  const output: string[] = [];
  const { complaints } = await runConformance({ databaseUrl: database.url, revision, onOutput: (text) => output.push(text) });
  return complaints.length === 0 ? [] : [...output, ...complaints];
}

test("the official suite finds nothing wrong in what the revision requires, in tasks, and in what it does not score", async () => {
  expect(await findWrong("2026-07-28")).toEqual([]);
});

test.for(["2025-11-25", "2025-06-18"] as const)("the official suite finds nothing else wrong in revision %s", async (revision) => {
  expect(await findWrong(revision)).toEqual([]);
});
