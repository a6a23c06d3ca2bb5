// Everything that judges the source without running it, cheapest first. Every step runs, so that one visit shows all that is wrong.
// `node scripts/check.mjs lint types` runs only the steps of those names.
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import path from "node:path";

const root = path.dirname(import.meta.dirname);
const steps = [
  { name: "format", command: ["oxfmt", "--check"] },
  { name: "sql", command: ["squawk", "--reporter", "gcc", "--config", ".squawk.toml", ...migrations()] },
  { name: "dependencies", command: ["node", "scripts/check-dependencies.ts"] },
  { name: "core-types", command: ["tsc", "-p", "packages/core"] },
  { name: "types", command: ["tsc", "-p", "tsconfig.json"] },
  { name: "dead-code", command: ["knip"] },
  { name: "lint", command: ["oxlint", "--format", "unix"] },
];

await main(process.argv.slice(2));

async function main(names) {
  const unknown = names.filter((name) => !steps.some((step) => step.name === name));
  if (unknown.length > 0) {
    console.error(`check: no step named ${unknown.join(", ")}; the steps are ${steps.map(({ name }) => name).join(", ")}`);
    process.exitCode = 2;
    return;
  }
  const failed = [];
  for (const step of steps.filter(({ name }) => names.length === 0 || names.includes(name))) {
    const startedAt = performance.now();
    const { passed, output } = await run(step.command);
    console.log(`${passed ? "ok  " : "FAIL"} ${step.name.padEnd(12)} ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    if (passed) continue;
    failed.push(step.name);
    console.log(`${output.trimEnd().replaceAll(/^/gm, "     ")}\n`);
  }
  if (failed.length > 0) console.error(`check: ${failed.join(", ")} failed`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}

function migrations() {
  // schema.sql is the dump that the migrations lead to, not a change anybody applies.
  return readdirSync(path.join(root, "migrations"))
    .filter((file) => /^\d{4}_.*\.sql$/.test(file))
    .map((file) => `migrations/${file}`);
}

/** Resolves with the tool's whole output; a tool that cannot be started, or dies of a signal, has not passed. */
function run([tool, ...args]) {
  return new Promise((resolve) => {
    const chunks = [];
    const child = spawn(tool, args, {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, PATH: `${path.join(root, "node_modules", ".bin")}${path.delimiter}${process.env.PATH ?? ""}` },
      shell: process.platform === "win32",
    });
    child.stdout.on("data", (chunk) => chunks.push(chunk));
    child.stderr.on("data", (chunk) => chunks.push(chunk));
    child.on("error", (error) => resolve({ passed: false, output: `cannot start ${tool}: ${error.message}` }));
    child.on("close", (code) => resolve({ passed: code === 0, output: Buffer.concat(chunks).toString() }));
  });
}
