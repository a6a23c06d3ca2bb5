import path from "node:path";
import type { SuiteRun } from "./suite.ts";

export type Selection = Pick<SuiteRun, "selection" | "baseline">;

/** Scenarios beyond the requirements of the revision, which the suite would run with them and never score. */
const BEYOND: readonly string[] = [
  "tasks-lifecycle",
  "tasks-capability-negotiation",
  "tasks-wire-fields",
  "tasks-request-state-removal",
  "tasks-mrtr-input",
  "tasks-request-headers",
  "tasks-dispatch-and-envelope",
  "tasks-required-task-error",
  "tasks-mrtr-composition",
  "http-header-validation",
];

const BASELINE = path.join(import.meta.dirname, "expected-failures.yml");

/**
 * The scenarios that were asked for, without excuses; else all that the revision requires and those beyond, with the failures
 * that are known.
 */
export function selectionsFor(scenarios: readonly string[]): readonly Selection[] {
  if (scenarios.length > 0) return scenarios.map((name) => ({ selection: ["--scenario", name] }));
  return [
    { selection: ["--requirements", "2026-07-28"], baseline: BASELINE },
    ...BEYOND.map((name): Selection => ({ selection: ["--scenario", name], baseline: BASELINE })),
  ];
}
