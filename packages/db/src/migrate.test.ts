import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { Client, Pool } from "pg";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { migrate, type MigrateResult } from "./migrate.ts";
import { readMigrations } from "./migrations-folder.ts";
import { emptyDatabase, type TestDatabase } from "./testing/index.ts";

let database: TestDatabase;
let client: Client;
const folders: string[] = [];

beforeEach(async () => {
  database = await emptyDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
});
afterEach(async () => {
  await client.end();
  await database.drop();
});
afterAll(async () => {
  for (const created of folders) await rm(created, { recursive: true, force: true });
});

const createApple = { "0001_create_apple.sql": "create table holdfast.apple (id int primary key);" };
const addColour = { "0002_add_colour.sql": "alter table holdfast.apple add column colour text;" };

test("migrations are applied in order, once, and graphile-worker's after them", async () => {
  const directory = await folder({ ...addColour, ...createApple });
  expect(await run(directory)).toEqual({ applied: ["0001_create_apple", "0002_add_colour"], version: 2 });
  expect(await run(directory)).toEqual({ applied: [], version: 2 });
  expect(await rows("select colour from holdfast.apple")).toEqual([]);
  expect(await rows("select count(*)::int as jobs from graphile_worker.jobs")).toEqual([{ jobs: 0 }]);
});

test.each([
  ["a gap", { ...createApple, "0003_add_colour.sql": "select 1" }, /0002 is missing/u],
  ["a first file that is not 0001", { "0002_create_apple.sql": "select 1" }, /0001 is missing/u],
  ["two files of one number", { ...createApple, "0001_create_pear.sql": "select 1" }, /0001_create_apple and 0001_create_pear/u],
  ["a name without a noun", { "0001_create.sql": "select 1" }, /0001_create\.sql is not named/u],
  ["an unknown header", { "0001_create_apple.sql": "-- migrate: no-transactions\nselect 1" }, /unknown header.*no-transactions/u],
  [
    "statements beside a concurrent index",
    { "0001_index_apple.sql": "-- migrate: no-transaction\ncreate index concurrently a on holdfast.b (c);\nselect 1;" },
    /one "create index concurrently/u,
  ],
  [
    "a statement other than an index without transaction",
    { "0001_clean_up.sql": "-- migrate: no-transaction\nvacuum" },
    /one "create index/u,
  ],
])("%s is refused before anything is applied", async (_what, files, message) => {
  await expect(run(await folder(files))).rejects.toThrow(message);
  expect(await rows("select from pg_namespace where nspname = 'holdfast'")).toEqual([]);
});

test("an edit of an applied migration is refused, its line endings aside", async () => {
  await run(await folder({ "0001_create_apple.sql": "create table\n holdfast.apple ();" }));
  expect(await run(await folder({ "0001_create_apple.sql": "create table\r\n holdfast.apple ();" }))).toMatchObject({ applied: [] });
  await expect(run(await folder({ "0001_create_apple.sql": "create table\n holdfast.apples ();" }))).rejects.toThrow(
    /0001_create_apple was edited after it had been applied/u,
  );
});

test("the files of two branches that took the same number are told apart", async () => {
  await run(await folder({ ...createApple, ...addColour }));
  const merged = { ...createApple, "0002_add_weight.sql": "select 1", "0003_add_colour.sql": "select 2" };
  await expect(run(await folder(merged))).rejects.toThrow(/has 0002_add_colour where this release has 0002_add_weight/u);
});

test("a migration below the newest applied one is refused instead of skipped", async () => {
  const directory = await folder({ ...createApple, ...addColour });
  await run(directory);
  await client.query("delete from holdfast.migration where version = 1");
  await expect(run(directory)).rejects.toThrow(/0001_create_apple comes before the applied 0002/u);
});

test("an older release goes on with a newer database unless a migration it does not know was breaking", async () => {
  const older = await folder(createApple);
  await run(await folder({ ...createApple, ...addColour }));
  expect(await run(older)).toEqual({ applied: [], version: 2 });
  await run(
    await folder({
      ...createApple,
      ...addColour,
      "0003_drop_apple.sql": "-- Apples are gone.\n-- migrate: breaking\ndrop table holdfast.apple",
    }),
  );
  await expect(run(older)).rejects.toThrow(/breaking migration 0003_drop_apple/u);
});

