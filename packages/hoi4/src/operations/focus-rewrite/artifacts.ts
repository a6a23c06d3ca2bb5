import { canonicalJson, type ArtifactFile } from "@holdfast/core";
import { unifiedDiff } from "../../clausewitz/index.ts";
import type { FocusFile } from "../../focus/read-focus-file.ts";
import { toJson } from "../../to-json.ts";
import type { FocusRewriteData } from "./contract.ts";
import type { LayoutVerdict } from "./judge-layout.ts";
import type { Checks, Proposal } from "./propose.ts";

/** What is kept of a rewrite beside its result: the lines that change, for people, and the whole list, for programs. */
export function rewriteArtifacts({
  before,
  proposal,
  verdict,
  data,
}: {
  before: FocusFile;
  proposal: Proposal;
  verdict: LayoutVerdict;
  data: FocusRewriteData;
}): ArtifactFile[] {
  const diff = unifiedDiff({ path: data.relativePath, before: before.script, edits: proposal.byteEdits });
  const { treeId, relativePath, sourceHash, resultHash, counts } = data;
  const report: { schema: string; checks: Checks } & Omit<LayoutVerdict, "rows" | "blockers"> & Omit<FocusRewriteData, "focusesOmitted"> = {
    schema: "holdfast.hoi4.focus-rewrite/1",
    treeId,
    relativePath,
    sourceHash,
    resultHash,
    counts,
    checks: proposal.checks,
    focuses: [...verdict.rows],
    diagnostics: verdict.diagnostics,
  };
  return [
    { name: "focus-rewrite.diff", mimeType: "text/x-diff", title: "Changed lines", bytes: Buffer.from(diff) },
    {
      name: "focus-rewrite.json",
      mimeType: "application/json",
      title: "Changed focuses",
      bytes: Buffer.from(canonicalJson(toJson(report))),
    },
  ];
}
