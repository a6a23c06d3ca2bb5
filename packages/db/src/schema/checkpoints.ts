import { integer, json, primaryKey, text } from "drizzle-orm/pg-core";
import { holdfast, moment } from "./holdfast.ts";
import { ofTask } from "./tasks.ts";

export const taskCheckpoint = holdfast.table("task_checkpoint", {
  taskId: ofTask().primaryKey(),
  fencingToken: integer("fencing_token").notNull(),
  value: json("value").notNull(),
  sourceRevision: text("source_revision"),
  seal: text("seal").notNull(),
  savedAt: moment("saved_at").notNull().defaultNow(),
});

export const taskStep = holdfast.table(
  "task_step",
  {
    taskId: ofTask().notNull(),
    key: text("key").notNull(),
    fencingToken: integer("fencing_token").notNull(),
    value: json("value").notNull(),
    sourceRevision: text("source_revision"),
    seal: text("seal").notNull(),
    savedAt: moment("saved_at").notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.taskId, table.key] })],
);
