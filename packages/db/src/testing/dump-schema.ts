import { writeFile } from "node:fs/promises";
import path from "node:path";
import { Client } from "pg";
import { migrationsDirectory } from "../migrations-folder.ts";
import { describeSchema } from "./describe-schema.ts";
import { testDatabase } from "./index.ts";

/** Where reviewers read the schema that the migrations amount to. */
export const schemaFile = path.join(migrationsDirectory, "schema.sql");

/** Views are printed differently by every few versions, so the file is that of one: the embedded server's. */
export const schemaFileMajor = 18;

/** Throws on a server of another version. */
async function dumpSchema(): Promise<string> {
  await using database = await testDatabase();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    const { rows } = await client.query<{ major: number }>("select current_setting('server_version_num')::int / 10000 as major");
    if (rows[0]?.major !== schemaFileMajor) {
      throw new Error(`the schema is dumped from Postgres ${schemaFileMajor}, and this server is ${rows[0]?.major}: unset DATABASE_URL`);
    }
    return await describeSchema(client);
  } finally {
    await client.end();
  }
}

if (import.meta.main) await writeFile(schemaFile, await dumpSchema());
