import { primaryKey, text } from "drizzle-orm/pg-core";
import { ACTIONS } from "@holdfast/core";
import { holdfast, moment } from "./holdfast.ts";

export const workspace = holdfast.table("workspace", {
  id: text("id").primaryKey(),
  title: text("title"),
  root: text("root").notNull(),
  path: text("path").notNull().default(""),
  createdAt: moment("created_at").notNull().defaultNow(),
});

export const accessGrant = holdfast.table(
  "access_grant",
  {
    workspaceId: text("workspace_id")
      .notNull()
      .references(() => workspace.id, { onDelete: "cascade" }),
    issuer: text("issuer").notNull(),
    memberKind: text("member_kind", { enum: ["principal", "group"] }).notNull(),
    member: text("member").notNull(),
    actions: text("actions", { enum: ACTIONS }).array().notNull(),
    expiresAt: moment("expires_at"),
    createdAt: moment("created_at").notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.workspaceId, table.issuer, table.memberKind, table.member] })],
);
