import { randomBytes } from "node:crypto";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseWorkspaceId } from "@holdfast/core";
import { addGrant, addWorkspace, openDatabase } from "@holdfast/db";
import { expectInvariantsAt } from "./invariants.ts";
import { startRoundRobinProxy, type RoundRobinProxy } from "./round-robin-proxy.ts";
import { startServerProcess } from "./server-process.ts";
import { startServiceProcess } from "./service-process.ts";
import { startTestIssuer } from "./tokens.ts";

/**
 * The whole service as its clients meet it: real processes behind a load balancer that favours no node. At its end, its database breaks no
 * rule that always holds.
 */
export interface BalancedService extends AsyncDisposable {
  /** Of the balancer, which gives a token to requests that have none. */
  readonly url: string;
  /** The folder of the workspace `current`, in which the bearer of that token may do everything. */
  readonly folder: string;
  /** How many operations its workers run at the same time, all together. */
  readonly slots: number;
}

export interface BalancedServiceOptions {
  /** Of a migrated database. */
  readonly databaseUrl: string;
  /** HOLDFAST_PACKS of all processes. */
  readonly packs: string;
  readonly scopes?: readonly string[];
}

const NODES = 3;
const WORKERS = 2;
const SLOTS_OF_A_WORKER = 2;
const SUBJECT = "tester";
const WORKER = path.join(path.dirname(createRequire(import.meta.url).resolve("@holdfast/worker")), "main.ts");

/** Three nodes and two workers. */
export async function startBalancedService({ databaseUrl, packs, scopes = [] }: BalancedServiceOptions): Promise<BalancedService> {
  await using cleanup = new AsyncDisposableStack();
  const issuer = await startTestIssuer();
  cleanup.defer(issuer.close);
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), "holdfast-balanced-")));
  cleanup.defer(() => rm(folder, { recursive: true, force: true }));
  await addCurrentWorkspace(databaseUrl, issuer.issuer);
  cleanup.defer(() => expectInvariantsAt(databaseUrl));

  const proxy: RoundRobinProxy = cleanup.use(
    await startRoundRobinProxy({ authorization: async () => `Bearer ${await issuer.token({ audience: url, subject: SUBJECT, scopes })}` }),
  );
  const url: string = `${proxy.origin}/mcp`;
  const shared = {
    DATABASE_URL: databaseUrl,
    HOLDFAST_PACKS: packs,
    HOLDFAST_DRAIN_MS: "2000",
    HOLDFAST_KEYS: `k1:${randomBytes(32).toString("base64url")}`,
  };
  const node = {
    ...shared,
    HOLDFAST_PORT: "0",
    HOLDFAST_PUBLIC_URL: url,
    HOLDFAST_ISSUERS: JSON.stringify([{ issuer: issuer.issuer, jwksUrl: issuer.jwksUrl }]),
  };
  const worker = { ...shared, HOLDFAST_ROOTS: `folder=${folder}`, HOLDFAST_SLOTS: String(SLOTS_OF_A_WORKER) };
  const started = await Promise.allSettled([
    ...Array.from({ length: NODES }, () => startServerProcess(node)),
    ...Array.from({ length: WORKERS }, () => startServiceProcess({ main: WORKER, env: worker })),
  ]);
  for (const each of started) if (each.status === "fulfilled") cleanup.use(each.value);
  for (const each of started) if (each.status === "rejected") throw each.reason;
  const ready = started.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  proxy.targets = ready.flatMap((service) => ("url" in service ? [service.url] : []));
  const owned = cleanup.move();
  return { url, folder, slots: WORKERS * SLOTS_OF_A_WORKER, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function addCurrentWorkspace(databaseUrl: string, issuer: string): Promise<void> {
  const database = openDatabase({ url: databaseUrl, applicationName: "holdfast-test", maxConnections: 1, onError: () => undefined });
  try {
    const workspaceId = parseWorkspaceId("current");
    if (workspaceId === null) throw new Error("the workspace has no usable name");
    await addWorkspace(database, { id: workspaceId, root: "folder", path: "" });
    const grant = { workspaceId, issuer, memberKind: "principal", member: SUBJECT, expiresAt: null } as const;
    await addGrant(database, { ...grant, actions: ["read", "run", "write"] });
  } finally {
    await database.close();
  }
}
