import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";

/** One run of the official suite. */
export interface SuiteRun {
  readonly url: string;
  /** One scenario; without it, all that the revision requires and all that the suite runs beside that without scoring it. */
  readonly scenario?: string;
  /** Where it leaves what it found, scenario by scenario. */
  readonly folder: string;
  readonly onOutput: (text: string) => void;
}

/** The revision of the protocol that it judges by. */
const REVISION = "2026-07-28";
const SUITE = path.dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json"));

/**
 * Resolves when it has run. Its exit code counts neither warnings nor what the revision does not require, so it is left alone: what
 * the suite found is in its files.
 */
export async function runSuite({ url, scenario, folder, onOutput }: SuiteRun): Promise<void> {
  // A single scenario would be run at the revision of the suite's choice, and an extension's at none, unless it is told and forced.
  const selection = scenario === undefined ? ["--requirements", REVISION] : ["--scenario", scenario, "--spec-version", REVISION, "--force"];
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

/** Rejects when the list cannot be read: nothing required would be passed by everybody. */
export async function readRequirements(): Promise<Requirements> {
  const list = await readFile(path.join(SUITE, "requirements", `${REVISION}.yaml`), "utf8");
  const servers = /^server:\n((?: {2}- \S+\n)+)/mu.exec(list)?.[1] ?? "";
  const required = Array.from(servers.matchAll(/- (\S+)/gu), ([, name = ""]) => name);
  const unscored = Array.from(list.matchAll(/^ {2}- scenario: (\S+)\n {4}leg: server$/gmu), ([, name = ""]) => name);
  if (required.length === 0 || unscored.length === 0) throw new Error(`the suite's requirements for ${REVISION} are not where they were`);
  return { required, unscored };
}
