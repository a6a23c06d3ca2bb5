import { quantity } from "../../quantity.ts";
import type { Diagnostic } from "../../mod/diagnostic.ts";
import type { ScanData } from "./contract.ts";
import type { EventScan } from "./scan-events.ts";

/** How many problems are named in the text; the structured result has more of them. */
const WORST = 5;

/** The result in a few lines, for people and for models that read text only. */
export function summarizeScan({ diagnostics, filesScanned }: EventScan, { counts, mod, hint, complete }: ScanData): string {
  const name = mod.name ?? "The mod";
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const warnings = diagnostics.filter(({ severity }) => severity === "warning");
  const worst = [...errors, ...warnings].slice(0, WORST);
  const left = errors.length + warnings.length - worst.length;
  return [
    hint === null
      ? `${name}: ${quantity(counts.events, "event")} with ${quantity(counts.options, "option")}, started from ${quantity(counts.entries, "place")}, in ${quantity(filesScanned.length, "file")}.`
      : `${name} has no events. ${hint}`,
    errors.length + warnings.length === 0
      ? "Nothing wrong was found."
      : `${quantity(errors.length, "error")} and ${quantity(warnings.length, "warning")}${left > 0 ? "; the worst" : ""}:`,
    ...worst.map(lineOf),
    ...(complete ? [] : [`Not everything could be read: ${quantity(counts.skippedSources, "file")} left out.`]),
    "The whole graph is in event-graph.json.",
  ].join("\n");
}

function lineOf({ location, message }: Diagnostic): string {
  return location === undefined ? `- ${message}` : `- ${location.path}:${location.start.line} ${message}`;
}
