import type { AttemptRef, StoredArtifact } from "./attempt.ts";

/**
 * Where a write stands. `planned`: bound, nothing touched. `applying`: files are being replaced. `committed`: all are, and checked.
 * `rolling_back`: being restored. `restored`: every file has the bytes it had. `unresolved`: somebody else changed a file that we
 * may have replaced; nothing is done about it any more.
 */
export const JOURNAL_STATES = ["planned", "applying", "committed", "rolling_back", "restored", "unresolved"] as const;
export type JournalState = (typeof JOURNAL_STATES)[number];

/**
 * States in which files may be half changed: such a task cannot end, whoever wishes it, and no other plan is bound below its root. A
 * task whose plan is committed can only be completed, one whose plan is unresolved can only fail as "write_unresolved". So a wish to
 * cancel a queued task that stands in any state but `restored` is only written down, for the attempt that settles the matter (contract 8.4).
 */
export const OPEN_JOURNAL_STATES = ["planned", "applying", "rolling_back"] as const satisfies readonly JournalState[];

/** One file of a plan. No digest and no bytes: the file is not there before, or not after. */
export interface JournalFile {
  /** Relative to the workspace, with `/`. */
  readonly path: string;
  readonly before: FileVersion | null;
  readonly after: FileVersion | null;
}

export interface FileVersion {
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  readonly bytes: Uint8Array;
}

/** The whole plan of a write, as it is bound before the first byte changes (contract 7.1). */
export interface JournalPlan {
  readonly files: readonly JournalFile[];
  /** JSON text of the tool result that the task has once this is committed. */
  readonly resultText: string;
  readonly artifacts: readonly StoredArtifact[];
  /** Over the task, the paths and digests, and the result. */
  readonly seal: string;
}

export interface JournalEntry extends JournalPlan {
  readonly state: JournalState;
  /** How often another attempt than the one that planned it took it up. */
  readonly recoveries: number;
}

/**
 * `busy`: another plan is being carried out below the same root. `denied`: the owner may no longer write in the workspace (contract 2.6),
 * and nothing was bound. `refused`: this attempt may no longer write (contract 7.4), or its task
 * has another plan already, in whatever state. Repeating a bind whose answer was lost is `bound`.
 */
export type BindAnswer = "bound" | "busy" | "denied" | "refused";

export type MoveAnswer = "moved" | "denied" | "refused";

/** The durable side of `context.transaction`. Every write presents the attempt's token. */
export interface WriteJournal {
  /**
   * Links the artifacts to the task, and counts as progress for the retry budget, like a checkpoint. Rejects with
   * "operation_output_invalid" for an artifact that was never stored.
   */
  bind(attempt: AttemptRef, plan: JournalPlan): Promise<BindAnswer>;
  /** The entry of the attempt's task, with all bytes, or null when nothing was bound or this is no longer the newest attempt. */
  read(attempt: AttemptRef): Promise<JournalEntry | null>;
  /**
   * Moves the entry on if it stands in one of `from`. To the same state is a question: may this attempt still write? `recovered`
   * counts one more attempt that took it up, each attempt once. `refused` when it stands elsewhere or the token is old. Nothing leaves
   * `restored` and `unresolved`, and `committed` only becomes `unresolved`, for an entry whose seal is wrong. A move that this attempt
   * has made already is `moved`, so that one whose answer was lost can be repeated. `denied`: the plan is to be begun, and the owner may no
   * longer write in the workspace (contract 2.6); it stays as it is.
   */
  move(
    attempt: AttemptRef,
    step: { readonly from: readonly JournalState[]; readonly to: JournalState; readonly detail?: string; readonly recovered?: boolean },
  ): Promise<MoveAnswer>;
}
