import { glob, readFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";

/** What the suite found in one scenario. */
export interface Finding {
  readonly scenario: string;
  /** `skipped`: the suite itself left all of it out. */
  readonly outcome: "passed" | "failed" | "skipped";
  /** Checks that failed or warned, with what the suite says of them; one named `nothing` when there was no check at all. */
  readonly faults: readonly Fault[];
  /** Checks that the suite left out of a scenario that it ran. */
  readonly leftOut: readonly string[];
}

export interface Fault {
  readonly check: string;
  readonly message: string;
}

const checksSchema = z.array(
  z.object({
    id: z.string(),
    status: z.enum(["SUCCESS", "FAILURE", "WARNING", "SKIPPED", "INFO"]),
    errorMessage: z.string().optional(),
  }),
);
/** The check that the suite adds to each scenario: whatever was sent fits the protocol's schema, which says nothing of the scenario. */
const EVERY_MESSAGE = "wire-schema-valid";
type Check = z.infer<typeof checksSchema>[number];

/**
 * One finding for each of `scenarios`, read from the files that the suite has left in `folder`. A scenario without a file did not
 * run to its end, which is a fault: what the suite prints and exits with would not tell.
 */
export async function readFindings(folder: string, scenarios: readonly string[]): Promise<readonly Finding[]> {
  const checks = new Map<string, Check[]>();
  for await (const file of glob("*/checks.json", { cwd: folder })) {
    const scenario = path.dirname(file).replace(/^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/u, "$1");
    checks.set(scenario, checksSchema.parse(JSON.parse(await readFile(path.join(folder, file), "utf8"))));
  }
  return scenarios.map((scenario) => findingOf(scenario, checks.get(scenario) ?? []));
}

function findingOf(scenario: string, checks: readonly Check[]): Finding {
  const leftOut = checks.filter(({ status }) => status === "SKIPPED").map(({ id }) => id);
  const hasPassed = checks.some(({ id, status }) => status === "SUCCESS" && id !== EVERY_MESSAGE);
  const faults = checks
    .filter(({ status }) => status === "FAILURE" || status === "WARNING")
    .map(({ id, errorMessage = "no message" }) => ({ check: id, message: errorMessage }));
  if (hasPassed || faults.length > 0) return { scenario, outcome: faults.length === 0 ? "passed" : "failed", faults, leftOut };
  if (leftOut.length > 0) return { scenario, outcome: "skipped", faults, leftOut };
  return { scenario, outcome: "failed", faults: [{ check: "nothing", message: "no check of the scenario was made" }], leftOut };
}
