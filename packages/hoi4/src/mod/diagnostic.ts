import type { JsonObject } from "@holdfast/core";
import { compareText } from "../compare-text.ts";
import type { Finding } from "../clausewitz/index.ts";
import type { SourceLocation } from "./source-location.ts";

/** Worst first: `blocker` means that the answer itself lacks something. */
const SEVERITIES = ["blocker", "error", "warning", "info"] as const;

export type Confidence = "confirmed" | "high" | "medium" | "low" | "unresolved";

/** Something worth telling the author of a mod. */
export interface Diagnostic {
  /** UPPER_SNAKE and stable. */
  readonly code: string;
  readonly severity: (typeof SEVERITIES)[number];
  readonly category: "syntax" | "reference" | "design" | "validation" | "configuration";
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

/** What the parser met, in the words of a result. */
export function syntaxDiagnostic(finding: Finding, location: SourceLocation): Diagnostic {
  return {
    code: finding.code,
    severity: finding.severity,
    category: "syntax",
    message: finding.message,
    classification: finding.severity === "error" ? "confirmed_error" : "probable_defect",
    confidence: "confirmed",
    location,
  };
}
