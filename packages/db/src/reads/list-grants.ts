import type { WorkspaceId } from "@holdfast/core";
import { asc, eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import type { Database } from "../pool.ts";
import { accessGrant } from "../schema/index.ts";
import { storageError } from "../storage-error.ts";
import type { Grant } from "../writes/change-grants.ts";
import { storedWorkspaceIdSchema } from "./list-workspaces.ts";

/** All grants, or those of one workspace, for operators; expired ones too. */
export async function listGrants(database: Database, workspaceId?: WorkspaceId): Promise<readonly Grant[]> {
  const { workspaceId: workspace, issuer, memberKind, member, actions, expiresAt } = accessGrant;
  try {
    const rows = await drizzle(database.pool)
      .select({ workspaceId: workspace, issuer, memberKind, member, actions, expiresAt })
      .from(accessGrant)
      .where(workspaceId === undefined ? undefined : eq(workspace, workspaceId))
      .orderBy(asc(workspace), asc(issuer), asc(memberKind), asc(member));
    return rows.map((row) => ({ ...row, workspaceId: storedWorkspaceIdSchema.parse(row.workspaceId) }));
  } catch (error) {
    throw storageError(error, "could not list grants");
  }
}
