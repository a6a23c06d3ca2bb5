import { defineConfig, type TestProjectConfiguration } from "vitest/config";

interface Kind {
  readonly name: string;
  readonly include: readonly string[];
  readonly testTimeout: number;
  /** Whether the tests want the shared Postgres of the run; a run that selects none of these kinds starts no server. */
  readonly postgres: boolean;
  /** One file at a time: these files start processes of their own and measure leases, which neighbours on two cores would disturb. */
  readonly alone: boolean;
}

// In the order in which they run: the cheapest verdict first.
const kinds: readonly Kind[] = [
  {
    name: "unit",
    include: ["packages/{core,hoi4,process}/**/*.test.ts", "apps/*/src/**/*.test.ts", "scripts/**/*.test.ts"],
    testTimeout: 10_000,
    postgres: false,
    alone: false,
  },
  { name: "db", include: ["packages/db/src/**/*.test.ts"], testTimeout: 30_000, postgres: true, alone: false },
  { name: "integration", include: ["test/integration/**/*.test.ts"], testTimeout: 30_000, postgres: true, alone: false },
  { name: "property", include: ["test/property/**/*.test.ts"], testTimeout: 60_000, postgres: true, alone: false },
  { name: "fault", include: ["test/fault/**/*.test.ts"], testTimeout: 60_000, postgres: true, alone: true },
  { name: "e2e", include: ["test/e2e/**/*.test.ts"], testTimeout: 120_000, postgres: true, alone: true },
  { name: "conformance", include: ["test/conformance/**/*.test.ts"], testTimeout: 120_000, postgres: true, alone: true },
];

export default defineConfig({
  test: {
    pool: "forks",
    maxWorkers: 2,
    passWithNoTests: false,
    projects: kinds.map(project),
  },
});

function project(kind: Kind, index: number): TestProjectConfiguration {
  return {
    extends: true,
    test: {
      name: kind.name,
      include: [...kind.include],
      globalSetup: kind.postgres ? ["test/support/global-setup.ts"] : [],
      testTimeout: kind.testTimeout,
      hookTimeout: 60_000,
      fileParallelism: !kind.alone,
      sequence: { groupOrder: index },
    },
  };
}
