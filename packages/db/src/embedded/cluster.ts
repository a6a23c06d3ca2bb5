import { randomBytes } from "node:crypto";
import { chmod, chown, mkdir, readFile, readlink, realpath, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { exists } from "./exists.ts";
import type { PostgresBinaries } from "./platform-binaries.ts";
import { canReach, runAs, type ServerAccount } from "./server-account.ts";

export interface Cluster {
  /** The data folder of the server, without symbolic links. */
  readonly pgdata: string;
  readonly password: string;
}

export interface ClusterOptions {
  readonly dataDir: string;
  readonly binaries: PostgresBinaries;
  readonly account: ServerAccount | null;
  readonly ephemeral: boolean;
  readonly log: (line: string) => void;
}

const passwordFile = "holdfast.password";

/** Opens the cluster `pgdata` inside the data folder, creating it on first use. */
export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  const entry = path.join(options.dataDir, "pgdata");
  await prepareFolder(options);
  if (!(await exists(entry))) await create(entry, options);
  return await open(entry, options);
}

async function open(entry: string, { account, binaries }: ClusterOptions): Promise<Cluster> {
  const pgdata = await realpath(entry).catch(async (cause: unknown) => {
    const target = await readlink(entry).catch(() => entry);
    throw new EmbeddedPostgresError(`the database of ${entry} was kept in ${target}, which is gone: restore it or delete ${entry}`, {
      cause,
    });
  });
  const { uid } = await stat(pgdata);
  const expected = account?.uid ?? process.getuid?.() ?? uid;
  if (uid !== expected) {
    throw new EmbeddedPostgresError(
      `the database ${pgdata} belongs to uid ${uid}, and Postgres would run as uid ${expected}: run as its owner or choose another folder`,
    );
  }
  if (!(await canReach(account, pgdata))) {
    throw new EmbeddedPostgresError(`the account ${account?.name ?? ""} can no longer reach ${pgdata}: open its parent folders to it`);
  }
  const version = Number(await readFile(path.join(pgdata, "PG_VERSION"), "utf8").catch(() => "0"));
  if (version !== binaries.major) {
    throw new EmbeddedPostgresError(
      `${pgdata} is not a data folder of Postgres ${binaries.major} (PG_VERSION says ${version || "nothing"})`,
    );
  }
  const password = await readFile(path.join(pgdata, passwordFile), "utf8").catch((cause: unknown) => {
    throw new EmbeddedPostgresError(`${pgdata} was not made by Holdfast: it has no ${passwordFile}`, { cause });
  });
  return { pgdata, password };
}

/** The cluster appears under its name by one rename, whole and with its password, or not at all. */
async function create(entry: string, options: ClusterOptions): Promise<void> {
  const { account, dataDir, log } = options;
  if (await canReach(account, dataDir)) {
    const fresh = path.join(dataDir, `pgdata.new-${randomBytes(6).toString("hex")}`);
    await initialise(fresh, options);
    await adopt(fresh, () => rename(fresh, entry), entry);
    return;
  }
  const elsewhere = "/var/lib/holdfast";
  await mkdir(elsewhere, { recursive: true, mode: 0o755 });
  if (!(await canReach(account, elsewhere))) {
    throw new EmbeddedPostgresError(
      `the account ${account?.name ?? ""}, as which Postgres runs for root, reaches neither ${dataDir} nor ${elsewhere}`,
    );
  }
  const home = path.join(elsewhere, `pgdata-${randomBytes(6).toString("hex")}`);
  log(`the account ${account?.name ?? ""} cannot reach ${dataDir}: the database is kept in ${home}`);
  await initialise(home, options);
  await adopt(home, () => symlink(home, entry), entry);
}

/** Another process may have created the cluster meanwhile; then its one stands and ours goes. */
async function adopt(fresh: string, publish: () => Promise<void>, entry: string): Promise<void> {
  try {
    await publish();
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    if (!(await exists(entry))) throw error;
  }
}

async function initialise(pgdata: string, { account, binaries, ephemeral }: ClusterOptions): Promise<void> {
  const password = randomBytes(24).toString("base64url");
  const pwfile = `${pgdata}.password`;
  try {
    await mkdir(pgdata, { mode: 0o700 });
    await writeFile(pwfile, password, { mode: 0o600, flag: "wx" });
    await give(account, pgdata);
    await give(account, pwfile);
    // The builtin locale is the same on every machine, whatever locales are installed there.
    const args = ["--auth=scram-sha-256", `--pwfile=${pwfile}`, "--username=postgres", "--encoding=UTF8", "--no-instructions"];
    args.push("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", `--pgdata=${pgdata}`);
    if (ephemeral) args.push("--no-sync");
    const result = await runAs(account, binaries.initdb, args, 120_000);
    if (!result.succeeded) {
      throw new EmbeddedPostgresError(`initdb failed in ${pgdata}: ${result.complaint.replaceAll(/\s+/gu, " ")}`);
    }
    await rename(pwfile, path.join(pgdata, passwordFile));
  } catch (error) {
    await rm(pgdata, { recursive: true, force: true });
    throw error;
  } finally {
    await rm(pwfile, { force: true });
  }
}

/** The folder given to us may be opened for passing through; folders above it are not ours to change. */
async function prepareFolder({ account, dataDir }: ClusterOptions): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  if (account === null) return;
  const { mode, uid } = await stat(dataDir);
  if (uid === 0) await chmod(dataDir, (mode & 0o777) | 0o011);
}

async function give(account: ServerAccount | null, file: string): Promise<void> {
  if (account !== null) await chown(file, account.uid >>> 0, account.gid >>> 0);
}
