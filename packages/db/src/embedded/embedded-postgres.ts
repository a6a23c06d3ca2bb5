import { rm } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import { Client } from "pg";
import { openCluster } from "./cluster.ts";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { postgresBinaries } from "./platform-binaries.ts";
import { clearTheWay, clusterNamePrefix } from "./postmaster-file.ts";
import { launchPostmaster, type Postmaster, type PostmasterOptions } from "./postmaster.ts";
import { serverAccount } from "./server-account.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export { EmbeddedPostgresError };

export type EmbeddedPostgresOptions = {
  /** On 127.0.0.1; a free one when left out. */
  readonly port?: number;
  /** Receives what the server and its set-up report, line by line. */
  readonly log?: (line: string) => void;
} & (
  | {
      /** Keeps the database between starts; created when missing. */
      readonly dataDir: string;
      readonly ephemeral?: false;
    }
  | {
      /** A temporary database that trades durability for speed and is removed on stop. */
      readonly ephemeral: true;
    }
);

export interface EmbeddedPostgres extends AsyncDisposable {
  /** The database `holdfast`, as its ordinary owner. */
  readonly url: string;
  /** The database `postgres`, as the superuser. */
  readonly adminUrl: string;
  /** Ends all sessions and the server; resolves when it is gone, safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts a Postgres of our own on 127.0.0.1, as root or as an ordinary user, and ends it when this process dies, even by SIGKILL.
 *
 * Throws an EmbeddedPostgresError with one line when that is impossible here.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  if (process.platform === "win32") throw new EmbeddedPostgresError("the embedded Postgres runs on Linux and macOS: set DATABASE_URL");
  const log = options.log ?? (() => undefined);
  const ephemeral = options.ephemeral === true;
  const account = await serverAccount();
  const dataDir = options.ephemeral === true ? await temporaryFolder(account) : path.resolve(options.dataDir);
  const removeFolder = async (): Promise<void> => {
    if (ephemeral) await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    const binaries = await postgresBinaries(account);
    const { pgdata, password } = await openCluster({ dataDir, binaries, account, ephemeral, log });
    await clearTheWay(pgdata, log);
    const removeWhenOrphaned = ephemeral ? dataDir : null;
    const settings = settingsFor(ephemeral);
    const { postmaster, port } = await launchOnPort(options.port, { binaries, account, pgdata, settings, removeWhenOrphaned, log });
    const adminUrl = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
    const stop = async (): Promise<void> => {
      await postmaster.stop();
      await removeFolder();
    };
    try {
      await ensureDatabase(adminUrl, password);
    } catch (error) {
      await stop();
      throw error;
    }
    return { url: `postgres://holdfast:${password}@127.0.0.1:${port}/holdfast`, adminUrl, stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await removeFolder();
    throw error;
  }
}

async function launchOnPort(
  wanted: number | undefined,
  options: Omit<PostmasterOptions, "port">,
): Promise<{ postmaster: Postmaster; port: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = wanted ?? (await freePort());
    try {
      return { postmaster: await launchPostmaster({ ...options, port }), port };
    } catch (error) {
      // Between finding a free port and binding it, another process can take it.
      const isTaken = error instanceof EmbeddedPostgresError && error.message.includes("could not bind");
      if (!isTaken || wanted !== undefined || attempt === 5) throw error;
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.once("error", reject);
  server.listen({ host: "127.0.0.1", port: 0 }, () => {
    const address = server.address();
    server.close(() => {
      if (address !== null && typeof address === "object") resolve(address.port);
      else reject(new EmbeddedPostgresError("no free port on 127.0.0.1"));
    });
  });
  return await promise;
}

function settingsFor(ephemeral: boolean): Record<string, string> {
  const common = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    cluster_name: `${clusterNamePrefix}${process.pid}`,
    timezone: "UTC",
    log_timezone: "UTC",
    log_checkpoints: "off",
    max_connections: "200",
  };
  if (!ephemeral) return common;
  return {
    ...common,
    // Its segments are files of the data folder and go with it, also after a kill.
    dynamic_shared_memory_type: "mmap",
    fsync: "off",
    synchronous_commit: "off",
    full_page_writes: "off",
    wal_level: "minimal",
    max_wal_senders: "0",
    checkpoint_timeout: "1h",
    max_wal_size: "256MB",
    shared_buffers: "64MB",
  };
}

/** The service gets an owner's rights on one database and no more, as it would from any other server. */
async function ensureDatabase(adminUrl: string, password: string): Promise<void> {
  const client = new Client({ connectionString: adminUrl, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    const { rowCount: roles } = await client.query("select from pg_roles where rolname = 'holdfast'");
    if (roles === 0) await client.query(`create role holdfast login password ${client.escapeLiteral(password)}`);
    const { rowCount: databases } = await client.query("select from pg_database where datname = 'holdfast'");
    if (databases === 0) await client.query("create database holdfast owner holdfast");
  } finally {
    await client.end();
  }
}
