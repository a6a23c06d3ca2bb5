import { integer, text, uuid } from "drizzle-orm/pg-core";
import { holdfast, moment } from "./holdfast.ts";

export const worker = holdfast.table("worker", {
  id: uuid("id").primaryKey(),
  host: text("host").notNull(),
  pid: integer("pid").notNull(),
  version: text("version").notNull(),
  pools: text("pools").array().notNull(),
  roots: text("roots").array().notNull(),
  operations: text("operations").array().notNull(),
  slots: integer("slots").notNull(),
  startedAt: moment("started_at").notNull().defaultNow(),
  seenAt: moment("seen_at").notNull().defaultNow(),
});
