import { afterAll, beforeAll, expect, test } from "vitest";
import { alice, alpha, memberOf, openBench, testWorkspace, type Bench } from "../testing/bench.ts";
import { addWorkspace } from "../writes/add-workspace.ts";
import { addGrant, removeGrant, type Grant } from "../writes/change-grants.ts";
import { listGrants } from "./list-grants.ts";
import { listAllWorkspaces, listWorkspaces } from "./list-workspaces.ts";

const beta = testWorkspace("beta");

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
  await addWorkspace(bench.database, { id: beta, title: "Béta 🦊", root: "mods", path: "some/where" });
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

test("a principal sees the workspaces they have live grants in, and what they may do there", async () => {
  const reader = { ...alice, subject: "reader", groups: ["modders"] };
  expect(await listWorkspaces(bench.database, reader)).toEqual([]);
  await addGrant(bench.database, { ...memberOf(reader, beta), actions: ["run", "read"], expiresAt: null });
  await addGrant(bench.database, { ...memberOf(reader), actions: ["write"], expiresAt: new Date(Date.now() - 1_000) });
  expect(await listWorkspaces(bench.database, reader)).toEqual([{ id: beta, title: "Béta 🦊", actions: ["read", "run"] }]);
  const group = { workspaceId: beta, issuer: alice.issuer, memberKind: "group", member: "modders" } as const;
  await addGrant(bench.database, { ...group, actions: ["write"], expiresAt: null });
  expect(await listWorkspaces(bench.database, reader)).toMatchObject([{ actions: ["read", "run", "write"] }]);
  expect(await listWorkspaces(bench.database, { ...reader, issuer: "https://other.example" })).toEqual([]);
  expect(await listWorkspaces(bench.database, { ...reader, subject: "\ud800" })).toEqual([]);
});

test("operators see all workspaces and where they are", async () => {
  expect(await listAllWorkspaces(bench.database)).toEqual([
    { id: alpha, title: null, root: "mods", path: "alpha" },
    { id: beta, title: "Béta 🦊", root: "mods", path: "some/where" },
  ]);
});

test("adding a workspace twice changes nothing", async () => {
  expect(await addWorkspace(bench.database, { id: beta, root: "elsewhere", path: "" })).toBe("exists");
  expect((await listAllWorkspaces(bench.database)).find(({ id }) => id === beta)?.root).toBe("mods");
});

test.each(["/absolute", "../up", "a/../../b", "a\\b", "a\nb"])("a workspace cannot be placed at %j", async (path) => {
  await expect(addWorkspace(bench.database, { id: testWorkspace("outside"), root: "mods", path })).rejects.toThrow(
    /^could not add workspace outside: .*workspace_path_check/u,
  );
});

test("a grant replaces the member's earlier one, is listed, and can be removed once", async () => {
  const grant: Grant = {
    workspaceId: beta,
    issuer: "https://issuer.example/other",
    memberKind: "group",
    member: "🦊".repeat(255),
    actions: ["read"],
    expiresAt: null,
  };
  const listed = async () => (await listGrants(bench.database, beta)).filter(({ issuer }) => issuer === grant.issuer);
  expect(await addGrant(bench.database, grant)).toBe("granted");
  const changed: Grant = { ...grant, actions: ["run", "write"], expiresAt: new Date("2030-01-02T03:04:05.678Z") };
  expect(await addGrant(bench.database, changed)).toBe("granted");
  expect(await listed()).toEqual([changed]);
  expect(await listGrants(bench.database)).toContainEqual(changed);
  expect(await listGrants(bench.database, alpha)).not.toContainEqual(changed);
  expect(await removeGrant(bench.database, grant)).toBe(true);
  expect(await removeGrant(bench.database, grant)).toBe(false);
  expect(await listed()).toEqual([]);
});

test("a grant for a workspace that does not exist is refused by name", async () => {
  expect(await addGrant(bench.database, { ...memberOf(alice, testWorkspace("nowhere")), actions: ["read"], expiresAt: null })).toBe(
    "workspace_unknown",
  );
});
