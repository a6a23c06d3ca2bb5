import type { Finding, Range, ScriptFile } from "../clausewitz/index.ts";

/**
 * What makes the structure of a range doubtful: errors in it, and places where the parser had to guess. Slips that leave no doubt about
 * the structure, such as a forgotten `=` before a block, are none. What lies inside one of the ranges `except` is not looked at.
 */
export function syntaxDoubts({ findings, blocked }: ScriptFile, range: Range, except: readonly Range[] = []): readonly Finding[] {
  const isInside = (found: Range) => overlap(found, range) && !except.some(({ start, end }) => start <= found.start && found.end <= end);
  return findings.filter(
    (finding) => isInside(finding) && (finding.severity === "error" || blocked.some((guess) => overlap(guess, finding))),
  );
}

function overlap(a: Range, b: Range): boolean {
  return a.start < b.end && b.start < a.end;
}
