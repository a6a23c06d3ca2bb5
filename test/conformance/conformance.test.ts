import { testDatabase } from "@holdfast/db/testing";
import { expect, test } from "vitest";
import { runConformance } from "./run-conformance.ts";

test("the official suite finds nothing wrong in what the revision requires, in tasks, and in what it does not score", async () => {
  await using database = await testDatabase();
  const output: string[] = [];
  const { complaints } = await runConformance({ databaseUrl: database.url, onOutput: (text) => output.push(text) });
  expect(complaints.length === 0 ? [] : [...output, ...complaints]).toEqual([]);
});
