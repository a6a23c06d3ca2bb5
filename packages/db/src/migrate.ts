import { setTimeout as delay } from "node:timers/promises";
import { Logger, runMigrations } from "graphile-worker";
import { DatabaseError, Pool, type PoolClient } from "pg";
import { MigrationError, migrationsDirectory, readMigrations, type Migration } from "./migrations-folder.ts";
import { pendingMigrations, type AppliedMigration } from "./migrations-plan.ts";

export { MigrationError };

export type MigrateOptions = {
  /** Where the files are; this release's own when left out. */
  readonly directory?: string;
  /** Receives what is done and what is waited for, line by line. */
  readonly log?: (line: string) => void;
} & ({ readonly connectionString: string } | { readonly pool: Pool });

export interface MigrateResult {
  /** Names of the migrations that this call applied; another process may have applied the others. */
  readonly applied: string[];
  /** Number of the newest migration in the database, 0 for none. */
  readonly version: number;
}

const oldestPostgres = 15;
/** Also long enough for a concurrent index on a large table, which others wait for. */
const waitMs = 10 * 60_000;
/** "hold" in ASCII. */
const advisoryLockKey = 0x686f6c64;

/**
 * Brings the database to the newest schema of this release: our own migrations, then those of graphile-worker.
 *
 * Any number of processes may call it at once; works through a transaction pooler. Throws a MigrationError with one line, or what pg throws
 * when there is no connection.
 */
export async function migrate(options: MigrateOptions): Promise<MigrateResult> {
  const log = options.log ?? (() => undefined);
  const files = await readMigrations(options.directory ?? migrationsDirectory);
  if ("pool" in options) return await run(options.pool, files, log);
  const pool = new Pool({ connectionString: options.connectionString, max: 2, connectionTimeoutMillis: 15_000 });
  // A connection that breaks while idle is replaced by the next query, or reported by it.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  try {
    return await run(pool, files, log);
  } finally {
    await pool.end();
  }
}

async function run(pool: Pool, files: readonly Migration[], log: (line: string) => void): Promise<MigrateResult> {
  if (pool.options.max < 2) throw new MigrationError("migrating needs a pool of two connections or more: one holds the lock");
  await refuseOldPostgres(pool);
  const applied: string[] = [];
  for (;;) {
    const rows = await readLedger(pool);
    const [next] = pendingMigrations(files, rows ?? []);
    if (next === undefined) {
      await migrateGraphileWorker(pool, log);
      return { applied, version: Math.max(0, ...(rows ?? []).map((row) => row.version)) };
    }
    if (rows === null) await createLedger(pool, log);
    else if (await apply(pool, next, log)) applied.push(next.name);
  }
}

/** Throws a MigrationError. */
export async function refuseOldPostgres(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ version: string; number: number }>(
    "select current_setting('server_version') as version, current_setting('server_version_num')::int as number",
  );
  const [server] = rows;
  if (server === undefined || server.number < oldestPostgres * 10_000) {
    throw new MigrationError(`Postgres ${server?.version ?? ""} is too old: Holdfast needs ${oldestPostgres} or newer`);
  }
}

/**
 * Null while the runner's table does not exist. Looked up in the catalogue, because to_regclass may answer from the session's cache, in
 * which a table is missing that another process has created since the transaction began.
 */
export async function readLedger(client: Pool | PoolClient): Promise<AppliedMigration[] | null> {
  const { rows: tables } = await client.query("select from pg_tables where schemaname = 'holdfast' and tablename = 'migration'");
  if (tables.length === 0) return null;
  const { rows } = await client.query<AppliedMigration>(
    "select version, name, checksum, breaking from holdfast.migration order by version",
  );
  return rows;
}

async function createLedger(pool: Pool, log: (line: string) => void): Promise<void> {
  await underLock(pool, log, async (client) => {
    if ((await readLedger(client)) !== null) return;
    await explainingFailure("creating the table holdfast.migration", null, async () => {
      // `if not exists` asks for the right to create before it looks, and an administrator may have made the schema for us.
      const { rowCount } = await client.query("select from pg_namespace where nspname = 'holdfast'");
      if (rowCount === 0) await client.query("create schema holdfast");
      await client.query(`
        create table holdfast.migration (
          version int primary key,
          name text not null,
          checksum text not null,
          breaking boolean not null,
          applied_at timestamptz not null default now()
        )`);
    });
  });
}

/** Returns whether it was this call that applied it. */
async function apply(pool: Pool, migration: Migration, log: (line: string) => void): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await underLock(pool, log, async (client) => {
        const rows = (await readLedger(client)) ?? [];
        if (rows.some((row) => row.version === migration.version)) return false;
        log(`applying ${migration.name}`);
        await explainingFailure(`the migration ${migration.name}`, migration.sql, async () => {
          if (migration.concurrentIndex === null) await applyInTransaction(client, migration);
          else await applyConcurrently(pool, client, migration);
        });
        return true;
      });
    } catch (error) {
      const code = sqlState(error);
      // Somebody who does not take our lock got there first; the ledger will be read again.
      if (code === "23505" && isLedgerClash(error)) return false;
      // A lock that traffic holds, or a deadlock with it: give way instead of queueing everybody behind us, and try again.
      if ((code !== "55P03" && code !== "40P01") || attempt === 5) throw error;
      log(`${migration.name} must wait for a lock that others hold; attempt ${attempt} of 5`);
      await delay(200 + Math.random() * 800);
    }
  }
}

