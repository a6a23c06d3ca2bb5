import { readFile } from "node:fs/promises";
import path from "node:path";
import type { SuiteRevision } from "./suite.ts";

/**
 * The entries of expected-failures.yml for a revision: scenarios, or `scenario:check`. Those of the newest are under `server`, where the
 * suite itself reads them; those of others under their names. Rejects for a line of any other form.
 */
export async function readExpectedFailures(revision: SuiteRevision): Promise<readonly string[]> {
  const wanted = revision === "2026-07-28" ? "server" : revision;
  const lines = (await readFile(path.join(import.meta.dirname, "expected-failures.yml"), "utf8")).split("\n");
  const entries: string[] = [];
  let section = "";
  for (const line of lines) {
    if (/^\s*(?:#.*)?$/u.test(line)) continue;
    const head = /^(server|\d{4}-\d\d-\d\d):(?: \[\])?$/u.exec(line)?.[1];
    const entry = /^ {2}- ([\w-]+(?::[\w-]+)?)$/u.exec(line)?.[1];
    if (head === undefined && entry === undefined) throw new Error(`expected-failures.yml has a line that is no entry: ${line}`);
    section = head ?? section;
    if (entry !== undefined && section === wanted) entries.push(entry);
  }
  return entries;
}
