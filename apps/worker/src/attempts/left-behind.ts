import type { ClaimedAttempt, JsonValue, SealedStep, SealedValue, Seals, StagedResult, Telemetry } from "@holdfast/core";
import type { LeftBehind } from "../sandbox/operation-job.ts";

/** What one attempt hands to the next through the store, which is not trusted with it: every record is sealed, and checked. */
export interface AttemptSeals {
  /** What of it is genuine and was made from the files as they are (`revision`). */
  believe(revision: string): LeftBehind;
  /** Null for a result that is not to be believed. */
  believeResult(result: StagedResult | null): StagedResult | null;
  sealCheckpoint(text: string, sourceRevision: string): SealedValue;
  sealStep(key: string, text: string, sourceRevision: string): SealedStep;
  sealResult(result: Pick<StagedResult, "text" | "sourceRevision" | "artifacts">): Omit<StagedResult, "taskId">;
}

export function createAttemptSeals(attempt: ClaimedAttempt, seals: Seals, telemetry: Telemetry): AttemptSeals {
  const { taskId, operation, operationVersion } = attempt;

  function isGenuine(purpose: string, parts: readonly JsonValue[], seal: string): boolean {
    if (seals.isGenuine(purpose, parts, seal)) return true;
    telemetry.emit("seal.refused", { taskId, record: purpose });
    return false;
  }

  const checkpointParts = ({ text, sourceRevision }: Omit<SealedValue, "seal">) => [
    taskId,
    operation,
    operationVersion,
    sourceRevision,
    text,
  ];
  const stepParts = (step: Omit<SealedStep, "seal">) => [...checkpointParts(step), step.key];
  const resultParts = ({ taskId: from, text, sourceRevision, artifacts }: Omit<StagedResult, "seal">) => [
    from,
    operation,
    operationVersion,
    sourceRevision,
    text,
    artifacts.map(({ sha256, name }) => [sha256, name]),
  ];

  return {
    believe(revision) {
      const { checkpoint, steps, inputs } = attempt;
      const isCurrent = (value: SealedValue): boolean => value.sourceRevision === revision;
      return {
        checkpoint:
          checkpoint !== null && isGenuine("checkpoint", checkpointParts(checkpoint), checkpoint.seal) && isCurrent(checkpoint)
            ? checkpoint.text
            : null,
        steps: steps
          .filter((step) => isGenuine("step", stepParts(step), step.seal) && isCurrent(step))
          .map(({ key, text }) => ({ key, text })),
        inputs,
      };
    },
    believeResult: (result) => (result !== null && isGenuine("staged result", resultParts(result), result.seal) ? result : null),
    sealCheckpoint(text, sourceRevision) {
      const value = { text, sourceRevision };
      return { ...value, seal: seals.seal("checkpoint", checkpointParts(value)) };
    },
    sealStep(key, text, sourceRevision) {
      const step = { key, text, sourceRevision };
      return { ...step, seal: seals.seal("step", stepParts(step)) };
    },
    sealResult(result) {
      const { text, sourceRevision, artifacts } = result;
      return { text, sourceRevision, artifacts, seal: seals.seal("staged result", resultParts({ ...result, taskId })) };
    },
  };
}
