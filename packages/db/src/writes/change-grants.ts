import type { Action, WorkspaceId } from "@holdfast/core";
import { and, eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import type { Database } from "../pool.ts";
import { accessGrant } from "../schema/index.ts";
import { brokenConstraint, storageError } from "../storage-error.ts";

/** Whose grant it is. A grant holds for a subject of an issuer or for a group that this issuer's tokens carry. */
export interface GrantMember {
  readonly workspaceId: WorkspaceId;
  readonly issuer: string;
  readonly memberKind: "principal" | "group";
  readonly member: string;
}

export interface Grant extends GrantMember {
  readonly actions: readonly Action[];
  /** Null for one that holds until it is removed. */
  readonly expiresAt: Date | null;
}

/** Replaces an earlier grant of the same member. It counts from the next statement of any node on. */
export async function addGrant(database: Database, grant: Grant): Promise<"granted" | "workspace_unknown"> {
  const changed = { actions: [...grant.actions], expiresAt: grant.expiresAt };
  const { workspaceId, issuer, memberKind, member } = grant;
  try {
    await drizzle(database.pool)
      .insert(accessGrant)
      .values({ workspaceId, issuer, memberKind, member, ...changed })
      .onConflictDoUpdate({
        target: [accessGrant.workspaceId, accessGrant.issuer, accessGrant.memberKind, accessGrant.member],
        set: changed,
      });
    return "granted";
  } catch (error) {
    if (brokenConstraint(error) === "access_grant_workspace_id_fkey") return "workspace_unknown";
    throw storageError(error, `could not grant access to workspace ${workspaceId}`);
  }
}

/** Whether there was one. */
export async function removeGrant(database: Database, of: GrantMember): Promise<boolean> {
  try {
    const removed = await drizzle(database.pool)
      .delete(accessGrant)
      .where(
        and(
          eq(accessGrant.workspaceId, of.workspaceId),
          eq(accessGrant.issuer, of.issuer),
          eq(accessGrant.memberKind, of.memberKind),
          eq(accessGrant.member, of.member),
        ),
      );
    return removed.rowCount === 1;
  } catch (error) {
    throw storageError(error, `could not remove a grant from workspace ${of.workspaceId}`);
  }
}
