import { randomUUID } from "node:crypto";
import { parseWorkspaceId, workerIdSchema, type Principal, type WorkspaceId } from "@holdfast/core";

const issuer = "https://issuer.example";

/** Who takes part: alice may do everything, bob only what reads, carl by his group what writes, eve nothing. */
export const principals = [
  { issuer, subject: "alice", groups: [], scopes: [] },
  { issuer, subject: "bob", groups: [], scopes: [] },
  { issuer, subject: "carl", groups: ["modders"], scopes: [] },
  { issuer, subject: "eve", groups: [], scopes: [] },
] as const satisfies readonly Principal[];

/** The first two lie below the same root, where one plan at a time writes. */
export const workspaces = [
  { id: named("alpha"), root: "mods", path: "alpha" },
  { id: named("beta"), root: "mods", path: "beta" },
  { id: named("gamma"), root: "other", path: "" },
] as const;

export const grants = workspaces.flatMap(({ id: workspaceId }) => [
  { workspaceId, issuer, memberKind: "principal" as const, member: "alice", actions: ["read", "run", "write"] as const, expiresAt: null },
  { workspaceId, issuer, memberKind: "principal" as const, member: "bob", actions: ["read", "run"] as const, expiresAt: null },
  { workspaceId, issuer, memberKind: "group" as const, member: "modders", actions: ["read", "write"] as const, expiresAt: null },
]);

export const workers = Array.from({ length: 3 }, () => workerIdSchema.parse(randomUUID()));
export const reach = {
  pools: ["default"],
  roots: ["mods", "other"],
  operations: ["test.read", "test.read_other", "test.write", "test.write_other"],
};

function named(text: string): WorkspaceId {
  const id = parseWorkspaceId(text);
  if (id === null) throw new Error(`${text} is no workspace id`);
  return id;
}
