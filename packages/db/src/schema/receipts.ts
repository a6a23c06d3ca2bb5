import { integer, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { workspace } from "./access.ts";
import { bytea, holdfast, moment } from "./holdfast.ts";
import { task } from "./tasks.ts";

export const receipt = holdfast.table(
  "receipt",
  {
    address: bytea("address").primaryKey(),
    issuer: text("issuer").notNull(),
    subject: text("subject").notNull(),
    workspaceId: text("workspace_id")
      .notNull()
      .references(() => workspace.id),
    place: text("place").notNull(),
    requestKey: text("request_key").notNull(),
    operation: text("operation").notNull(),
    operationVersion: integer("operation_version").notNull(),
    inputSha256: bytea("input_sha256").notNull(),
    taskId: uuid("task_id")
      .notNull()
      .references(() => task.id),
    seal: text("seal").notNull(),
    createdAt: moment("created_at").notNull().defaultNow(),
    renewedAt: moment("renewed_at"),
  },
  (table) => [uniqueIndex("receipt_task_id_idx").on(table.taskId)],
);