test("a migration that fails leaves nothing of itself, names its line and can be run again", async () => {
  const broken = { "0002_add_colour.sql": "alter table holdfast.apple add column colour text;\n\nselect * from\n  holdfast.pear;" };
  await expect(run(await folder({ ...createApple, ...broken }))).rejects.toThrow(
    /^the migration 0002_add_colour failed: relation "holdfast.pear" does not exist \(SQLSTATE 42P01, line 4\)$/u,
  );
  expect(await appliedVersions()).toEqual([1]);
  expect(await rows("select from information_schema.columns where column_name = 'colour'")).toEqual([]);
  expect(await run(await folder({ ...createApple, ...addColour }))).toMatchObject({ applied: ["0002_add_colour"] });
});

test("a migration that ends its own transaction is refused", async () => {
  await expect(run(await folder({ "0001_create_apple.sql": "create table holdfast.apple (); commit; begin;" }))).rejects.toThrow(
    /0001_create_apple ends its own transaction/u,
  );
});

test("an index is built without locking its table, and what a failed build left is built anew", async () => {
  const directory = await folder({
    "0001_create_apple.sql": "create table holdfast.apple (id int); insert into holdfast.apple values (1), (1);",
    "0002_index_apple.sql": "-- migrate: no-transaction\ncreate unique index concurrently apple_id_idx on holdfast.apple (id);\n",
  });
  await expect(run(directory)).rejects.toThrow(/0002_index_apple failed: could not create unique index/u);
  expect(await indexes()).toEqual([{ name: "apple_id_idx", valid: false }]);
  await client.query("delete from holdfast.apple where ctid = (select max(ctid) from holdfast.apple)");
  expect(await run(directory)).toMatchObject({ applied: ["0002_index_apple"], version: 2 });
  expect(await indexes()).toEqual([{ name: "apple_id_idx", valid: true }]);
});

test("an index whose builder died before it could record it is not built twice", async () => {
  const directory = await folder({
    ...createApple,
    "0002_index_apple.sql": "-- migrate: no-transaction\ncreate index concurrently apple_id_idx on holdfast.apple (id)",
  });
  await run(directory);
  const before = await rows("select 'holdfast.apple_id_idx'::regclass::oid as oid");
  await client.query("delete from holdfast.migration where version = 2");
  expect(await run(directory)).toMatchObject({ applied: ["0002_index_apple"] });
  expect(await rows("select 'holdfast.apple_id_idx'::regclass::oid as oid")).toEqual(before);
});

test("a migration gives way to traffic that holds its lock and tries again", async () => {
  await run(await folder(createApple));
  await client.query("begin; select * from holdfast.apple");
  const log = vi.fn<(line: string) => void>();
  const outcome = run(await folder({ ...createApple, ...addColour }), log);
  await vi.waitUntil(() => log.mock.calls.some(([line]) => line.includes("must wait for a lock")), { timeout: 15_000 });
  await client.query("commit");
  expect(await outcome).toMatchObject({ applied: ["0002_add_colour"] });
});

test("a runner that meets the same migration in somebody's open transaction carries on behind it", async () => {
  const directory = await folder({ ...createApple, ...addColour });
  await run(await folder(createApple));
  const colour = (await readMigrations(directory))[1];
  await client.query("begin");
  await client.query("insert into holdfast.migration values ($1, $2, $3, false)", [2, colour?.name, colour?.checksum]);
  const outcome = run(directory);
  await using observer = await connect();
  await vi.waitUntil(async () => (await observer.client.query("select from pg_locks where not granted")).rowCount === 1, {
    timeout: 10_000,
  });
  await client.query(colour?.sql ?? "");
  await client.query("commit");
  expect(await outcome).toEqual({ applied: [], version: 2 });
});

