import type { Logger } from "pino";
import { createLogger } from "./log.ts";
import { ConfigError, type Environment, type LogLevel } from "./variables.ts";

/** How a process of ours ends: by drain, by a fault, or because it was given something that it cannot use. */
const EXIT_CODES = { drained: 0, fault: 1, unusable: 2 } as const;

/** After the drain's deadline: time to record what was cut short, and to close. */
const CLOSING_MS = 15_000;

/** What makes a process a server or a worker. */
export interface ProcessRole<Config extends { readonly logLevel: LogLevel; readonly drainMs: number }> {
  /** As log lines call it. */
  readonly name: string;
  /** Throws `ConfigError`. */
  readonly readConfig: (environment?: Environment) => Config;
  readonly start: (config: Config, surroundings: { readonly logger: Logger }) => Promise<{ stop(reason: string): Promise<void> }>;
  /** One line for whoever started the process, when the failure is theirs to mend; null for everything else. */
  readonly explainFailure: (error: unknown, config: Config) => string | null;
}

/**
 * The life of a process, from its environment to its exit code: start, serve, drain on the first SIGTERM or SIGINT. A second
 * signal ends it at once; what is durable stays, answers and attempts under way are lost.
 */
export async function runProcess<Config extends { readonly logLevel: LogLevel; readonly drainMs: number }>(
  role: ProcessRole<Config>,
  environment?: Environment,
): Promise<number> {
  let config: Config | null = null;
  try {
    config = role.readConfig(environment);
    return await serve(role, config);
  } catch (error) {
    const refusal = error instanceof ConfigError ? error.message : config === null ? null : role.explainFailure(error, config);
    if (refusal !== null) process.stderr.write(`${refusal}\n`);
    else createLogger("info").fatal({ err: error }, `the ${role.name} could not start`);
    return refusal === null ? EXIT_CODES.fault : EXIT_CODES.unusable;
  }
}

async function serve<Config extends { readonly logLevel: LogLevel; readonly drainMs: number }>(
  role: ProcessRole<Config>,
  config: Config,
): Promise<number> {
  const logger = createLogger(config.logLevel);
  const end = Promise.withResolvers<number>();
  const fault = (error: unknown): void => {
    logger.fatal({ err: error }, `the ${role.name} ends`);
    end.resolve(EXIT_CODES.fault);
  };
  process.on("uncaughtException", fault);
  process.on("unhandledRejection", fault);
  const signalled = firstSignal();
  const running = await role.start(config, { logger });
  signalled
    .then((signal) => Promise.race([running.stop(signal), overdue(config.drainMs + CLOSING_MS)]))
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