/** The row comes first: whoever runs the same migration without our lock waits on its key and then gives up, instead of running it twice. */
async function applyInTransaction(client: PoolClient, migration: Migration): Promise<void> {
  await recordMigration(client, migration);
  const before = await transactionId(client);
  await client.query(migration.sql);
  if ((await transactionId(client)) !== before) {
    throw new MigrationError(`the migration ${migration.name} ends its own transaction: leave begin, commit and rollback to the runner`);
  }
}

/**
 * The lock is held by a second connection, whose transaction stays open without a snapshot; the build waits for snapshots only. The row comes
 * last here: a crash in between leaves a finished index without a row, which the next run finds.
 */
async function applyConcurrently(pool: Pool, lockHolder: PoolClient, migration: Migration): Promise<void> {
  const { concurrentIndex } = migration;
  if (concurrentIndex === null) return;
  const index = `${concurrentIndex.schema}.${concurrentIndex.name}`;
  const { rows } = await pool.query<{ valid: boolean }>("select indisvalid as valid from pg_index where indexrelid = to_regclass($1)", [
    index,
  ]);
  const leftover = rows[0];
  if (leftover?.valid === false) await pool.query(`drop index concurrently ${index}`);
  if (leftover?.valid !== true) await pool.query(concurrentIndex.statement);
  await recordMigration(lockHolder, migration);
}

async function recordMigration(client: PoolClient, { version, name, checksum, breaking }: Migration): Promise<void> {
  await client.query("insert into holdfast.migration (version, name, checksum, breaking) values ($1, $2, $3, $4)", [
    version,
    name,
    checksum,
    breaking,
  ]);
}

async function transactionId(client: PoolClient): Promise<string | null> {
  const { rows } = await client.query<{ id: string | null }>("select pg_current_xact_id_if_assigned()::text as id");
  return rows[0]?.id ?? null;
}

/** Needs no lock of ours: its runner takes a version by inserting its row first and lets a loser go on. */
async function migrateGraphileWorker(pool: Pool, log: (line: string) => void): Promise<void> {
  const logger = new Logger(() => (level, message) => {
    if (level === "warning" || level === "error") log(`graphile-worker: ${message}`);
  });
  await explainingFailure("migrating the schema of graphile-worker", null, async () => {
    await runMigrations({ pgPool: pool, logger });
  });
}

/**
 * Runs the work inside a transaction that holds the runner's lock and commits it. Waiters ask again and again in transactions of their own:
 * one that waited inside a statement would hold a snapshot, for which a concurrent index build by the lock's holder would wait for ever. A
 * lock of the transaction, not of the session, is the only one that a transaction pooler keeps with its owner.
 */
async function underLock<T>(pool: Pool, log: (line: string) => void, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const deadline = Date.now() + waitMs;
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    for (let attempt = 1; ; attempt += 1) {
      await client.query("begin");
      await client.query(
        "set local lock_timeout = '3s'; set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0",
      );
      const { rows } = await client.query<{ locked: boolean }>("select pg_try_advisory_xact_lock($1) as locked", [advisoryLockKey]);
      if (rows[0]?.locked === true) break;
      await client.query("rollback");
      if (attempt === 10) log("waiting for another process that migrates this database");
      if (Date.now() > deadline)
        throw new MigrationError(`another process has been migrating this database for ${waitMs / 60_000} minutes: look at it first`);
      await delay(50 + Math.random() * 100);
    }
    const result = await work(client);
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback").catch((rollbackError: unknown) => {
      broken = rollbackError instanceof Error ? rollbackError : new Error(String(rollbackError));
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Failures that `apply` decides upon keep their SQLSTATE as cause. */
async function explainingFailure(subject: string, sql: string | null, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof MigrationError) throw error;
    const detail =
      error instanceof DatabaseError ? `${error.message} (SQLSTATE ${error.code ?? "unknown"}${place(error, sql)})` : String(error);
    throw new MigrationError(`${subject} failed: ${detail.replaceAll(/\s+/gu, " ")}`, { cause: error });
  }
}

function place(error: DatabaseError, sql: string | null): string {
  if (sql === null || error.position === undefined) return "";
  return `, line ${sql.slice(0, Number(error.position)).split("\n").length}`;
}

function sqlState(error: unknown): string | undefined {
  const cause = error instanceof MigrationError ? error.cause : error;
  return cause instanceof DatabaseError ? cause.code : undefined;
}

function isLedgerClash(error: unknown): boolean {
  const cause = error instanceof MigrationError ? error.cause : error;
  return cause instanceof DatabaseError && cause.constraint === "migration_pkey" && cause.schema === "holdfast";
}
