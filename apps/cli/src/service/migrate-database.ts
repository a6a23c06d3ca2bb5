import { migrate, MigrationError, type MigrateResult } from "@holdfast/db";
import { CommandError } from "../command.ts";
import { explained } from "./with-database.ts";

/** Brings the database to the newest schema; what a person can change about a failure is said in one line. */
export async function migrateDatabase(url: string, note: (line: string) => void): Promise<MigrateResult> {
  return await explained(url, null, async () => {
    try {
      return await migrate({ connectionString: url, log: note });
    } catch (error) {
      if (error instanceof MigrationError) throw new CommandError(error.message, { cause: error });
      throw error;
    }
  });
}
