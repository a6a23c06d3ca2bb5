import type { JsonObject } from "@holdfast/core";
import { compareText } from "../compare-text.ts";
import type { Finding } from "../clausewitz/index.ts";
import { quantity } from "../quantity.ts";
import { locate, startOf, type Positioned, type SourceLocation } from "./source-location.ts";

/** Worst first: `blocker` means that the answer itself lacks something. */
const SEVERITIES = ["blocker", "error", "warning", "info"] as const;

export type Confidence = "confirmed" | "high" | "medium" | "low" | "unresolved";

/** Something worth telling the author of a mod. */
export interface Diagnostic {
  /** UPPER_SNAKE and stable. */
  readonly code: string;
  readonly severity: (typeof SEVERITIES)[number];
  readonly category: "syntax" | "reference" | "layout" | "design" | "validation" | "configuration";
  readonly message: string;
  readonly classification: "confirmed_error" | "probable_defect" | "design_warning" | "unresolved_analysis";
  readonly confidence: Confidence;
  readonly location?: SourceLocation;
  readonly related?: readonly SourceLocation[];
  readonly details?: JsonObject;
}

/** Severity, path, offset, code; the message decides the rest, so that every order of discovery sorts alike. */
export function compareDiagnostics(a: Diagnostic, b: Diagnostic): number {
  return (
    SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
    compareText(a.location?.path ?? "", b.location?.path ?? "") ||
    (a.location?.start.offset ?? -1) - (b.location?.start.offset ?? -1) ||
    compareText(a.code, b.code) ||
    compareText(a.message, b.message)
  );
}

interface ReadText extends Positioned {
  readonly findings: readonly Finding[];
  readonly findingsOmitted: number;
}

/** What the parser met in a file, in the words of a result. */
export function syntaxDiagnostics(path: string, file: ReadText): Diagnostic[] {
  const found = file.findings.map((finding): Diagnostic => {
    const { code, severity, message } = finding;
    const classification = severity === "error" ? "confirmed_error" : "probable_defect";
    return { code, severity, category: "syntax", message, classification, confidence: "confirmed", location: locate(path, file, finding) };
  });
  return file.findingsOmitted === 0 ? found : [...found, omission("SYNTAX_FINDINGS_OMITTED", path, file.findingsOmitted)];
}

/** Gathers what is noticed while one file is read: a file that was written to be full of slips must not fill the memory with them. */
export interface FileReport {
  add(diagnostic: Diagnostic): void;
  finish(): Diagnostic[];
}

export function openReport(path: string): FileReport {
  const kept: Diagnostic[] = [];
  let omitted = 0;
  return {
    add(diagnostic) {
      if (kept.length < REPORT_LIMIT) kept.push(diagnostic);
      else omitted += 1;
    },
    finish: () => (omitted === 0 ? kept : [...kept, omission("FILE_FINDINGS_OMITTED", path, omitted)]),
  };
}

/** As many as the parser lists of one file. */
const REPORT_LIMIT = 200;

/** Says that a file has more findings than are listed. */
export function omission(code: "SYNTAX_FINDINGS_OMITTED" | "FILE_FINDINGS_OMITTED", path: string, count: number): Diagnostic {
  return {
    code,
    severity: "warning",
    category: code === "SYNTAX_FINDINGS_OMITTED" ? "syntax" : "validation",
    message: `${quantity(count, "more finding")} in this file ${count === 1 ? "is" : "are"} not listed.`,
    classification: "unresolved_analysis",
    confidence: "confirmed",
    location: startOf(path),
  };
}
