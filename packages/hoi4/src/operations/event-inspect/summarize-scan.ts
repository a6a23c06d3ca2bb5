import { clipText } from "../../clip-text.ts";
import { inlineText } from "../inline-lists.ts";
import { quantity } from "../../quantity.ts";
import { isDisplayedAsMod } from "../../mod/list-mod-files.ts";
import type { Diagnostic } from "../../mod/diagnostic.ts";
import type { ScanData } from "./contract.ts";
import type { EventScan } from "./scan-events.ts";

/** How many kinds of problem are named in the text; the structured result has more. */
const WORST = 5;

/** Longer than the paths of mods, and far shorter than paths can be. */
const PATH_LENGTH = 150;

/** The result in a few lines, for people and for models that read text only. */
export function summarizeScan({ diagnostics, filesScanned, graph }: EventScan, { counts, mod, hint }: ScanData): string {
  const name = mod.name ?? "The mod";
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const warnings = diagnostics.filter(({ severity }) => severity === "warning");
  // The same slip of one file often repeats; one line for it leaves room for the others.
  const groups = [...Map.groupBy([...errors, ...warnings], ({ code, location }) => `${code} ${location?.path ?? ""}`).values()];
  return [
    hint === null
      ? `${name}: ${ownEvents(graph)}${quantity(counts.events, "event")} with ${quantity(counts.options, "option")}, started from ${quantity(counts.entries, "place")}, in ${quantity(filesScanned.length, "file")}.`
      : `${name} has no events. ${hint}`,
    groups.length === 0
      ? "Nothing wrong was found."
      : `${quantity(errors.length, "error")} and ${quantity(warnings.length, "warning")}${groups.length > WORST ? "; the worst" : ""}:`,
    ...groups.slice(0, WORST).map(lineOf),
    ...(counts.skippedSources === 0
      ? []
      : [`${quantity(counts.skippedSources, "file")} could not be read in full; the result does not cover what is in there.`]),
    "The whole graph is in event-graph.json.",
  ].join("\n");
}

/** Where the game is read as well, most events are not those of the mod. */
function ownEvents({ nodes }: EventScan["graph"]): string {
  const events = nodes.filter((node) => node.kind === "event");
  const own = events.filter(({ location }) => isDisplayedAsMod(location.path)).length;
  return own === events.length ? "" : `${own} of `;
}

function lineOf([first, ...others]: readonly Diagnostic[]): string {
  if (first === undefined) return "";
  const { location, message } = first;
  const place = location === undefined ? "" : `${clipText(location.path, PATH_LENGTH)}:${location.start.line} `;
  return `- ${place}${inlineText(message)}${others.length === 0 ? "" : ` (and ${others.length} more like it in this file)`}`;
}
