import { MigrationError, type Migration } from "./migrations-folder.ts";

/** A row of `holdfast.migration`. */
export interface AppliedMigration {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  readonly breaking: boolean;
}

/**
 * The migrations that the database still lacks, in order. Throws a MigrationError when files and database contradict each other.
 *
 * A database newer than the files is the ordinary state of a rolling deploy and is accepted, unless it had a breaking migration.
 */
export function pendingMigrations(files: readonly Migration[], applied: readonly AppliedMigration[]): Migration[] {
  const latest = files.at(-1)?.version ?? 0;
  const newest = Math.max(0, ...applied.map((row) => row.version));
  const appliedByVersion = new Map(applied.map((row) => [row.version, row]));
  const unknownBreaking = applied.find((row) => row.version > latest && row.breaking);
  if (unknownBreaking !== undefined) {
    throw new MigrationError(
      `the database has the breaking migration ${unknownBreaking.name}, which this release does not know: deploy a newer one`,
    );
  }
  return files.filter((file) => {
    const row = appliedByVersion.get(file.version);
    if (row !== undefined && row.checksum !== file.checksum) {
      throw new MigrationError(
        row.name === file.name
          ? `the migration ${file.name} was edited after it had been applied: restore it and add a new one`
          : `the database has ${row.name} where this release has ${file.name}: give the file the next free number`,
      );
    }
    if (row === undefined && file.version < newest) {
      throw new MigrationError(
        `the migration ${file.name} comes before the applied ${String(newest).padStart(4, "0")}: give it the next free number`,
      );
    }
    return row === undefined;
  });
}
