import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import path from "node:path";

/** One run of the official suite. */
export interface SuiteRun {
  readonly url: string;
  /** Options that choose what runs: one scenario, or all that a revision requires. */
  readonly selection: readonly ["--scenario", string] | readonly ["--requirements", string];
  /** Known failures, each of which must still fail. */
  readonly baseline?: string;
  readonly onOutput: (text: string) => void;
}

const SUITE = path.join(
  path.dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json")),
  "dist/index.js",
);

/** The exit code of the suite. */
export async function runSuite({ url, selection, baseline, onOutput }: SuiteRun): Promise<number> {
  const known = baseline === undefined ? [] : ["--expected-failures", baseline];
  const child = spawn(process.execPath, [SUITE, "server", "--url", url, ...selection, ...known], { stdio: ["ignore", "pipe", "pipe"] });
  for (const output of [child.stdout, child.stderr]) output.on("data", (chunk: Buffer) => onOutput(chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return code ?? 1;
}
