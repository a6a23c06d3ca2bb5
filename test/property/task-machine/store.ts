import type { Action, AttemptLedger, TaskId, TaskManager, WriteJournal } from "@holdfast/core";

/** All that a sequence does to a store, be it the in-memory one or Postgres. */
export interface Store extends TaskManager, AttemptLedger, WriteJournal {
  expire(limit: number): Promise<number>;
  endUnanswered(limit: number): Promise<readonly TaskId[]>;
  /** Makes these all that the grant of this number allows, nothing at all included. */
  permit(grant: number, actions: readonly Action[]): Promise<void>;
}

/** What a step does, the same to every store: its targets were chosen from what the sequence has met so far. */
export interface Move {
  readonly act: (store: Store) => Promise<unknown>;
  /** Learns from an answer that is no error what later steps may aim at. */
  readonly note?: (answer: unknown) => void;
}
