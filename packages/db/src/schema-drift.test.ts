import { readFile } from "node:fs/promises";
import { is } from "drizzle-orm";
import { getTableConfig, PgTable } from "drizzle-orm/pg-core";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as schema from "./schema/index.ts";
import { describeSchema } from "./testing/describe-schema.ts";
import { schemaFile, schemaFileMajor } from "./testing/dump-schema.ts";
import { emptyDatabase, testDatabase, type TestDatabase } from "./testing/index.ts";

let migrated: TestDatabase;
let client: Client;
let major: number;

beforeAll(async () => {
  migrated = await testDatabase();
  client = new Client({ connectionString: migrated.url });
  await client.connect();
  const { rows } = await client.query<{ major: number }>("select current_setting('server_version_num')::int / 10000 as major");
  major = rows[0]?.major ?? 0;
});
afterAll(async () => {
  await client.end();
  await migrated.drop();
});

test("schema.sql, which `npm run db:dump-schema` writes for review, is what the migrations amount to", async ({ skip }) => {
  skip(major !== schemaFileMajor, `the text is that of Postgres ${schemaFileMajor}; the next test compares on this one`);
  expect(await describeSchema(client)).toBe(await readFile(schemaFile, "utf8"));
});

test("schema.sql, when it is run, gives the schema that the migrations give", async () => {
  await using database = await emptyDatabase();
  const other = new Client({ connectionString: database.url });
  await other.connect();
  try {
    await other.query("set check_function_bodies = off");
    await other.query(await readFile(schemaFile, "utf8"));
    expect(await describeSchema(other)).toBe(await describeSchema(client));
  } finally {
    await other.end();
  }
});

test("drizzle's tables have the columns, types and nullability of the database, and none is missing on either side", async () => {
  const { rows } = await client.query<{ column: string }>(
    `select format('%s.%s.%s %s%s', nspname, relname, attname, format_type(atttypid, atttypmod), case when attnotnull then ' not null' end) as column
     from pg_attribute join pg_class on pg_class.oid = attrelid join pg_namespace on pg_namespace.oid = relnamespace
     where nspname = 'holdfast' and relkind = 'r' and attnum > 0 and not attisdropped
       -- The runner's own.
       and relname <> 'migration'`,
  );
  const tables = Object.values<unknown>(schema).filter((value): value is PgTable => is(value, PgTable));
  const described = tables.flatMap((table) => {
    const config = getTableConfig(table);
    // Columns of a composite primary key are not null without saying so.
    const inKey = new Set(config.primaryKeys.flatMap((key) => key.columns.map((column) => column.name)));
    return config.columns.map((column) => {
      const isNotNull = column.notNull || column.primary || inKey.has(column.name);
      return `${config.schema ?? "public"}.${config.name}.${column.name} ${column.getSQLType()}${isNotNull ? " not null" : ""}`;
    });
  });
  expect(described.toSorted()).toEqual(rows.map((row) => row.column).toSorted());
});
