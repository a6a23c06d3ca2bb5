import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  doublePrecision,
  index,
  integer,
  json,
  jsonb,
  primaryKey,
  smallint,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { ATTEMPT_STATES, INPUT_METHODS, TASK_STATUSES } from "@holdfast/core";
import { workspace } from "./access.ts";
import { bytea, holdfast, moment } from "./holdfast.ts";

export const task = holdfast.table(
  "task",
  {
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
    contentAddress: bytea("content_address"),
    hasReceipt: boolean("has_receipt").notNull().default(false),
    groups: jsonb("groups").notNull().default([]),
  },
  (table) => [
    index("task_content_address_idx")
      .on(table.contentAddress, table.createdAt.desc())
      .where(sql`content_address is not null`),
    index("task_owner_idx").on(table.issuer, table.subject, table.id.desc()),
    index("task_expires_at_idx")
      .on(sql`(created_at at time zone 'UTC' + ttl_ms * interval '1 millisecond')`)
      .where(sql`status in ('completed', 'failed', 'cancelled') and not has_receipt`),
  ],
);

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
    parked: boolean("parked").notNull().default(false),
    contentAddress: bytea("content_address"),
    hasHandle: boolean("has_handle").notNull().default(true),
    callers: integer("callers").notNull().default(0),
    checkpointVersion: integer("checkpoint_version").notNull().default(0),
    retriedVersion: integer("retried_version").notNull().default(0),
  },
  (table) => [
    index("live_task_leased_idx")
      .on(table.workerId)
      .where(sql`worker_id is not null`),
    index("live_task_wake_at_idx")
      .on(table.wakeAt)
      .where(sql`worker_id is null and not parked`),
    uniqueIndex("live_task_content_address_idx")
      .on(table.contentAddress)
      .where(sql`content_address is not null`),
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
  sourceRevision: text("source_revision"),
  seal: text("seal"),
  artifacts: json("artifacts"),
});

export const taskInput = holdfast.table(
  "task_input",
  {
    taskId: ofTask().notNull(),
    key: text("key").notNull(),
    method: text("method", { enum: INPUT_METHODS }).notNull(),
    params: json("params").notNull(),
    answer: json("answer"),
    askedAt: moment("asked_at").notNull().defaultNow(),
    answeredAt: moment("answered_at"),
  },
  (table) => [primaryKey({ columns: [table.taskId, table.key] })],
);

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

export function ofTask() {
  return uuid("task_id").references(() => task.id, { onDelete: "cascade" });
}
