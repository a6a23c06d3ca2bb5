// Judges the imports of the repository by .dependency-cruiser.cjs, and the rules by their canary.
import { globSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { cruise } from "dependency-cruiser";
import type { ICruiseOptions, ICruiseResult, IForbiddenRuleType } from "dependency-cruiser";
import { canaryModules } from "../test/canary/dependency-rules.ts";
import { visitUsingDeclarations } from "./visit-using.ts";

const root = path.dirname(import.meta.dirname);
const folders = ["packages", "apps", "test", "scripts"];
const { forbidden, options } = createRequire(import.meta.url)("../.dependency-cruiser.cjs") as {
  forbidden: (IForbiddenRuleType & { name: string })[];
  options: ICruiseOptions;
};

visitUsingDeclarations();
const complaints = [...(await judgeRepository()), ...(await judgeRules())];
for (const complaint of complaints) console.error(complaint);
process.exitCode = complaints.length === 0 ? 0 : 1;

async function judgeRepository(): Promise<string[]> {
  const result = await cruiseFolder(root);
  const seen = new Set(result.modules.map((module) => module.source));
  const sources = folders.flatMap((folder) => globSync(`${folder}/**/*.{ts,mjs,cjs}`, { cwd: root, exclude: isOutside }));
  // A parser that finds nothing reports no violation either, so every file we have must be among those it read.
  const unread = sources.filter((source) => !seen.has(source));
  return [
    ...result.summary.violations.map(
      ({ rule, from, to }) => `${rule.name}: ${from} -> ${to}\n    ${forbidden.find(({ name }) => name === rule.name)?.comment ?? ""}`,
    ),
    ...unread.map((source) => `never read by the dependency check: ${source}`),
    ...(sources.length === 0 ? ["the dependency check found no source file"] : []),
  ];
}

/** What a canary tree reports must be what it declares: a missing line is a blind rule, an extra line one that cries wolf. */
async function judgeRules(): Promise<string[]> {
  const tree = mkdtempSync(path.join(os.tmpdir(), "holdfast-canary-"));
  try {
    plantCanary(tree);
    const result = await cruiseFolder(tree);
    const reported = new Set(result.summary.violations.map(({ rule, from }) => `${rule.name}: ${from}`));
    const expected = new Set(canaryModules.flatMap(({ path: from, breaks }) => breaks.map((rule) => `${rule}: ${from}`)));
    const covered = new Set(canaryModules.flatMap(({ breaks }) => breaks));
    return [
      ...[...expected].filter((line) => !reported.has(line)).map((line) => `canary not caught by ${line}`),
      ...[...reported].filter((line) => !expected.has(line)).map((line) => `canary wrongly caught by ${line}`),
      ...forbidden.filter(({ name }) => !covered.has(name)).map(({ name }) => `no canary for the rule ${name}`),
    ];
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

/** The real manifests decide what resolves in the canary, so that a change of `exports` meets the same rules there. */
function plantCanary(tree: string): void {
  for (const name of readdirSync(path.join(root, "node_modules"))) {
    if (name !== "@holdfast" && !name.startsWith(".")) plantLink(tree, `node_modules/${name}`, path.join(root, "node_modules", name));
  }
  for (const manifest of ["package.json", ...globSync("{packages,apps}/*/package.json", { cwd: root })]) {
    const text = readFileSync(path.join(root, manifest), "utf8");
    const { name, exports = {} } = JSON.parse(text) as { name: string; exports?: Record<string, string> };
    plantFile(tree, manifest, text);
    for (const entry of Object.values(exports)) plantFile(tree, path.join(path.dirname(manifest), entry), "export {};\n");
    if (name.startsWith("@holdfast/")) plantLink(tree, `node_modules/${name}`, path.join(tree, path.dirname(manifest)));
  }
  for (const { path: file, source } of canaryModules) plantFile(tree, file, `${source}\n`);
}

function plantFile(tree: string, file: string, text: string): void {
  mkdirSync(path.dirname(path.join(tree, file)), { recursive: true });
  writeFileSync(path.join(tree, file), text);
}

function plantLink(tree: string, link: string, target: string): void {
  mkdirSync(path.dirname(path.join(tree, link)), { recursive: true });
  symlinkSync(target, path.join(tree, link), "junction");
}

async function cruiseFolder(baseDir: string): Promise<ICruiseResult> {
  const present = folders.filter((folder) => globSync(folder, { cwd: baseDir }).length > 0);
  const { output } = await cruise(present, { ...options, baseDir, validate: true, ruleSet: { forbidden } });
  if (typeof output === "string") throw new Error(`dependency-cruiser answered with text: ${output}`);
  return output;
}

function isOutside(file: string): boolean {
  return path.basename(file) === "node_modules";
}
