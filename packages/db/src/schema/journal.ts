import { sql } from "drizzle-orm";
import { integer, json, primaryKey, smallint, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { JOURNAL_STATES } from "@holdfast/core";
import { bytea, holdfast, moment } from "./holdfast.ts";
import { ofTask } from "./tasks.ts";

export const journalEntry = holdfast.table(
  "journal_entry",
  {
    taskId: ofTask().primaryKey(),
    workspaceId: text("workspace_id").notNull(),
    root: text("root").notNull(),
    state: text("state", { enum: JOURNAL_STATES }).notNull().default("planned"),
    fencingToken: integer("fencing_token").notNull(),
    result: json("result").notNull(),
    artifacts: json("artifacts").notNull(),
    seal: text("seal").notNull(),
    recoveries: smallint("recoveries").notNull().default(0),
    detail: json("detail"),
    createdAt: moment("created_at").notNull().defaultNow(),
    movedAt: moment("moved_at").notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex("journal_entry_open_root_idx")
      .on(table.root)
      .where(sql`state in ('planned', 'applying', 'rolling_back')`),
  ],
);

export const journalFile = holdfast.table(
  "journal_file",
  {
    taskId: uuid("task_id")
      .notNull()
      .references(() => journalEntry.taskId, { onDelete: "cascade" }),
    position: integer("position").notNull(),
    path: json("path").notNull(),
    beforeSha256: bytea("before_sha256"),
    beforeBytes: bytea("before_bytes"),
    afterSha256: bytea("after_sha256"),
    afterBytes: bytea("after_bytes"),
  },
  (table) => [primaryKey({ columns: [table.taskId, table.position] })],
);
