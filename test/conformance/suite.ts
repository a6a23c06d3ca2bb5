import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";

/** The revisions of the protocol that the suite judges by, the newest first. */
export const REVISIONS = ["2026-07-28", "2025-11-25", "2025-06-18"] as const;
export type SuiteRevision = (typeof REVISIONS)[number];

/** One run of the official suite. */
export interface SuiteRun {
  readonly url: string;
  readonly revision: SuiteRevision;
  /** One scenario; without it, all that the revision requires and all that the suite runs beside that without scoring it. */
  readonly scenario?: string;
  /** Where it leaves what it found, scenario by scenario. */
  readonly folder: string;
  readonly onOutput: (text: string) => void;
}

const SUITE = path.dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json"));

/**
 * Resolves when it has run. Its exit code counts neither warnings nor what the revision does not require, so it is left alone: what
 * the suite found is in its files.
 */
export async function runSuite({ url, revision, scenario, folder, onOutput }: SuiteRun): Promise<void> {
  // A single scenario would be run at the revision of the suite's choice, and an extension's at none, unless it is told and forced.
  const all = LISTED.includes(revision) ? ["--requirements", revision] : ["--suite", "all", "--spec-version", revision];
  const selection = scenario === undefined ? all : ["--scenario", scenario, "--spec-version", revision, "--force"];
  const options = ["server", "--url", url, "--output-dir", folder, ...selection];
  const child = spawn(process.execPath, [path.join(SUITE, "dist/index.js"), ...options], { stdio: ["ignore", "pipe", "pipe"] });
  for (const output of [child.stdout, child.stderr]) output.on("data", (chunk: Buffer) => onOutput(chunk.toString()));
  await once(child, "close");
}

/** Names of scenarios for servers, as the suite's own list for the revision has them. */
export interface Requirements {
  readonly required: readonly string[];
  /** Run and reported by the suite, and never scored: extensions, and what its own reference server cannot pass. */
  readonly unscored: readonly string[];
}

/** For which revisions the suite has a list of what it requires; for others, that is every scenario that it has for them. */
const LISTED: readonly SuiteRevision[] = ["2026-07-28", "2025-11-25"];

/** Rejects when the list cannot be read: nothing required would be passed by everybody. */
export async function readRequirements(revision: SuiteRevision): Promise<Requirements> {
  const { required, unscored } = LISTED.includes(revision)
    ? await readList(revision)
    : { required: await listScenarios(revision), unscored: null };
  if (required.length === 0 || unscored?.length === 0) throw new Error(`the suite's requirements for ${revision} are not where they were`);
  return { required, unscored: unscored ?? [] };
}

async function readList(revision: SuiteRevision): Promise<Requirements> {
  const list = await readFile(path.join(SUITE, "requirements", `${revision}.yaml`), "utf8");
  const servers = /^server:\n((?: {2}- \S+\n)+)/mu.exec(list)?.[1] ?? "";
  const required = Array.from(servers.matchAll(/- (\S+)/gu), ([, name = ""]) => name);
  const unscored = Array.from(list.matchAll(/^ {2}- scenario: (\S+)\n {4}leg: server$/gmu), ([, name = ""]) => name);
  return { required, unscored };
}

/** As the suite prints them: a name, and in brackets the revisions that it is for. */
async function listScenarios(revision: SuiteRevision): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [path.join(SUITE, "dist/index.js"), "list", "--server"]);
  return Array.from(stdout.matchAll(/^ {2}- (\S+) \[([^\]]*)\]$/gmu))
    .filter(([, , revisions = ""]) => revisions.split(",").includes(revision))
    .map(([, name = ""]) => name);
}
