import { connect } from "node:net";
import { EmbeddedPostgresError, startEmbeddedPostgres, type EmbeddedPostgres, type EmbeddedPostgresOptions } from "@holdfast/db/embedded";
import { CommandError } from "../command.ts";
import { pause } from "@holdfast/process";

export interface KeptDatabase {
  readonly url: string;
  stop(): Promise<void>;
}

const probeEveryMs = 1000;

/** Starts it, with one line when that is impossible here. */
export async function startPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  try {
    return await startEmbeddedPostgres(options);
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw new CommandError(error.message, { cause: error });
    throw error;
  }
}

/**
 * A database that is started again when it dies. It comes back on the same port with the same password, so that the processes that use it
 * need only wait.
 */
export async function keepPostgres({ dataDir, note }: { dataDir: string; note: (line: string) => void }): Promise<KeptDatabase> {
  const lines: string[] = [];
  const log = (line: string): void => {
    lines.push(line);
    if (lines.length > 20) lines.shift();
  };
  let present = await startPostgres({ dataDir, log });
  const port = Number(new URL(present.url).port);
  const stopping = new AbortController();
  const watching = watch();

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      if (await isRefused(port)) await startAgain();
      await pause(probeEveryMs, stopping.signal);
    }
  }

  async function startAgain(): Promise<void> {
    if (stopping.signal.aborted) return;
    note(`the database ended (${lines.at(-1) ?? "it said nothing"}); starting it again`);
    try {
      await present.stop();
      present = await startPostgres({ dataDir, port, log });
    } catch (error) {
      note(`${error instanceof Error ? error.message : String(error)}; trying again`);
    }
  }

  return {
    url: present.url,
    stop: async () => {
      stopping.abort();
      await watching;
      await present.stop();
    },
  };
}

/** Only a refused connection says that nobody listens; a busy server may be slow to accept one. */
async function isRefused(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host: "127.0.0.1", port });
  socket.once("connect", () => resolve(false));
  socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED"));
  socket.setTimeout(probeEveryMs, () => resolve(false));
  const refused = await promise;
  socket.destroy();
  return refused;
}
