import { MigrationError, migrationsDirectory, readMigrations } from "./migrations-folder.ts";
import { pendingMigrations } from "./migrations-plan.ts";
import { readLedger, refuseOldPostgres } from "./migrate.ts";
import type { Database } from "./pool.ts";
import { storageError } from "./storage-error.ts";

/**
 * For the start of a process: returns when the database has the schema of this release, or a newer one that this release can
 * live with. Rejects with a `MigrationError` of one line, or with `AppError` when it cannot look.
 */
export async function assertSchema(database: Database, directory = migrationsDirectory): Promise<void> {
  const files = await readMigrations(directory);
  try {
    await refuseOldPostgres(database.pool);
    const pending = pendingMigrations(files, (await readLedger(database.pool)) ?? []);
    if (pending.length === 0) return;
    throw new MigrationError(
      pending.length === files.length
        ? "the database has no schema of Holdfast: run `holdfast migrate` first"
        : `the database lacks ${pending.map(({ name }) => name).join(", ")}: run \`holdfast migrate\` first`,
    );
  } catch (error) {
    throw error instanceof MigrationError ? error : storageError(error, "look at the schema of the database");
  }
}
