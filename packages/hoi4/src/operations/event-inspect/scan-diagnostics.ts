import type { EventGraph } from "../../graph/event-graph.ts";
import type { Diagnostic } from "../../mod/diagnostic.ts";
import { isOfMod, type ModListing } from "../../mod/list-mod-files.ts";
import type { SkippedSource, SkipReason } from "../../mod/skipped-source.ts";
import { startOf } from "../../mod/source-location.ts";

/** One warning for each file that the result does not cover. */
export function skippedDiagnostics(skipped: readonly SkippedSource[]): Diagnostic[] {
  return skipped.map(({ path, reasonCodes }) => ({
    code: "SOURCE_SKIPPED",
    severity: "warning",
    category: "configuration",
    message: `This ${path.endsWith(":") ? "folder" : "file"} ${reasonCodes.map((reason) => SKIP_SENTENCES[reason]).join(" and ")}.`,
    classification: "unresolved_analysis",
    confidence: "confirmed",
    location: startOf(path),
    details: { reasonCodes },
  }));
}

const SKIP_SENTENCES: Record<SkipReason, string> = {
  FILE_TOO_LARGE: "is larger than 64 MiB and was not read",
  SCRIPT_TOO_LARGE: "is a script larger than 8 MiB and was not analysed",
  FILE_UNREADABLE: "could not be opened; check its permissions",
  FILE_VANISHED: "was gone when it was its turn to be read",
  FILE_OUTSIDE_WORKSPACE: "is a link that leads out of the mod's folder and was not followed",
  STRUCTURE_NOT_READ: "could be read in part only",
  GRAPH_LIMIT: "was left out because the graph had reached its limit",
  LAYER_MISSING: "is named in holdfast.json and does not exist",
  LAYER_UNREADABLE: "is named in holdfast.json and could not be listed; check its permissions",
  LAYER_OUTSIDE_WORKSPACE: "is named in holdfast.json and is a link that leads out of the workspace, which is not followed",
};

/** What the mod as a whole lacks. */
export function settingDiagnostics({ descriptors, files }: ModListing, { edges }: EventGraph): Diagnostic[] {
  const found: Diagnostic[] = [];
  if (descriptors.at(-1)?.displayPath === null && files.some(isOfMod)) {
    found.push({
      code: "DESCRIPTOR_MISSING",
      severity: "info",
      category: "configuration",
      message: "The folder has no descriptor.mod, so it is unknown whether the mod replaces the game's events.",
      classification: "unresolved_analysis",
      confidence: "confirmed",
    });
  }
  const omitted = edges.reduce((sum, { conditionsOmitted = 0 }) => sum + conditionsOmitted, 0);
  if (omitted > 0) {
    found.push({
      code: "EVENT_GRAPH_CONDITIONS_OMITTED",
      severity: "warning",
      category: "configuration",
      message: `The conditions of the mod are too long for one graph; ${omitted} of them are left out.`,
      classification: "unresolved_analysis",
      confidence: "confirmed",
    });
  }
  return found;
}
