import { randomBytes } from "node:crypto";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseWorkspaceId } from "@holdfast/core";
import { addGrant, addWorkspace, openDatabase } from "@holdfast/db";
import { startRoundRobinProxy, type RoundRobinProxy } from "../support/round-robin-proxy.ts";
import { startServerProcess } from "../support/server-process.ts";
import { startServiceProcess } from "../support/service-process.ts";
import { startTestIssuer } from "../support/tokens.ts";

/** The whole service as the official suite meets it. */
export interface ConformanceService extends AsyncDisposable {
  /** Of the proxy in front: the next request goes to the other node, with a token that the suite has no option for. */
  readonly url: string;
  /** How many operations its workers run at the same time, all together. */
  readonly slots: number;
}

const PACK = path.join(import.meta.dirname, "pack");
const WORKER = path.join(path.dirname(createRequire(import.meta.url).resolve("@holdfast/worker")), "main.ts");
const SUBJECT = "conformance";
const NODES = 3;
const WORKERS = 2;
const SLOTS_OF_A_WORKER = 2;

/** Three nodes and two workers, real processes over a migrated database, behind a proxy that favours no node. */
export async function startConformanceService(databaseUrl: string): Promise<ConformanceService> {
  await using cleanup = new AsyncDisposableStack();
  const issuer = await startTestIssuer();
  cleanup.defer(issuer.close);
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), "holdfast-conformance-")));
  cleanup.defer(() => rm(folder, { recursive: true, force: true }));
  await addCurrentWorkspace(databaseUrl, issuer.issuer);

  const proxy: RoundRobinProxy = cleanup.use(
    await startRoundRobinProxy({ authorization: async () => `Bearer ${await issuer.token({ audience: url, subject: SUBJECT })}` }),
  );
  const url: string = `${proxy.origin}/mcp`;
  const shared = {
    DATABASE_URL: databaseUrl,
    HOLDFAST_PACKS: PACK,
    HOLDFAST_DRAIN_MS: "2000",
    HOLDFAST_KEYS: `k1:${randomBytes(32).toString("base64url")}`,
  };
  const node = {
    ...shared,
    HOLDFAST_PORT: "0",
    HOLDFAST_PUBLIC_URL: url,
    HOLDFAST_ISSUERS: JSON.stringify([{ issuer: issuer.issuer, jwksUrl: issuer.jwksUrl }]),
  };
  const worker = { ...shared, HOLDFAST_ROOTS: `conformance=${folder}`, HOLDFAST_SLOTS: String(SLOTS_OF_A_WORKER) };
  const started = await Promise.allSettled([
    ...Array.from({ length: NODES }, () => startServerProcess(node)),
    ...Array.from({ length: WORKERS }, () => startServiceProcess({ main: WORKER, env: worker })),
  ]);
  for (const each of started) if (each.status === "fulfilled") cleanup.use(each.value);
  for (const each of started) if (each.status === "rejected") throw each.reason;
  const ready = started.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  proxy.targets = ready.flatMap((service) => ("url" in service ? [service.url] : []));
  const owned = cleanup.move();
  return { url, slots: WORKERS * SLOTS_OF_A_WORKER, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function addCurrentWorkspace(databaseUrl: string, issuer: string): Promise<void> {
  const database = openDatabase({ url: databaseUrl, applicationName: "holdfast-conformance", maxConnections: 1, onError: () => undefined });
  try {
    const workspaceId = parseWorkspaceId("current");
    if (workspaceId === null) throw new Error("the workspace has no usable name");
    await addWorkspace(database, { id: workspaceId, root: "conformance", path: "" });
    await addGrant(database, { workspaceId, issuer, memberKind: "principal", member: SUBJECT, actions: ["read", "run"], expiresAt: null });
  } finally {
    await database.close();
  }
}
