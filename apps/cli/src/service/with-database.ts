import { assertSchema, explainConnectionError, MigrationError, openDatabase, type Database } from "@holdfast/db";
import { CommandError } from "../command.ts";
import type { CliConfig } from "../config.ts";
import { readRunningService, type DataFolder, type RunningServiceFile } from "./data-folder.ts";

/** A database that a command may use, and the service that runs on it as far as this machine knows. */
export interface Reached {
  readonly database: Database;
  readonly service: RunningServiceFile | null;
}

/** Does `work` with the database of DATABASE_URL, or of the service that runs from the data folder. */
export async function withDatabase<Result>(
  { config, folder }: { config: CliConfig; folder: DataFolder },
  work: (reached: Reached) => Promise<Result>,
): Promise<Result> {
  const running = await readRunningService(folder);
  const url = config.databaseUrl ?? running?.databaseUrl;
  if (url === undefined) {
    throw new CommandError(`no service runs from ${folder.path} and DATABASE_URL is not set: start one with \`npm start\``);
  }
  const service = running?.databaseUrl === url ? running : null;
  return await explained(url, service, async () => {
    const database = openDatabase({
      url,
      applicationName: "holdfast-cli",
      maxConnections: 2,
      reservedConnections: 1,
      onError: () => undefined,
    });
    try {
      await assertSchema(database);
      return await work({ database, service });
    } finally {
      await database.close();
    }
  });
}

/** Turns what keeps us from the database into one line. */
export async function explained<Result>(url: string, service: RunningServiceFile | null, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof MigrationError) throw new CommandError(error.message, { cause: error });
    const reason = explainConnectionError(error, url);
    if (reason === null) throw error;
    // The file of a service that was killed outlives it.
    throw new CommandError(service === null ? reason : `the service of this folder does not run (${reason}): start it with \`npm start\``, {
      cause: error,
    });
  }
}
