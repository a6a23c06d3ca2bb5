import { createHash } from "node:crypto";
import type { CreateTask, FileVersion, JournalPlan, SealedValue, StagedResult } from "@holdfast/core";

/** For tasks that may bind a plan. */
export const writing: Pick<CreateTask, "operation"> = { operation: { name: "test.echo", version: 1, effect: "write", pool: "default" } };

export function sealedValue(value: unknown, changes: Partial<SealedValue> = {}): SealedValue {
  return { text: JSON.stringify(value), sourceRevision: "r1", seal: `seal of ${JSON.stringify(value)}`, ...changes };
}

export function stagedResult(value: unknown, changes: Partial<StagedResult> = {}): Omit<StagedResult, "taskId"> {
  return { ...sealedValue(value), artifacts: [], ...changes };
}

export function writePlan(changes: Partial<JournalPlan> = {}): JournalPlan {
  return {
    files: [{ path: "common/a.txt", before: version("old"), after: version("new") }],
    resultText: '{"content":[]}',
    artifacts: [],
    seal: "seal of a plan",
    ...changes,
  };
}

export function version(content: string | Uint8Array): FileVersion {
  const bytes = Buffer.from(content);
  return { sha256: createHash("sha256").update(bytes).digest("hex"), bytes };
}
