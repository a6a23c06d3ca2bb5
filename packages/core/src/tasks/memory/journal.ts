import type { AttemptRef } from "../attempt-ledger.ts";
import type { BindAnswer, FileVersion, JournalEntry, JournalPlan, WriteJournal } from "../write-journal.ts";
import { isWriting } from "./entry.ts";
import type { Shelf } from "./shelf.ts";

/** The journal of writes of the in-memory store: one plan a task, and one at a time below each root. */
export function createJournal(shelf: Shelf): WriteJournal {
  const bind = (attempt: AttemptRef, plan: JournalPlan): BindAnswer => {
    const entry = shelf.held(attempt);
    if (entry === null || entry.journal !== null) return "refused";
    const isBusy = [...shelf.entries.values()].some((other) => isWriting(other) && other.workspace.root === entry.workspace.root);
    if (isBusy) return "busy";
    entry.journal = copyOf({ ...plan, state: "planned", recoveries: 0 });
    return "bound";
  };

  return {
    bind: async (attempt, plan) => bind(attempt, plan),
    read: async (attempt) => {
      const journal = shelf.held(attempt)?.journal ?? null;
      return journal === null ? null : copyOf(journal);
    },
    move: async (attempt, { from, to, recovered = false }) => {
      const entry = shelf.held(attempt);
      if (entry?.journal == null || !from.includes(entry.journal.state)) return "refused";
      entry.journal = { ...entry.journal, state: to, recoveries: entry.journal.recoveries + (recovered ? 1 : 0) };
      return "moved";
    },
  };
}

function copyOf(journal: JournalEntry): JournalEntry {
  return {
    ...journal,
    files: journal.files.map(({ path, before, after }) => ({ path, before: copyOfVersion(before), after: copyOfVersion(after) })),
    artifacts: [...journal.artifacts],
  };
}

function copyOfVersion(version: FileVersion | null): FileVersion | null {
  return version === null ? null : { sha256: version.sha256, bytes: version.bytes.slice() };
}
