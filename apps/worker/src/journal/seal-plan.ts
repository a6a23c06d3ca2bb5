import type { ClaimedAttempt, JournalPlan, JsonValue, Seals } from "@holdfast/core";

type Unsealed = Pick<JournalPlan, "files" | "resultText" | "artifacts">;
type Claim = Pick<ClaimedAttempt, "taskId" | "operation" | "operationVersion" | "workspace">;

const PURPOSE = "journal";

/** Binds a plan to its task and to the folder that it was made for. The bytes are bound by their digests. */
export function sealPlan(seals: Seals, attempt: Claim, plan: Unsealed): JournalPlan {
  return { ...plan, seal: seals.seal(PURPOSE, partsOf(attempt, plan)) };
}

export function isGenuinePlan(seals: Seals, attempt: Claim, plan: JournalPlan): boolean {
  return seals.isGenuine(PURPOSE, partsOf(attempt, plan), plan.seal);
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
