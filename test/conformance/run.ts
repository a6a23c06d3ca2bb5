// npm run conformance [-- --scenario NAME ...]: the official MCP conformance suite against real processes of this service.
import { parseArgs } from "node:util";
import { migrate } from "@holdfast/db";
import { startEmbeddedPostgres } from "@holdfast/db/embedded";
import { selectionsFor } from "./selections.ts";
import { startConformanceService } from "./service.ts";
import { runSuite } from "./suite.ts";

const { values } = parseArgs({ options: { scenario: { type: "string", multiple: true, default: [] } } });
process.exitCode = await run(values.scenario);

/** Zero when every scenario passed, or failed as it is known to. */
async function run(scenarios: readonly string[]): Promise<number> {
  await using postgres = await startEmbeddedPostgres({ ephemeral: true });
  await migrate({ connectionString: postgres.url });
  await using service = await startConformanceService(postgres.url);
  let worst = 0;
  for (const selection of selectionsFor(scenarios)) {
    const code = await runSuite({ url: service.url, ...selection, onOutput: (text) => void process.stdout.write(text) });
    worst = Math.max(worst, code);
  }
  return worst;
}
