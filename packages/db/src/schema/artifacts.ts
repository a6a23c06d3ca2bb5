import { bigint, foreignKey, index, json, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { workspace } from "./access.ts";
import { bytea, holdfast, moment } from "./holdfast.ts";
import { task } from "./tasks.ts";

export const artifactBlob = holdfast.table(
  "artifact_blob",
  {
    workspaceId: text("workspace_id")
      .notNull()
      .references(() => workspace.id, { onDelete: "cascade" }),
    sha256: bytea("sha256").notNull(),
    bytes: bytea("bytes").notNull(),
    createdAt: moment("created_at").notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.workspaceId, table.sha256] })],
);

export const artifact = holdfast.table(
  "artifact",
  {
    workspaceId: text("workspace_id").notNull(),
    sha256: bytea("sha256").notNull(),
    name: text("name").notNull(),
    mediaType: text("media_type").notNull(),
    title: json("title"),
    sizeBytes: bigint("size_bytes", { mode: "number" }).notNull(),
    createdAt: moment("created_at").notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.sha256, table.name] }),
    foreignKey({
      columns: [table.workspaceId, table.sha256],
      foreignColumns: [artifactBlob.workspaceId, artifactBlob.sha256],
    }).onDelete("cascade"),
  ],
);

export const taskArtifact = holdfast.table(
  "task_artifact",
  {
    taskId: uuid("task_id")
      .notNull()
      .references(() => task.id, { onDelete: "cascade" }),
    workspaceId: text("workspace_id").notNull(),
    sha256: bytea("sha256").notNull(),
    name: text("name").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.taskId, table.sha256, table.name] }),
    foreignKey({
      columns: [table.workspaceId, table.sha256, table.name],
      foreignColumns: [artifact.workspaceId, artifact.sha256, artifact.name],
    }),
    index("task_artifact_artifact_idx").on(table.workspaceId, table.sha256, table.name),
  ],
);
