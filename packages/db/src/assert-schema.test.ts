import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { assertSchema } from "./assert-schema.ts";
import { migrationsDirectory, readMigrations } from "./migrations-folder.ts";
import { openDatabase, type Database } from "./pool.ts";
import { emptyDatabase, testDatabase } from "./testing/index.ts";

function open(url: string): Database {
  return openDatabase({ url, applicationName: "assert-schema", maxConnections: 1, onError: () => undefined });
}

async function withMigrated(prepare: string): Promise<{ database: Database } & AsyncDisposable> {
  const created = await testDatabase();
  const database = open(created.url);
  await database.pool.query(prepare);
  return {
    database,
    async [Symbol.asyncDispose]() {
      await database.close();
      await created.drop();
    },
  };
}

test("a migrated database is accepted", async () => {
  await using world = await withMigrated("select");
  await expect(assertSchema(world.database)).resolves.toBeUndefined();
});

test("a database without our schema is refused with the command that helps", async () => {
  await using created = await emptyDatabase();
  const database = open(created.url);
  await expect(assertSchema(database)).rejects.toThrow("the database has no schema of Holdfast: run `holdfast migrate` first");
  await database.close();
});

test("an older database is refused, and told what it lacks", async () => {
  await using world = await withMigrated("select");
  const next = await mkdtemp(path.join(tmpdir(), "holdfast-migrations-"));
  await cp(migrationsDirectory, next, { recursive: true });
  const number = String((await readMigrations(next)).length + 1).padStart(4, "0");
  await writeFile(path.join(next, `${number}_add_much.sql`), "select 1;");
  await expect(assertSchema(world.database, next)).rejects.toThrow(`the database lacks ${number}_add_much: run \`holdfast migrate\` first`);
  await rm(next, { recursive: true });
});

test("a newer database is accepted, unless its newer migration breaks older releases", async () => {
  await using newer = await withMigrated(
    "insert into holdfast.migration (version, name, checksum, breaking) values (9000, '9000_add_more', '', false)",
  );
  await expect(assertSchema(newer.database)).resolves.toBeUndefined();
  await using breaking = await withMigrated(
    "insert into holdfast.migration (version, name, checksum, breaking) values (9000, '9000_drop_much', '', true)",
  );
  await expect(assertSchema(breaking.database)).rejects.toThrow("9000_drop_much");
});

test("a database that cannot be reached is not called unmigrated", async () => {
  const database = open("postgres://nobody:secret@127.0.0.1:1/none");
  await expect(assertSchema(database)).rejects.toMatchObject({ name: "AppError", code: "storage_unavailable" });
  await database.close();
});
