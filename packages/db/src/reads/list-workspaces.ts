import { ACTIONS, actionSchema, parseWorkspaceId, type Action, type Principal, type WorkspaceId } from "@holdfast/core";
import { asc } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { z } from "zod";
import { grantPredicate, principalParameters } from "../grant-predicate.ts";
import type { Database } from "../pool.ts";
import { workspace } from "../schema/index.ts";
import { runStatement, type Statement } from "../statement.ts";
import { storageError } from "../storage-error.ts";

/** A workspace as a principal sees it: what it is called and what they may do there. */
export interface GrantedWorkspace {
  readonly id: WorkspaceId;
  readonly title: string | null;
  readonly actions: readonly Action[];
}

/** A workspace as an operator sees it. */
export interface PlacedWorkspace {
  readonly id: WorkspaceId;
  readonly title: string | null;
  readonly root: string;
  readonly path: string;
}

export const storedWorkspaceIdSchema = z.string().transform((text, context) => {
  const id = parseWorkspaceId(text);
  if (id !== null) return id;
  context.addIssue({ code: "custom", message: "is no workspace id" });
  return z.NEVER;
});

const grantedSchema = z.object({ id: storedWorkspaceIdSchema, title: z.string().nullable(), actions: z.array(actionSchema) });

/** Asks the one predicate about each action, so that this list and the guards of writes cannot disagree. */
const LIST: Statement<z.infer<typeof grantedSchema>> = {
  purpose: "list workspaces",
  prepared: true,
  text: `
select w.id, w.title, may.actions
from holdfast.workspace as w
cross join lateral (
  select array_agg(a.action order by a.position) as actions
  from unnest(array['${ACTIONS.join("','")}']) with ordinality as a (action, position)
  where ${grantPredicate({ workspaceId: "w.id", issuer: "$1::text", subject: "$2::text", groups: "$3::jsonb", action: "a.action" })}
) as may
where may.actions is not null
order by w.id`,
  row: grantedSchema,
};

/** The workspaces in which the principal may do anything at all. */
export async function listWorkspaces(database: Database, principal: Principal): Promise<readonly GrantedWorkspace[]> {
  const parameters = principalParameters(principal);
  return parameters === null ? [] : await runStatement(database.pool, LIST, parameters);
}

export async function listAllWorkspaces(database: Database): Promise<readonly PlacedWorkspace[]> {
  const { id, title, root, path } = workspace;
  try {
    const rows = await drizzle(database.pool).select({ id, title, root, path }).from(workspace).orderBy(asc(id));
    return rows.map((row) => ({ ...row, id: storedWorkspaceIdSchema.parse(row.id) }));
  } catch (error) {
    throw storageError(error, "could not list workspaces");
  }
}
