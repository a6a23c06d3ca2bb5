import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { startBalancedService } from "../support/balanced-service.ts";
import { readExpectedFailures } from "./expected-failures.ts";
import { readFindings } from "./findings.ts";
import { readRequirements, runSuite } from "./suite.ts";
import { judge, type Verdict } from "./verdict.ts";

export interface ConformanceRun {
  /** Of a migrated database. */
  readonly databaseUrl: string;
  /** Only these, and then without excuses; none means all. */
  readonly scenarios?: readonly string[];
  readonly onOutput: (text: string) => void;
}

/** The official suite against three nodes and two workers, and its findings by our measure. */
export async function runConformance({ databaseUrl, scenarios = [], onOutput }: ConformanceRun): Promise<Verdict> {
  const requirements = await readRequirements();
  await using service = await startBalancedService({ databaseUrl, packs: path.join(import.meta.dirname, "pack") });
  await using cleanup = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), "holdfast-conformance-results-"));
  cleanup.defer(() => rm(folder, { recursive: true, force: true }));
  const run = { url: service.url, folder, onOutput };
  if (scenarios.length === 0) {
    await runSuite(run);
    const { required, unscored } = requirements;
    return judge(await readFindings(folder, [...required, ...unscored]), requirements, await readExpectedFailures());
  }
  for (const scenario of scenarios) await runSuite({ ...run, scenario });
  const only = (names: readonly string[]) => names.filter((name) => scenarios.includes(name));
  const chosen = { required: only(requirements.required), unscored: only(requirements.unscored) };
  return judge(await readFindings(folder, scenarios), chosen, []);
}