test(
  "twelve processes that boot at once on an empty database all go on, and each migration is applied once",
  { timeout: 60_000 },
  async () => {
    const directory = await folder({
      ...createApple,
      ...addColour,
      // Waits for every transaction that is older than it: one that waited for the runner's lock inside a statement would be one.
      "0003_index_apple.sql": "-- migrate: no-transaction\ncreate index concurrently apple_colour_idx on holdfast.apple (colour);",
      "0004_create_pear.sql": "create table holdfast.pear ();",
    });
    const processes = await Promise.all(Array.from({ length: 12 }, () => startProcess(directory)));
    const results = await Promise.all(processes.map((go) => go()));
    expect(results.map((result) => result.version)).toEqual(Array.from({ length: 12 }, () => 4));
    expect(results.flatMap((result) => result.applied).toSorted()).toEqual([
      "0001_create_apple",
      "0002_add_colour",
      "0003_index_apple",
      "0004_create_pear",
    ]);
    expect(await rows("select count(*)::int as jobs from graphile_worker.jobs")).toEqual([{ jobs: 0 }]);
  },
);

test("twelve processes that boot at once agree on graphile-worker's schema", { timeout: 60_000 }, async () => {
  const directory = await folder({});
  const processes = await Promise.all(Array.from({ length: 12 }, () => startProcess(directory)));
  const results = await Promise.all(processes.map((go) => go()));
  expect(results).toEqual(Array.from({ length: 12 }, () => ({ applied: [], version: 0 })));
  expect(await rows("select count(*)::int as jobs from graphile_worker.jobs")).toEqual([{ jobs: 0 }]);
});

test("a server older than Postgres 15 is refused in one line", async () => {
  // Nearer on the search path than the real function: the server says what an older one would.
  await client.query(`
    create schema old;
    create function old.current_setting(name text) returns text language sql
      return case name when 'server_version' then '14.19' when 'server_version_num' then '140019' end;`);
  const url = new URL(database.url);
  url.searchParams.set("options", "-c search_path=old,pg_catalog");
  await expect(migrate({ connectionString: url.href, directory: await folder(createApple) })).rejects.toThrow(
    /^Postgres 14\.19 is too old: Holdfast needs 15 or newer$/u,
  );
});

test("a caller's pool is used and left open", async () => {
  const pool = openPool(2);
  expect(await migrate({ pool, directory: await folder(createApple) })).toMatchObject({ version: 1 });
  expect((await pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  await pool.end();
});

test("a pool that could not hold the lock beside the work is refused", async () => {
  const pool = openPool(1);
  await expect(migrate({ pool, directory: await folder(createApple) })).rejects.toThrow(/two connections/u);
  await pool.end();
});

function openPool(max: number): Pool {
  const pool = new Pool({ connectionString: database.url, max });
  pool.on("error", () => undefined);
  pool.on("connect", (session) => session.on("error", () => undefined));
  return pool;
}

async function run(directory: string, log?: (line: string) => void): Promise<MigrateResult> {
  return await migrate({ connectionString: database.url, directory, ...(log === undefined ? {} : { log }) });
}

/** A process that is ready to migrate, and migrates when the returned function is called. */
async function startProcess(directory: string): Promise<() => Promise<MigrateResult>> {
  const script = `
    const { migrate } = await import(${JSON.stringify(pathToFileURL(path.join(import.meta.dirname, "migrate.ts")).href)});
    console.log("ready");
    process.stdin.once("data", async () => {
      console.log(JSON.stringify(await migrate(${JSON.stringify({ connectionString: database.url, directory })})));
      process.stdin.destroy();
    });`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe("ready");
  return async () => {
    child.stdin.write("go\n");
    const result = JSON.parse(String((await lines.next()).value)) as MigrateResult;
    expect(await exited).toEqual([0, null]);
    return result;
  };
}

async function folder(files: Record<string, string>): Promise<string> {
  const created = await mkdtemp(path.join(tmpdir(), "holdfast-migrate-test-"));
  folders.push(created);
  for (const [name, sql] of Object.entries(files)) await writeFile(path.join(created, name), sql);
  return created;
}

async function connect(): Promise<{ client: Client } & AsyncDisposable> {
  const other = new Client({ connectionString: database.url });
  await other.connect();
  return { client: other, [Symbol.asyncDispose]: () => other.end() };
}

async function rows(text: string): Promise<unknown[]> {
  return (await client.query<Record<string, unknown>>(text)).rows;
}

async function appliedVersions(): Promise<number[]> {
  return (await client.query<{ version: number }>("select version from holdfast.migration order by version")).rows.map(
    (row) => row.version,
  );
}

async function indexes(): Promise<unknown[]> {
  return await rows(
    "select relname as name, indisvalid as valid from pg_index join pg_class on oid = indexrelid where relname like 'apple_id%'",
  );
}
