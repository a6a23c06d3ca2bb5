import { CommandError } from "../command.ts";
import type { CliConfig } from "../config.ts";
import { startDevIssuer } from "../dev-issuer/issuer-server.ts";
import { ChildFailed, startChild } from "../launcher/child.ts";
import { supervise, type Supervised } from "../launcher/supervise.ts";
import * as data from "./data-folder.ts";
import { keepPostgres } from "./embedded-database.ts";
import { migrateDatabase } from "./migrate-database.ts";
import { serverEnvironment, workerEnvironment } from "./process-environment.ts";
import { watchRoots, type Roots } from "./watch-roots.ts";

export interface SingleMachineOptions {
  readonly config: CliConfig;
  readonly folder: data.DataFolder;
  readonly port: number;
  /** Of the development issuer, at its first start in this folder. */
  readonly issuerPort: number;
  /** Receives what goes as it should. */
  readonly say: (line: string) => void;
  /** Receives what nobody wished for. */
  readonly note: (line: string) => void;
  /** Receives the log lines of the processes. */
  readonly onLog: (line: string) => void;
}

export interface SingleMachine {
  /** Where clients connect. */
  readonly url: string;
  /** Null when tokens come from somebody else's issuer. */
  readonly issuer: string | null;
  /** Drains the processes, then stops the database. */
  stop(): Promise<void>;
}

/** The whole service on one machine: database, schema, issuer, one server and one worker, all kept alive. */
export async function startSingleMachine(options: SingleMachineOptions): Promise<SingleMachine> {
  const { config, folder, port, say, note, onLog } = options;
  await using cleanup = new AsyncDisposableStack();
  await data.createDataFolder(folder);
  const databaseUrl = config.databaseUrl ?? (await embeddedDatabase(options, cleanup));
  await migrateDatabase(databaseUrl, say);
  const url = config.publicUrl ?? `http://127.0.0.1:${port}/mcp`;
  const issuer = config.issuers === null ? await developmentIssuer(options, url, cleanup) : null;
  const settings = { databaseUrl, publicUrl: url, issuer, handleKeys: config.handleKeys ?? (await data.handleKeys(folder)) };
  let roots = await data.readRoots(folder);
  const start = async (role: "server" | "worker", env: () => Record<string, string>): Promise<Supervised> => {
    const name = `the ${role}`;
    const process = await superviseFirst({ name, note, start: () => startChild({ name, args: [role], env: env(), onLine: onLog }) });
    cleanup.defer(process.stop);
    return process;
  };
  await start("server", () => serverEnvironment(config, settings, port));
  const worker = await start("worker", () => workerEnvironment(config, settings, roots));
  const announce = async (): Promise<void> => {
    await data.writeRunningService(folder, { pid: process.pid, url, issuer, databaseUrl, roots });
  };
  await announce();
  cleanup.defer(async () => await data.removeRunningService(folder));
  const onChange = async (changed: Roots): Promise<void> => {
    roots = changed;
    await worker.replace();
    await announce();
    say(`The worker now reaches ${Object.values(changed).join(", ")}.`);
  };
  cleanup.defer(watchRoots(folder, { known: roots, onChange, note }).stop);
  const owned = cleanup.move();
  return { url, issuer, stop: async () => await owned.disposeAsync() };
}

async function embeddedDatabase({ folder, note }: SingleMachineOptions, cleanup: AsyncDisposableStack): Promise<string> {
  const database = await keepPostgres({ dataDir: folder.postgres, note });
  cleanup.defer(database.stop);
  return database.url;
}

async function developmentIssuer(options: SingleMachineOptions, audience: string, cleanup: AsyncDisposableStack): Promise<string> {
  const { config, folder, issuerPort } = options;
  const { port, keys } = await data.issuerIdentity(folder, issuerPort);
  const issuer = await startDevIssuer({ port, keys, audience, isProduction: config.isProduction });
  cleanup.defer(issuer.stop);
  return issuer.url;
}

/** What a process says when it refuses to start is a sentence for the person at the terminal, and passed on as it is. */
async function superviseFirst(options: Parameters<typeof supervise>[0]): Promise<Supervised> {
  try {
    return await supervise(options);
  } catch (error) {
    if (!(error instanceof ChildFailed)) throw error;
    const isRefusal = error.exit?.code === 2 && error.complaint !== "";
    throw new CommandError(isRefusal ? error.complaint : error.message, { cause: error, exitCode: isRefusal ? 2 : 1 });
  }
}
