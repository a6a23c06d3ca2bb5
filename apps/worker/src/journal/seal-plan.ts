import { createHash } from "node:crypto";
import type { ClaimedAttempt, FileVersion, JournalPlan, JsonValue, Seals } from "@holdfast/core";

type Unsealed = Pick<JournalPlan, "files" | "resultText" | "artifacts">;
type Claim = Pick<ClaimedAttempt, "taskId" | "operation" | "operationVersion" | "workspace">;

const PURPOSE = "journal";

/** Binds a plan to its task and to the folder that it was made for. */
export function sealPlan(seals: Seals, attempt: Claim, plan: Unsealed): JournalPlan {
  return { ...plan, seal: seals.seal(PURPOSE, partsOf(attempt, plan)) };
}

/** The bytes are bound by their digests. */
export function isGenuinePlan(seals: Seals, attempt: Claim, plan: JournalPlan): boolean {
  const versions = plan.files.flatMap(({ before, after }) => [before, after]);
  return versions.every(hasItsDigest) && seals.isGenuine(PURPOSE, partsOf(attempt, plan), plan.seal);
}

function hasItsDigest(version: FileVersion | null): boolean {
  return version === null || createHash("sha256").update(version.bytes).digest("hex") === version.sha256;
}

function partsOf(
  { taskId, operation, operationVersion, workspace }: Claim,
  { files, resultText, artifacts }: Unsealed,
): readonly JsonValue[] {
  return [
    [taskId, operation, operationVersion],
    [workspace.id, workspace.root, workspace.path],
    files.map(({ path, before, after }) => [path, before?.sha256 ?? null, after?.sha256 ?? null]),
    resultText,
    artifacts.map(({ sha256, name }) => [sha256, name]),
  ];
}
