import type { WorkspaceId } from "@holdfast/core";
import { drizzle } from "drizzle-orm/node-postgres";
import type { Database } from "../pool.ts";
import { workspace } from "../schema/index.ts";
import { storageError } from "../storage-error.ts";

export interface NewWorkspace {
  readonly id: WorkspaceId;
  readonly title?: string;
  /** Name of a root that workers declare; `path` is relative to it, "" for the root itself. */
  readonly root: string;
  readonly path: string;
}

/** `exists`: one of that name is there and was not changed, since its tasks and artifacts belong to the folder it names. */
export async function addWorkspace(database: Database, added: NewWorkspace): Promise<"added" | "exists"> {
  try {
    const inserted = await drizzle(database.pool)
      .insert(workspace)
      .values({ ...added, title: added.title ?? null })
      .onConflictDoNothing();
    return inserted.rowCount === 1 ? "added" : "exists";
  } catch (error) {
    throw storageError(error, `could not add workspace ${added.id}`);
  }
}
