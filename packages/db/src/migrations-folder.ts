import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** Why the database cannot be migrated, in one line for the operator. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
}

export interface Migration {
  readonly version: number;
  /** The file's name without its ending, such as `0001_create_tasks`. */
  readonly name: string;
  readonly sql: string;
  /** sha256 of the text, in hex; the same whether git checked it out with LF or CRLF. */
  readonly checksum: string;
  /** An older release must not run against a database that has it. */
  readonly breaking: boolean;
  /** Set for a file that builds one index without locking its table, which no transaction may contain. */
  readonly concurrentIndex: ConcurrentIndex | null;
}

export interface ConcurrentIndex {
  readonly statement: string;
  readonly schema: string;
  readonly name: string;
}

/** The migrations of this release. */
export const migrationsDirectory = fileURLToPath(new URL("../../../migrations/", import.meta.url));

/** Reads `NNNN_verb_noun.sql` in order. Throws a MigrationError for gaps, doubles, and names or headers that it does not understand. */
export async function readMigrations(directory: string): Promise<Migration[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith(".sql") && file !== "schema.sql").toSorted();
  const migrations: Migration[] = [];
  for (const file of files) {
    const migration = parseMigration(file, await readFile(path.join(directory, file), "utf8"));
    const previous = migrations.at(-1);
    if (previous?.version === migration.version) {
      throw new MigrationError(`the migrations ${previous.name} and ${migration.name} have the same number: give the newer one the next`);
    }
    const expected = (previous?.version ?? 0) + 1;
    if (migration.version !== expected) {
      throw new MigrationError(`migration ${String(expected).padStart(4, "0")} is missing: the next file is ${file}`);
    }
    migrations.push(migration);
  }
  return migrations;
}

function parseMigration(file: string, text: string): Migration {
  const match = /^(\d{4})_[a-z0-9]+(?:_[a-z0-9]+)+\.sql$/u.exec(file);
  if (match === null) throw new MigrationError(`the migration ${file} is not named like 0001_verb_noun.sql`);
  const sql = text.replaceAll("\r\n", "\n");
  const name = file.slice(0, -".sql".length);
  const directives = headerDirectives(sql);
  for (const directive of directives) {
    if (directive !== "breaking" && directive !== "no-transaction") {
      throw new MigrationError(`the migration ${name} has the unknown header "-- migrate: ${directive}"`);
    }
  }
  return {
    version: Number(match[1]),
    name,
    sql,
    checksum: createHash("sha256").update(sql).digest("hex"),
    breaking: directives.has("breaking"),
    concurrentIndex: directives.has("no-transaction") ? parseConcurrentIndex(name, sql) : null,
  };
}

/** Headers stand in the comment lines before the first statement. */
function headerDirectives(sql: string): Set<string> {
  const directives = new Set<string>();
  for (const line of sql.split("\n")) {
    if (line.trim() !== "" && !line.startsWith("--")) break;
    const directive = /^--\s*migrate:\s*(.*?)\s*$/u.exec(line)?.[1];
    if (directive !== undefined) directives.add(directive);
  }
  return directives;
}

/** Anything but an index would have no way to be begun again after a crash in its middle. */
function parseConcurrentIndex(migration: string, sql: string): ConcurrentIndex {
  const statement = sql.replaceAll(/^\s*--.*$/gmu, "").trim();
  const match = /^create\s+(?:unique\s+)?index\s+concurrently\s+([a-z_][a-z0-9_]*)\s+on\s+([a-z_][a-z0-9_]*)\.[a-z_][^;]*;?$/iu.exec(
    statement,
  );
  const [, name, schema] = match ?? [];
  if (name === undefined || schema === undefined) {
    throw new MigrationError(
      `the migration ${migration} runs without a transaction and must be one "create index concurrently NAME on SCHEMA.TABLE ..." and nothing else`,
    );
  }
  return { statement, schema, name };
}
