import { INPUT_METHODS } from "@holdfast/core";
import { sql } from "drizzle-orm";
import { boolean, index, integer, json, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { bytea, holdfast, moment } from "./holdfast.ts";

export const session = holdfast.table(
  "session",
  {
    id: uuid("id").primaryKey(),
    tokenSha256: bytea("token_sha256").notNull(),
    issuer: text("issuer").notNull(),
    subject: text("subject").notNull(),
    revision: text("revision").notNull(),
    capabilities: json("capabilities").notNull(),
    clientName: json("client_name").notNull(),
    streamEpoch: integer("stream_epoch").notNull().default(0),
    createdAt: moment("created_at").notNull().defaultNow(),
    seenAt: moment("seen_at").notNull().defaultNow(),
    logLevel: text("log_level"),
  },
  (table) => [
    uniqueIndex("session_token_sha256_key").on(table.tokenSha256),
    index("session_owner_idx").on(table.issuer, table.subject, table.seenAt.desc()),
    index("session_seen_at_idx").on(table.seenAt),
  ],
);

export const sessionCall = holdfast.table(
  "session_call",
  {
    id: uuid("id").primaryKey(),
    sessionId: uuid("session_id")
      .notNull()
      .references(() => session.id, { onDelete: "cascade" }),
    requestId: text("request_id").notNull(),
    method: text("method").notNull(),
    params: json("params").notNull(),
    taskId: uuid("task_id"),
    asTask: boolean("as_task").notNull(),
    epoch: integer("epoch").notNull().default(0),
    requestState: text("request_state"),
    roundAfter: integer("round_after").notNull().default(0),
    createdAt: moment("created_at").notNull().defaultNow(),
    answeredAt: moment("answered_at"),
    cancelledAt: moment("cancelled_at"),
  },
  (table) => [
    index("session_call_session_id_idx").on(table.sessionId, table.createdAt.desc()),
    index("session_call_answered_at_idx")
      .on(table.answeredAt)
      .where(sql`answered_at is not null`),
  ],
);

export const sessionQuestion = holdfast.table(
  "session_question",
  {
    callId: uuid("call_id")
      .notNull()
      .references(() => sessionCall.id, { onDelete: "cascade" }),
    position: integer("position").notNull(),
    key: text("key").notNull(),
    method: text("method", { enum: INPUT_METHODS }).notNull(),
    params: json("params").notNull(),
    answer: json("answer"),
  },
  (table) => [primaryKey({ columns: [table.callId, table.position] })],
);
