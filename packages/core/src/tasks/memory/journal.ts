import type { AttemptRef } from "../attempt.ts";
import type { BindAnswer, FileVersion, JournalEntry, JournalPlan, JournalState, MoveAnswer, WriteJournal } from "../write-journal.ts";
import { isWriting } from "./entry.ts";
import type { Shelf } from "./shelf.ts";

/** The journal of writes of the in-memory store: one plan a task, and one at a time below each root. */
export function createJournal(shelf: Shelf): WriteJournal {
  const bind = (attempt: AttemptRef, plan: JournalPlan): BindAnswer => {
    const entry = shelf.held(attempt);
    if (entry === null) return "refused";
    // A bind whose answer was lost may be repeated, as long as nothing came of it.
    if (entry.journal !== null) {
      const { entry: written, token } = entry.journal;
      return token === attempt.token && written.seal === plan.seal && written.state === "planned" ? "bound" : "refused";
    }
    if (!shelf.mayWrite(entry)) return "denied";
    const isBusy = [...shelf.entries.values()].some((other) => isWriting(other) && other.workspace.root === entry.workspace.root);
    if (isBusy) return "busy";
    entry.journal = { entry: copyOf({ ...plan, state: "planned", recoveries: 0 }), token: attempt.token };
    entry.checkpointVersion += 1;
    return "bound";
  };

  const move = (attempt: AttemptRef, step: Parameters<WriteJournal["move"]>[1]): MoveAnswer => {
    const entry = shelf.held(attempt);
    if (entry?.journal == null) return "refused";
    const { entry: written, token } = entry.journal;
    // A move whose answer was lost may be repeated.
    const isRepeated = written.state === step.to && token === attempt.token;
    if (!isRepeated && !(step.from.includes(written.state) && mayFollow(written.state, step.to))) return "refused";
    if (written.state === "planned" && step.to === "applying" && !shelf.mayWrite(entry)) return "denied";
    const recoveries = written.recoveries + (step.recovered === true && token !== attempt.token ? 1 : 0);
    entry.journal = { entry: { ...written, state: step.to, recoveries }, token: attempt.token };
    return "moved";
  };

  return {
    bind: async (attempt, plan) => bind(attempt, plan),
    read: async (attempt) => {
      const journal = shelf.held(attempt)?.journal ?? null;
      return journal === null ? null : copyOf(journal.entry);
    },
    move: async (attempt, step) => move(attempt, step),
  };
}

/** What is restored or unresolved stays so, and what is committed can at worst turn out not to be ours. */
function mayFollow(from: JournalState, to: JournalState): boolean {
  switch (from) {
    case "planned":
    case "applying":
    case "rolling_back":
      return true;
    case "committed":
      return to === "committed" || to === "unresolved";
    case "restored":
    case "unresolved":
      return to === from;
  }
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
