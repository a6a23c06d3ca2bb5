// npm run conformance [-- --scenario NAME ...]: the official MCP conformance suite against real processes of this service.
import { parseArgs } from "node:util";
import { migrate } from "@holdfast/db";
import { startEmbeddedPostgres } from "@holdfast/db/embedded";
import { runConformance } from "./run-conformance.ts";

const { values } = parseArgs({ options: { scenario: { type: "string", multiple: true, default: [] } } });

await using postgres = await startEmbeddedPostgres({ ephemeral: true });
await migrate({ connectionString: postgres.url });
const { passed, complaints, summary } = await runConformance({
  databaseUrl: postgres.url,
  scenarios: values.scenario,
  onOutput: (text) => void process.stdout.write(text),
});
if (!passed) console.log(`\n${complaints.join("\n")}`);
console.log(`\n${summary.join("\n")}`);
process.exitCode = passed ? 0 : 1;
