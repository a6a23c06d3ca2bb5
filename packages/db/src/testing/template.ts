import { createHash, randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import { Client, escapeIdentifier } from "pg";
import { z } from "zod";
import { migrate } from "../migrate.ts";
import { migrationsDirectory, readMigrations } from "../migrations-folder.ts";
import type { TestServer } from "./server.ts";

/** Where test databases come from: a server and a migrated database on it to copy. */
export interface TestTemplate {
  readonly adminUrl: string;
  readonly template: string;
  /** Distinguishes the databases of this run from those of others on the same server. */
  readonly run: string;
}

export interface TestRun extends TestTemplate {
  close(): Promise<void>;
}

const templatePrefix = "holdfast_template_";
export const databasePrefix = "holdfast_test_";
/** "test" in ASCII; not the migration runner's lock, which the template's migration takes. */
const advisoryLockKey = 0x74657374;

/**
 * Migrates a template on the server and drops what crashed runs left there.
 *
 * The run's connection stays open: its application name says that the run lives and which template it uses, so that runs of several
 * checkouts can share a server.
 */
export async function openTestRun(server: TestServer): Promise<TestRun> {
  const run = randomBytes(4).toString("hex");
  const template = `${templatePrefix}${await digest()}`;
  const client = new Client({ connectionString: server.adminUrl, application_name: `${databasePrefix}${run} ${template}` });
  // A server that stops before us ends this connection too.
  client.on("error", () => undefined);
  await client.connect();
  try {
    await client.query("select pg_advisory_lock($1)", [advisoryLockKey]);
    await dropLeftovers(client, template);
    await ensureTemplate(client, server.adminUrl, template);
    await client.query("select pg_advisory_unlock($1)", [advisoryLockKey]);
  } catch (error) {
    await client.end();
    throw error;
  }
  return { adminUrl: server.adminUrl, template, run, close: () => client.end() };
}

/** Everything that shapes the template: our migrations and the release that brings graphile-worker's. */
async function digest(): Promise<string> {
  const hash = createHash("sha256");
  for (const { name, checksum } of await readMigrations(migrationsDirectory)) hash.update(`${name} ${checksum}\n`);
  const require = createRequire(import.meta.url);
  const entry = require.resolve("graphile-worker");
  const { version } = z.object({ version: z.string() }).parse(require(entry.replace(/dist\/index\.js$/u, "package.json")));
  return hash.update(version).digest("hex").slice(0, 12);
}

async function dropLeftovers(client: Client, template: string): Promise<void> {
  const { rows: sessions } = await client.query<{ name: string }>(
    "select application_name as name from pg_stat_activity where application_name like $1",
    [`${databasePrefix}%`],
  );
  const alive = new Set(sessions.flatMap(({ name }) => name.split(" ")));
  const { rows: databases } = await client.query<{ name: string }>(
    "select datname as name from pg_database where datname like $1 or datname like $2",
    [`${templatePrefix}%`, `${databasePrefix}%`],
  );
  for (const { name } of databases) {
    const owner = name.startsWith(databasePrefix) ? name.split("_").slice(0, 3).join("_") : name;
    if (!alive.has(owner) && name !== template) await dropDatabase(client, name);
  }
}

/** It gets its name when it is whole, so a run that crashes in its middle leaves a test database for `dropLeftovers`. */
async function ensureTemplate(client: Client, adminUrl: string, template: string): Promise<void> {
  const { rowCount } = await client.query("select from pg_database where datname = $1", [template]);
  if (rowCount !== 0) return;
  const unfinished = `${databasePrefix}new_${randomBytes(4).toString("hex")}`;
  await client.query(`create database ${escapeIdentifier(unfinished)} template template0`);
  await migrate({ connectionString: databaseUrl(adminUrl, unfinished) });
  await disconnectAll(client, unfinished);
  await client.query(`alter database ${escapeIdentifier(unfinished)} rename to ${escapeIdentifier(template)}`);
}

/** The pool of the migration closes its sockets without waiting for the server's end of them. */
async function disconnectAll(client: Client, database: string): Promise<void> {
  await client.query("select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1", [database]);
}

export async function dropDatabase(client: Client, name: string): Promise<void> {
  await client.query(`drop database if exists ${escapeIdentifier(name)} with (force)`);
}

export function databaseUrl(adminUrl: string, database: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  return url.href;
}
