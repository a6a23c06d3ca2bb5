import type { TaskId } from "../ids.ts";
import type { StoredArtifact } from "./attempt.ts";

/**
 * A value that one attempt leaves for the next, with what proves that we wrote it. Keeping one grows the task's checkpoint version,
 * by which the store knows whether the next attempt begins elsewhere; the very same text and revision again does not.
 */
export interface SealedValue {
  /** JSON text, exactly as it was sealed. */
  readonly text: string;
  /** Names the exact files that it was made from; null when it depends on none. */
  readonly sourceRevision: string | null;
  readonly seal: string;
}

/** A durable step that has been done: its value is never computed again from the same files (contract 6.2). */
export interface SealedStep extends SealedValue {
  readonly key: string;
}

/** A result that is stored and not yet published, or that an identical read before this one had (contract 4.8, 6.1). */
export interface StagedResult extends SealedValue {
  /** The task whose attempt staged it. */
  readonly taskId: TaskId;
  readonly artifacts: readonly StoredArtifact[];
}

/** `refused`: a newer attempt or a terminal state stands, and nothing was kept. */
export type KeepAnswer = "kept" | "refused";
