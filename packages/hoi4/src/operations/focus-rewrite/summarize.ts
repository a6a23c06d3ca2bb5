import { quantity } from "../../quantity.ts";
import { inlineText } from "../inline-lists.ts";
import type { FocusRewriteData, FocusRow } from "./contract.ts";

const LINES = 10;

/** An applied rewrite in a few lines, for people and for models that read text only. */
export function summarizeRewrite({ relativePath, treeId, counts, focuses, focusesOmitted, resultHash }: FocusRewriteData): string {
  const place = treeId === null ? "the root" : `the tree "${treeId}"`;
  const total = focuses.length + focusesOmitted;
  return [
    inlineText(`Changed ${quantity(counts.focuses, "focus", "focuses")} of ${place} in ${relativePath}.`),
    ...focuses
      .slice(0, LINES)
      .map((row) => `- ${inlineText(`${row.focusId}: ${placementText(row.before)} → ${placementText(row.after)}`)}`),
    ...(total > LINES ? [`- and ${total - LINES} more.`] : []),
    ...(counts.warnings === 0 ? [] : [`${quantity(counts.warnings, "warning")}; see diagnostics.`]),
    `The file's hash is now ${resultHash}.`,
  ].join("\n");
}

function placementText({ x, y, relativePositionId }: FocusRow["before"]): string {
  return `${x ?? "?"}, ${y ?? "?"}${relativePositionId === null ? "" : ` from ${relativePositionId}`}`;
}
