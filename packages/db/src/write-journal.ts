import type { WriteJournal } from "@holdfast/core";
import type { Database } from "./pool.ts";
import { readJournal } from "./reads/read-journal.ts";
import { bindJournal } from "./writes/bind-journal.ts";
import { moveJournal } from "./writes/move-journal.ts";

/** The durable side of transactions. Its statements carry files and wait for other plans, and leave the reserved connections alone. */
export function createPostgresWriteJournal(database: Database): WriteJournal {
  return {
    bind: (attempt, plan) => bindJournal(database, attempt, plan),
    read: (attempt) => readJournal(database, attempt),
    move: (attempt, step) => moveJournal(database, attempt, step),
  };
}
