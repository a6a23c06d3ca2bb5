import { testDatabase } from "@holdfast/db/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { selectionsFor } from "./selections.ts";
import { startConformanceService, type ConformanceService } from "./service.ts";
import { runSuite } from "./suite.ts";

let cleanup: AsyncDisposableStack;
let service: ConformanceService;

beforeAll(async () => {
  cleanup = new AsyncDisposableStack();
  service = cleanup.use(await startConformanceService(cleanup.use(await testDatabase()).url));
});
afterAll(async () => {
  await cleanup.disposeAsync();
});

const runs = selectionsFor([]).map((run) => ({ name: run.selection[1], run }));

test.for(runs)("the official suite finds in $name what is known and nothing else", async ({ run }) => {
  const output: string[] = [];
  const code = await runSuite({ url: service.url, ...run, onOutput: (text) => output.push(text) });
  expect(code === 0 ? "" : output.join("")).toBe("");
});
