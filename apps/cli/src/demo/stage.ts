import { createServer } from "node:net";
import { parseWorkspaceId } from "@holdfast/core";
import { addGrant, addWorkspace, openDatabase } from "@holdfast/db";
import type { CliConfig } from "../config.ts";
import { startDevIssuer } from "../dev-issuer/issuer-server.ts";
import { generateSigningKeys } from "../dev-issuer/signing-keys.ts";
import { signToken } from "../dev-issuer/sign-token.ts";
import { startChild, type Child, type ChildOptions } from "../launcher/child.ts";
import { newHandleKeys } from "../service/data-folder.ts";
import { startPostgres } from "../service/embedded-database.ts";
import { migrateDatabase } from "../service/migrate-database.ts";
import { serverEnvironment, workerEnvironment } from "../service/process-environment.ts";

export interface Node {
  readonly child: Child;
  /** Where a client reaches this node, and no other. */
  readonly url: string;
}

/** A whole service for one play: two nodes, an issuer and a temporary database; the worker waits for its cue. */
export interface Stage {
  readonly nodeA: Node;
  readonly nodeB: Node;
  readonly databaseUrl: string;
  /** The subject that may work in the workspace. */
  readonly subject: string;
  startWorker(): Promise<Child>;
  /** A new token for that subject. */
  token(ttlSeconds: number): Promise<string>;
  /** Starts a process that is ended with the rest. */
  start(options: ChildOptions): Child;
}

const workspace = "current";
const readyMs = 60_000;
const graceMs = 15_000;

/** Builds the stage; whatever it starts is ended by `cleanup`, also when it fails half-way. */
export async function buildStage(
  { config, mod, say }: { config: CliConfig; mod: string; say: (line: string) => void },
  cleanup: AsyncDisposableStack,
): Promise<Stage> {
  const start = (options: ChildOptions): Child => {
    // An interruption does not stop the play in mid-sentence, only all that it has started; it must not start more.
    if (cleanup.disposed) throw new Error(`too late to start ${options.name}: everything is being stopped`);
    const child = startChild(options);
    cleanup.defer(async () => void (await child.stop(graceMs)));
    return child;
  };
  const starting = startPostgres({ ephemeral: true });
  // Deferred before it stands: an interruption that comes meanwhile waits for it and then ends it.
  cleanup.defer(async () => await (await starting.catch(() => null))?.stop());
  const database = await starting;
  await migrateDatabase(database.url, () => undefined);
  say("a temporary Postgres with the schema of this release");
  const [portA, portB] = await freePorts();
  // Both nodes are one service, so they have one name: that of the node which will be left. Tokens are for that name.
  const publicUrl = `http://127.0.0.1:${portB}/mcp`;
  const keys = await generateSigningKeys();
  const issuer = await startDevIssuer({ port: 0, keys, audience: publicUrl, isProduction: config.isProduction });
  cleanup.defer(issuer.stop);
  say(`an issuer of access tokens at ${issuer.url}`);
  const subject = "demo";
  await openWorkspace(database.url, { issuer: issuer.url, subject });
  const settings = { databaseUrl: database.url, publicUrl, issuer: issuer.url, handleKeys: newHandleKeys() };
  const startNode = (name: string, port: number): Node => ({
    child: start({ name, args: ["server"], env: serverEnvironment(config, settings, port) }),
    url: `http://127.0.0.1:${port}/mcp`,
  });
  const [nodeA, nodeB] = [startNode("node A", portA), startNode("node B", portB)];
  await Promise.all([nodeA.child.ready(readyMs), nodeB.child.ready(readyMs)]);
  say(`node A at ${nodeA.url} and node B at ${nodeB.url}`);
  return {
    nodeA,
    nodeB,
    databaseUrl: database.url,
    subject,
    start,
    startWorker: async () => {
      const worker = start({ name: "the worker", args: ["worker"], env: workerEnvironment(config, settings, { [workspace]: mod }) });
      await worker.ready(readyMs);
      return worker;
    },
    token: async (ttlSeconds) => {
      const request = { subject, scopes: ["hoi4:read"], groups: [], audience: publicUrl, ttlSeconds, algorithm: "ES256" } as const;
      return (await signToken({ url: issuer.url, keys }, { ...request, scopes: [...request.scopes], groups: [] })).token;
    },
  };
}

async function openWorkspace(url: string, { issuer, subject }: { issuer: string; subject: string }): Promise<void> {
  const workspaceId = parseWorkspaceId(workspace);
  if (workspaceId === null) throw new Error(`"${workspace}" is no name for a workspace`);
  const database = openDatabase({
    url,
    applicationName: "holdfast-demo",
    maxConnections: 1,
    reservedConnections: 1,
    onError: () => undefined,
  });
  try {
    await addWorkspace(database, { id: workspaceId, root: workspace, path: "" });
    await addGrant(database, { workspaceId, issuer, memberKind: "principal", member: subject, actions: ["read", "run"], expiresAt: null });
  } finally {
    await database.close();
  }
}

/** Two that were free a moment ago, found while both are held, so that they differ. */
async function freePorts(): Promise<[number, number]> {
  const servers = [createServer(), createServer()] as const;
  const [first, second] = await Promise.all(servers.map(listenAnywhere));
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  if (first === undefined || second === undefined) throw new Error("no free port on 127.0.0.1");
  return [first, second];
}

async function listenAnywhere(server: ReturnType<typeof createServer>): Promise<number> {
  return await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: "127.0.0.1", port: 0 }, () => {
      const address = server.address();
      if (address !== null && typeof address === "object") resolve(address.port);
      else reject(new Error("no free port on 127.0.0.1"));
    });
  });
}
