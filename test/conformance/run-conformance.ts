import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { startBalancedService, type BalancedService } from "../support/balanced-service.ts";
import { modernCaller, toolCall } from "../support/mcp-request.ts";
import { readExpectedFailures } from "./expected-failures.ts";
import { readFindings } from "./findings.ts";
import { readRequirements, runSuite, type SuiteRevision } from "./suite.ts";
import { judge, type Verdict } from "./verdict.ts";

export interface ConformanceRun {
  /** Of a migrated database. */
  readonly databaseUrl: string;
  readonly revision: SuiteRevision;
  /** Only these, and then without excuses; none means all. */
  readonly scenarios?: readonly string[];
  readonly onOutput: (text: string) => void;
}

/** The official suite against three nodes and two workers, and its findings by our measure. */
export async function runConformance({ databaseUrl, revision, scenarios = [], onOutput }: ConformanceRun): Promise<Verdict> {
  const requirements = await readRequirements(revision);
  await using service = await startBalancedService({ databaseUrl, packs: path.join(import.meta.dirname, "pack") });
  await warmUp(service);
  await using cleanup = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), "holdfast-conformance-results-"));
  cleanup.defer(() => rm(folder, { recursive: true, force: true }));
  const run = { url: service.url, revision, folder, onOutput };
  if (scenarios.length === 0) {
    await runSuite(run);
    const { required, unscored } = requirements;
    return judge(await readFindings(folder, [...required, ...unscored]), requirements, await readExpectedFailures(revision));
  }
  for (const scenario of scenarios) await runSuite({ ...run, scenario });
  const only = (names: readonly string[]) => names.filter((name) => scenarios.includes(name));
  const chosen = { required: only(requirements.required), unscored: only(requirements.unscored) };
  return judge(await readFindings(folder, scenarios), chosen, []);
}

/**
 * Fills every slot once, so that each worker has child processes to spare. The suite gives some calls half a second, and right after a
 * start that may have to hold the start of a child as well.
 */
async function warmUp({ url, slots }: BalancedService): Promise<void> {
  const call = modernCaller(url);
  const calls = Array.from({ length: slots }, (_none, slot) =>
    call(toolCall("slow_compute", { seconds: 1, label: `warms up slot ${slot}` })),
  );
  for (const { error } of await Promise.all(calls)) if (error !== undefined) throw new Error(`the service does not work: ${error.message}`);
}
