import { CommandError, defineCommand } from "../command.ts";
import { readRunningService } from "../service/data-folder.ts";
import { migrateDatabase } from "../service/migrate-database.ts";
import { chosenDataFolder, dataOption } from "./options.ts";

export const migrateCommand = defineCommand({
  name: "migrate",
  summary: "Brings the database to the newest schema of this release",
  description: "The database is that of DATABASE_URL. `up` and `demo` migrate by themselves. Any number of processes may call it at once.",
  options: { data: dataOption },
  run: async ({ values, config, terminal }) => {
    const service = await readRunningService(chosenDataFolder(config, values.data));
    const connectionString = config.databaseUrl ?? service?.databaseUrl;
    if (connectionString === undefined) throw new CommandError("say which database: set DATABASE_URL");
    const { applied, version } = await migrateDatabase(connectionString, terminal.note);
    terminal.out(
      applied.length === 0 ? `The database is at version ${version}; nothing was to do.` : `The database is now at version ${version}.`,
    );
    return 0;
  },
});
