import type { Finding } from "./findings.ts";
import type { Requirements } from "./suite.ts";

/** The suite's findings measured by what is expected of us. */
export interface Verdict {
  readonly passed: boolean;
  /** What is wrong, one line each. */
  readonly complaints: readonly string[];
  /** How much was passed, in up to three lines. */
  readonly summary: readonly string[];
}

/** What the suite leaves out for every server: it has no check yet for the notifications of tasks. */
const LEFT_OUT_BY_THE_SUITE: readonly string[] = ["tasks-status-notifications:tasks-status-notifications"];

/**
 * `expectedFailures` names scenarios, or `scenario:check`. What fails and is not among them is wrong; so is an entry that names
 * nothing that fails, and a check that the suite left out for us only.
 */
export function judge(findings: readonly Finding[], requirements: Requirements, expectedFailures: readonly string[]): Verdict {
  const failing = findings.flatMap(({ scenario, faults }) => faults.map((fault) => ({ scenario, ...fault })));
  const covers = (entry: string, { scenario, check }: (typeof failing)[number]) => entry === scenario || entry === `${scenario}:${check}`;
  const complaints = [
    ...failing
      .filter((fault) => !expectedFailures.some((entry) => covers(entry, fault)))
      .map(({ scenario, check, message }) => `${scenario}:${check} failed: ${message}`),
    ...expectedFailures
      .filter((entry) => !failing.some((fault) => covers(entry, fault)))
      .map((entry) => `${entry} is expected to fail and does not: remove it from expected-failures.yml`),
    ...findings
      .flatMap(({ scenario, leftOut }) => leftOut.map((check) => `${scenario}:${check}`))
      .filter((check) => !LEFT_OUT_BY_THE_SUITE.includes(check))
      .map((check) => `${check} was left out by the suite`),
  ];
  return { passed: complaints.length === 0, complaints, summary: summarize(findings, requirements) };
}

/** What a reader wants to know first, so that `required 37/37` stands alone on its line. Nothing is said of what was not asked for. */
function summarize(findings: readonly Finding[], { required, unscored }: Requirements): string[] {
  const of = (scenarios: readonly string[], outcome: Finding["outcome"]) =>
    findings.filter((finding) => finding.outcome === outcome && scenarios.includes(finding.scenario)).map(({ scenario }) => scenario);
  const all = (name: string, scenarios: readonly string[]): string[] => {
    if (scenarios.length === 0) return [];
    const failed = of(scenarios, "failed");
    const passed = of(scenarios, "passed");
    const skipped = of(scenarios, "skipped");
    const count =
      failed.length === 0
        ? `all passed: ${passed.join(", ")}`
        : `${passed.length}/${passed.length + failed.length} passed, not ${failed.join(", ")}`;
    return [`${name} ${count}${skipped.length === 0 ? "" : ` (skipped by the suite: ${skipped.join(", ")})`}`];
  };
  const ofTasks = unscored.filter((scenario) => scenario.startsWith("tasks-"));
  return [
    ...(required.length === 0 ? [] : [`required ${of(required, "passed").length}/${required.length}`]),
    ...all("tasks", ofTasks),
    ...all(
      "unscored",
      unscored.filter((scenario) => !ofTasks.includes(scenario)),
    ),
  ];
}
