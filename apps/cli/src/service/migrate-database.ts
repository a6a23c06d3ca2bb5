import { migrate, type MigrateResult } from "@holdfast/db";
import { explained } from "./with-database.ts";

/** Brings the database to the newest schema; what a person can change about a failure is said in one line. */
export async function migrateDatabase(url: string, say: (line: string) => void): Promise<MigrateResult> {
  return await explained(url, null, async () => await migrate({ connectionString: url, log: say }));
}
