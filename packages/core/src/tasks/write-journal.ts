import type { AttemptRef, StoredArtifact } from "./attempt-ledger.ts";

/**
 * Where a write stands. `planned`: bound, nothing touched. `applying`: files are being replaced. `committed`: all are, and checked.
 * `rolling_back`: being restored. `restored`: every file has the bytes it had. `unresolved`: somebody else changed a file that we
 * may have replaced; nothing is done about it any more.
 */
export const JOURNAL_STATES = ["planned", "applying", "committed", "rolling_back", "restored", "unresolved"] as const;
export type JournalState = (typeof JOURNAL_STATES)[number];

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

/** `busy`: another plan is being carried out below the same root. `refused`: this attempt may no longer write (contract 7.4). */
export type BindAnswer = "bound" | "busy" | "refused";

/** The durable side of `context.transaction`. Every write presents the attempt's token. */
export interface WriteJournal {
  bind(attempt: AttemptRef, plan: JournalPlan): Promise<BindAnswer>;
  /** The entry of the attempt's task, with all bytes, or null when nothing was bound. */
  read(attempt: AttemptRef): Promise<JournalEntry | null>;
  /**
   * Moves the entry on if it stands in one of `from`. To the same state is a question: may this attempt still write? `recovered`
   * counts one more attempt that took it up. `refused` when it stands elsewhere or the token is old.
   */
  move(
    attempt: AttemptRef,
    step: { readonly from: readonly JournalState[]; readonly to: JournalState; readonly detail?: string; readonly recovered?: boolean },
  ): Promise<"moved" | "refused">;
}
