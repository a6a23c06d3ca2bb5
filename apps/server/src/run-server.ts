import { AppError } from "@holdfast/core";
import { explainConnectionError } from "@holdfast/db";
import { ConfigError, readServerConfig, type ServerConfig } from "./config.ts";
import { ListenError } from "./http/http-server.ts";
import { createLogger } from "./ops/log.ts";
import { startServer } from "./start-server.ts";

/** How a server process ends: by drain, by a fault, or because it was given something that it cannot use. */
const EXIT_CODES = { drained: 0, fault: 1, unusable: 2 } as const;

/** After the drain's deadline: time to record cancellations and to close. */
const CLOSING_MS = 15_000;

/**
 * The life of a server process, from its environment to its exit code: start, serve, drain on the first SIGTERM or SIGINT.
 * A second signal ends the process at once; nothing durable is lost, only answers on their way.
 */
export async function runServer(environment?: Readonly<Record<string, string | undefined>>): Promise<number> {
  let config: ServerConfig | null = null;
  try {
    config = readServerConfig(environment);
    return await serve(config);
  } catch (error) {
    const refusal = explainRefusal(error, config);
    if (refusal !== null) process.stderr.write(`${refusal}\n`);
    else createLogger("info").fatal({ err: error }, "the server could not start");
    return refusal === null ? EXIT_CODES.fault : EXIT_CODES.unusable;
  }
}

async function serve(config: ServerConfig): Promise<number> {
  const logger = createLogger(config.logLevel);
  const end = Promise.withResolvers<number>();
  const fault = (error: unknown): void => {
    logger.fatal({ err: error }, "the server ends");
    end.resolve(EXIT_CODES.fault);
  };
  process.on("uncaughtException", fault);
  process.on("unhandledRejection", fault);
  const signalled = firstSignal();
  const server = await startServer(config, { logger });
  signalled
    .then((signal) => Promise.race([server.stop(signal), overdue(config.drainMs + CLOSING_MS)]))
    .then(() => end.resolve(EXIT_CODES.drained), fault);
  return await end.promise;
}

/** The second one does not wait for anybody. */
function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isSignalled = false;
    const receive = (signal: NodeJS.Signals): void => {
      if (isSignalled) process.exit(EXIT_CODES.fault);
      isSignalled = true;
      resolve(signal);
    };
    process.on("SIGTERM", receive);
    process.on("SIGINT", receive);
  });
}

function overdue(afterMs: number): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`the drain was not over after ${afterMs} ms`)), afterMs).unref();
  });
}

/** One line for whoever started the process, when it is theirs to mend; null for everything else. */
function explainRefusal(error: unknown, config: ServerConfig | null): string | null {
  if (error instanceof ConfigError || error instanceof ListenError) return error.message;
  if (config === null) return null;
  return explainMissingSchema(error) ?? explainConnectionError(error, config.databaseUrl);
}

function explainMissingSchema(error: unknown): string | null {
  for (let link: unknown = error instanceof AppError ? error.cause : null; link instanceof Error; link = link.cause)
    if ("code" in link && (link.code === "42P01" || link.code === "3F000" || link.code === "42703"))
      return "the database does not have this release's schema of Holdfast: run `holdfast migrate` first";
  return null;
}
