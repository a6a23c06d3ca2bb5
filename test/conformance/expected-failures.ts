import { readFile } from "node:fs/promises";
import path from "node:path";

/** The entries of expected-failures.yml, which the suite reads too: scenarios, or `scenario:check`. Rejects for a line of any other form. */
export async function readExpectedFailures(): Promise<readonly string[]> {
  const lines = (await readFile(path.join(import.meta.dirname, "expected-failures.yml"), "utf8")).split("\n");
  return lines
    .filter((line) => !/^\s*(?:#.*)?$|^server:(?: \[\])?$/u.test(line))
    .map((line) => {
      const entry = /^ {2}- ([\w-]+(?::[\w-]+)?)$/u.exec(line)?.[1];
      if (entry === undefined) throw new Error(`expected-failures.yml has a line that is no entry: ${line}`);
      return entry;
    });
}
