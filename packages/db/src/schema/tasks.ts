import { sql } from "drizzle-orm";
import { bigint, doublePrecision, index, integer, json, jsonb, primaryKey, smallint, text, uuid } from "drizzle-orm/pg-core";
import { ATTEMPT_STATES, TASK_STATUSES } from "@holdfast/core";
import { workspace } from "./access.ts";
import { holdfast, moment } from "./holdfast.ts";

export const task = holdfast.table("task", {
  id: uuid("id").primaryKey(),
  workspaceId: text("workspace_id")
    .notNull()
    .references(() => workspace.id),
  issuer: text("issuer").notNull(),
  subject: text("subject").notNull(),
  operation: text("operation").notNull(),
  operationVersion: integer("operation_version").notNull(),
  effect: text("effect", { enum: ["read", "write"] }).notNull(),
  pool: text("pool").notNull(),
  root: text("root").notNull(),
  input: json("input").notNull(),
  status: text("status", { enum: TASK_STATUSES }).notNull().default("working"),
  statusMessage: text("status_message"),
  ttlMs: bigint("ttl_ms", { mode: "number" }).notNull(),
  pollIntervalMs: integer("poll_interval_ms").notNull(),
  createdAt: moment("created_at").notNull().defaultNow(),
  lastUpdatedAt: moment("last_updated_at").notNull().defaultNow(),
});

export const liveTask = holdfast.table(
  "live_task",
  {
    taskId: ofTask().primaryKey(),
    fencingToken: integer("fencing_token").notNull().default(0),
    workerId: uuid("worker_id"),
    leaseExpiresAt: moment("lease_expires_at"),
    cancelRequestedAt: moment("cancel_requested_at"),
    budgetSpent: smallint("budget_spent").notNull().default(0),
    wakeAt: moment("wake_at")
      .notNull()
      .default(sql`now() + interval '5 seconds'`),
    progressValue: doublePrecision("progress_value"),
    progressTotal: doublePrecision("progress_total"),
    progressMessage: json("progress_message"),
    progressedAt: moment("progressed_at"),
  },
  (table) => [
    index("live_task_leased_idx")
      .on(table.workerId)
      .where(sql`worker_id is not null`),
    index("live_task_wake_at_idx")
      .on(table.wakeAt)
      .where(sql`worker_id is null`),
  ],
);

export const attempt = holdfast.table(
  "attempt",
  {
    taskId: ofTask().notNull(),
    fencingToken: integer("fencing_token").notNull(),
    workerId: uuid("worker_id").notNull(),
    state: text("state", { enum: ATTEMPT_STATES }).notNull().default("running"),
    startedAt: moment("started_at").notNull().defaultNow(),
    endedAt: moment("ended_at"),
    errorCode: text("error_code"),
    errorDetail: json("error_detail"),
  },
  (table) => [primaryKey({ columns: [table.taskId, table.fencingToken] })],
);

export const taskResult = holdfast.table("task_result", {
  taskId: ofTask().primaryKey(),
  result: json("result"),
  errorCode: text("error_code"),
  errorReference: uuid("error_reference"),
  createdAt: moment("created_at").notNull().defaultNow(),
});

export const taskEvent = holdfast.table(
  "task_event",
  {
    id: bigint("id", { mode: "bigint" }).primaryKey().generatedAlwaysAsIdentity(),
    taskId: ofTask().notNull(),
    kind: text("kind").notNull(),
    fencingToken: integer("fencing_token"),
    detail: jsonb("detail"),
    createdAt: moment("created_at").notNull().defaultNow(),
  },
  (table) => [index("task_event_task_id_idx").on(table.taskId)],
);

function ofTask() {
  return uuid("task_id").references(() => task.id, { onDelete: "cascade" });
}
