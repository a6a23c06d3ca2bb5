import { AppError } from "@holdfast/core";
import { explainConnectionError } from "@holdfast/db";
import { pino } from "pino";
import { ConfigError, readWorkerConfig, type WorkerConfig } from "./config.ts";
import { startWorker } from "./start-worker.ts";

/** How a worker process ends: by drain, by a fault, or because it was given something that it cannot use. */
export const EXIT_CODES = { drained: 0, fault: 1, unusable: 2 } as const;

/** After the drain's deadline: time to settle what was interrupted, and to close. */
const CLOSING_MS = 15_000;

/**
 * The life of a worker process, from its environment to its exit code: start, serve, drain on the first SIGTERM or SIGINT.
 * A second signal ends the process at once, and its children with it; their attempts are then lost, not interrupted.
 */
export async function runWorker(environment?: Readonly<Record<string, string | undefined>>): Promise<number> {
  let config: WorkerConfig | null = null;
  try {
    config = readWorkerConfig(environment);
    return await serve(config);
  } catch (error) {
    const refusal = explainRefusal(error, config);
    if (refusal !== null) process.stderr.write(`${refusal}\n`);
    else pino().fatal({ err: error }, "the worker could not start");
    return refusal === null ? EXIT_CODES.fault : EXIT_CODES.unusable;
  }
}

async function serve(config: WorkerConfig): Promise<number> {
  const logger = pino({ level: config.logLevel });
  const end = Promise.withResolvers<number>();
  const fault = (error: unknown) => {
    logger.fatal({ err: error }, "the worker ends");
    end.resolve(EXIT_CODES.fault);
  };
  process.on("uncaughtException", fault);
  process.on("unhandledRejection", fault);
  const signalled = firstSignal();
  const worker = await startWorker(config, { logger });
  signalled
    .then((signal) => Promise.race([worker.stop(signal), overdue(config.drainMs + CLOSING_MS)]))
    .then(() => end.resolve(EXIT_CODES.drained), fault);
  return end.promise;
}

/** The second one does not wait for anybody. */
function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isSignalled = false;
    const receive = (signal: NodeJS.Signals) => {
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
function explainRefusal(error: unknown, config: WorkerConfig | null): string | null {
  if (error instanceof ConfigError) return error.message;
  if (config === null) return null;
  return explainMissingSchema(error) ?? explainConnectionError(error, config.databaseUrl);
}

function explainMissingSchema(error: unknown): string | null {
  for (let link: unknown = error instanceof AppError ? error.cause : null; link instanceof Error; link = link.cause)
    if ("code" in link && (link.code === "42P01" || link.code === "3F000"))
      return "the database has no schema of Holdfast: run `holdfast migrate` first";
  return null;
}
