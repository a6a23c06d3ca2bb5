// npm run conformance [-- --revision REVISION ...] [--scenario NAME ...]: the official MCP conformance suite against real processes of
// this service, for all revisions unless told which; a single scenario, which a revision may not have, for the newest one.
import { parseArgs } from "node:util";
import { migrate } from "@holdfast/db";
import { startEmbeddedPostgres } from "@holdfast/db/embedded";
import { z } from "zod";
import { runConformance } from "./run-conformance.ts";
import { REVISIONS } from "./suite.ts";

const { values } = parseArgs({
  options: {
    scenario: { type: "string", multiple: true, default: [] },
    revision: { type: "string", multiple: true },
  },
});
const [newest] = REVISIONS;
const revisions = z.array(z.enum(REVISIONS)).parse(values.revision ?? (values.scenario.length === 0 ? REVISIONS : [newest]));

for (const revision of revisions) {
  await using postgres = await startEmbeddedPostgres({ ephemeral: true });
  await migrate({ connectionString: postgres.url });
  const { passed, complaints, summary } = await runConformance({
    databaseUrl: postgres.url,
    revision,
    scenarios: values.scenario,
    onOutput: (text) => void process.stdout.write(text),
  });
  if (!passed) console.log(`\n${complaints.join("\n")}`);
  console.log(`\n${[`revision ${revision}`, ...summary].join("\n")}`);
  if (!passed) process.exitCode = 1;
}
