import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { readFindings } from "./findings.ts";
import { judge } from "./verdict.ts";

type Check = {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  readonly errorMessage?: string;
};

const REQUIREMENTS = { required: ["ping", "pong"], unscored: ["tasks-life", "tasks-status-notifications", "headers"] };
const SOUND: Readonly<Record<string, readonly Check[]>> = {
  ping: [{ id: "answers", status: "SUCCESS" }],
  pong: [{ id: "answers", status: "SUCCESS" }],
  "tasks-life": [{ id: "ends", status: "SUCCESS" }],
  "tasks-status-notifications": [{ id: "tasks-status-notifications", status: "SKIPPED" }],
  headers: [{ id: "refused", status: "SUCCESS" }],
};

/** The verdict on a suite that left these files. */
async function verdictOn(checks: Readonly<Record<string, readonly Check[]>>, expectedFailures: readonly string[] = []) {
  const folder = await mkdtemp(path.join(tmpdir(), "holdfast-verdict-"));
  try {
    for (const [scenario, found] of Object.entries(checks)) {
      const results = path.join(folder, `server-${scenario}-2026-11-30T12-00-00-000Z`);
      await mkdir(results);
      await writeFile(path.join(results, "checks.json"), JSON.stringify(found));
    }
    return judge(await readFindings(folder, [...REQUIREMENTS.required, ...REQUIREMENTS.unscored]), REQUIREMENTS, expectedFailures);
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("a suite that finds nothing wrong is passed, and the summary names what was", async () => {
  expect(await verdictOn(SOUND)).toEqual({
    passed: true,
    complaints: [],
    summary: [
      "required 2/2",
      "tasks all passed: tasks-life (skipped by the suite: tasks-status-notifications)",
      "unscored all passed: headers",
    ],
  });
});

test.for(["FAILURE", "WARNING"] as const)("a %s fails the run, required or not", async (status) => {
  const verdict = await verdictOn({
    ...SOUND,
    pong: [
      { id: "answers", status: "SUCCESS" },
      { id: "soon", status, errorMessage: "it took a day" },
    ],
    "tasks-life": [{ id: "ends", status, errorMessage: "it lives on" }],
  });
  expect(verdict).toMatchObject({
    passed: false,
    complaints: ["pong:soon failed: it took a day", "tasks-life:ends failed: it lives on"],
    summary: [
      "required 1/2",
      "tasks 0/1 passed, not tasks-life (skipped by the suite: tasks-status-notifications)",
      "unscored all passed: headers",
    ],
  });
});

test("a scenario that left no results fails the run", async () => {
  const { pong: _lost, ...others } = SOUND;
  expect((await verdictOn(others)).complaints).toEqual(["pong:nothing failed: no check of the scenario was made"]);
});

test("a scenario in which only the form of messages was looked at fails the run", async () => {
  const verdict = await verdictOn({ ...SOUND, ping: [{ id: "wire-schema-valid", status: "SUCCESS" }] });
  expect(verdict.complaints).toEqual(["ping:nothing failed: no check of the scenario was made"]);
});

test("a check that the suite left out for us only fails the run", async () => {
  const verdict = await verdictOn({
    ...SOUND,
    ping: [
      { id: "answers", status: "SUCCESS" },
      { id: "twice", status: "SKIPPED" },
    ],
  });
  expect(verdict.complaints).toEqual(["ping:twice was left out by the suite"]);
});

test.for(["pong", "pong:soon"])("a failure that is expected as %s does not fail the run, and is not counted as passed", async (entry) => {
  const verdict = await verdictOn({ ...SOUND, pong: [{ id: "soon", status: "FAILURE" }] }, [entry]);
  expect(verdict).toMatchObject({ passed: true, complaints: [], summary: ["required 1/2", expect.anything(), expect.anything()] });
});

test.for(["pong", "pong:answers", "pong:never-heard-of", "nowhere"])(
  "%s, expected to fail and not failing, fails the run",
  async (entry) => {
    expect((await verdictOn(SOUND, [entry])).complaints).toEqual([
      `${entry} is expected to fail and does not: remove it from expected-failures.yml`,
    ]);
  },
);
