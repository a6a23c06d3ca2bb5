/**
 * Deliberate violations of the dependency rules, as a small tree of modules beside the manifests of the real packages. The check writes the
 * tree to a temporary folder and judges it with the rules that judge the repository: what it reports must be exactly what stands here.
 */
export interface CanaryModule {
  readonly path: string;
  readonly source: string;
  /** Names of the rules this module breaks. Modules that break none show where a rule must stay silent. */
  readonly breaks: readonly string[];
}

export const canaryModules: readonly CanaryModule[] = [
  { path: "packages/core/src/egg.ts", source: `import type { Hen } from "./hen.ts"; export type Egg = Hen;`, breaks: ["no-cycles"] },
  { path: "packages/core/src/hen.ts", source: `import type { Egg } from "./egg.ts"; export type Hen = Egg;`, breaks: [] },
  { path: "packages/core/src/missing.ts", source: `import "./nowhere.ts";`, breaks: ["no-unresolved", "core-imports-only-zod"] },
  { path: "packages/db/src/past-exports.ts", source: `import "@holdfast/core/src/egg.ts";`, breaks: ["no-unresolved"] },
  { path: "packages/hoi4/src/undeclared.ts", source: `import "postgres-array";`, breaks: ["declared-dependencies-only"] },
  {
    path: "packages/hoi4/src/development.ts",
    source: `import "dependency-cruiser";`,
    breaks: ["production-uses-no-development-dependency"],
  },

  {
    path: "packages/core/src/reads-files.ts",
    source: `import { readFile } from "node:fs/promises"; export { readFile };`,
    breaks: ["core-imports-only-zod"],
  },
  { path: "packages/core/src/parses.ts", source: `import { z } from "zod"; export { z };`, breaks: [] },
  { path: "packages/core/src/parses.test.ts", source: `import { test } from "vitest"; import "node:assert"; export { test };`, breaks: [] },
  {
    path: "packages/core/src/upwards.ts",
    source: `import type {} from "@holdfast/db";`,
    breaks: ["core-imports-only-zod", "packages-import-only-core"],
  },
  {
    path: "packages/db/src/sideways.ts",
    source: `export const load = () => import("@holdfast/hoi4/manifest");`,
    breaks: ["packages-import-only-core"],
  },
  { path: "packages/hoi4/src/to-the-top.ts", source: `import "@holdfast/server";`, breaks: ["packages-import-only-core"] },
  { path: "apps/server/src/calls-worker.ts", source: `import "@holdfast/worker";`, breaks: ["apps-never-import-each-other"] },
  {
    path: "apps/worker/src/jobs/uses.ts",
    source: `export async function use() { await using server = await import("@holdfast/server"); return server; }`,
    breaks: ["apps-never-import-each-other"],
  },
  {
    path: "apps/cli/src/composes.ts",
    source: `import "@holdfast/server"; import "@holdfast/worker"; import "@holdfast/db/embedded";`,
    breaks: [],
  },
  {
    path: "apps/cli/src/behind-the-entry.ts",
    source: `import "../../server/src/ops/health.ts";`,
    breaks: ["imports-go-through-exports"],
  },
  { path: "apps/server/src/ops/health.ts", source: `export {};`, breaks: [] },
  { path: "test/integration/inside.test.ts", source: `import "../../packages/core/src/egg.ts";`, breaks: ["tests-import-through-exports"] },

  // Reaching is transitive: the module in between breaks the rule too, because it lies on the way.
  {
    path: "apps/server/src/reaches-handlers.ts",
    source: `import "./ops/on-the-way.ts";`,
    breaks: ["nodes-never-reach-handlers"],
  },
  {
    path: "apps/server/src/ops/on-the-way.ts",
    source: `import "@holdfast/hoi4/handlers";`,
    breaks: ["nodes-never-reach-handlers"],
  },
  { path: "apps/server/src/lists-tools.ts", source: `import "@holdfast/hoi4/manifest";`, breaks: [] },
  { path: "packages/pack/src/manifest.ts", source: `import "./operations/draw/manifest.ts";`, breaks: ["nodes-never-reach-handlers"] },
  { path: "packages/pack/src/operations/draw/manifest.ts", source: `import "./contract.ts"; import "./canvas.ts";`, breaks: [] },
  { path: "packages/pack/src/operations/draw/contract.ts", source: `import "@holdfast/core";`, breaks: [] },
  { path: "packages/pack/src/operations/draw/canvas.ts", source: `export {};`, breaks: [] },
  {
    path: "apps/worker/src/child/reaches-database.ts",
    source: `import "../attempts/settles.ts";`,
    breaks: ["child-never-reaches-the-database"],
  },
  { path: "apps/worker/src/attempts/settles.ts", source: `import "@holdfast/db";`, breaks: [] },
  {
    path: "apps/worker/src/child/runs.ts",
    source: `import "@holdfast/hoi4/handlers"; import "@holdfast/core"; import "node:fs";`,
    breaks: [],
  },

  { path: "packages/db/src/helped.ts", source: `import "./testing/index.ts";`, breaks: ["production-imports-no-tests"] },
  { path: "apps/worker/src/helped.ts", source: `import "@holdfast/db/testing";`, breaks: ["production-imports-no-tests"] },
  { path: "apps/worker/src/tests.test.ts", source: `import "@holdfast/db/testing"; import "vitest";`, breaks: [] },

  {
    path: "apps/server/src/queries.ts",
    source: `import type { Pool } from "pg"; export type { Pool };`,
    breaks: ["production-uses-no-development-dependency", "postgres-only-in-db"],
  },
  {
    path: "apps/worker/src/selects.ts",
    source: `import { sql } from "drizzle-orm"; export { sql };`,
    breaks: ["declared-dependencies-only", "postgres-only-in-db"],
  },
  {
    path: "packages/db/src/queries.ts",
    source: `import pg from "pg"; import { sql } from "drizzle-orm"; import "graphile-worker"; export { pg, sql };`,
    breaks: [],
  },
  {
    path: "apps/server/src/queues.ts",
    source: `import "graphile-worker";`,
    breaks: ["declared-dependencies-only", "graphile-worker-only-in-db-and-worker"],
  },
  { path: "apps/worker/src/jobs/wakes.ts", source: `import "graphile-worker";`, breaks: [] },
  { path: "apps/worker/src/jobs/spawns.ts", source: `import "node:child_process";`, breaks: ["child-processes-only-in-launchers"] },
  { path: "apps/server/src/forks.ts", source: `import "cluster";`, breaks: ["child-processes-only-in-launchers"] },
  { path: "apps/worker/src/sandbox/spawns.ts", source: `import "node:child_process";`, breaks: [] },
  { path: "apps/cli/src/launcher/spawns.ts", source: `import "node:child_process";`, breaks: [] },
  { path: "packages/db/src/embedded/spawns.ts", source: `import "node:child_process";`, breaks: [] },
  { path: "apps/server/src/mcp/verifies.ts", source: `import "jose";`, breaks: ["jose-only-in-auth"] },
  { path: "apps/server/src/auth/verifies.ts", source: `import "jose";`, breaks: [] },
  { path: "apps/cli/src/dev-issuer/issues.ts", source: `import "jose";`, breaks: [] },
  { path: "apps/cli/src/serves.ts", source: `import "hono";`, breaks: ["declared-dependencies-only", "hono-only-in-server"] },
  { path: "apps/server/src/http/serves.ts", source: `import "hono"; import "@hono/node-server";`, breaks: [] },
  { path: "apps/server/src/live/speaks.ts", source: `import "@modelcontextprotocol/server";`, breaks: ["mcp-sdk-only-in-server-mcp"] },
  { path: "apps/server/src/mcp/speaks.ts", source: `import "@modelcontextprotocol/server";`, breaks: [] },
];
