import { Logger as GraphileLogger } from "graphile-worker";
import type { Logger } from "pino";

/**
 * graphile-worker's log lines as ours. It calls every job worth an "info"; the attempts behind them have lines of their
 * own. What it adds to a line is left out, except the message of an error: it may hold whole jobs.
 */
export function createGraphileLogger(logger: Logger): GraphileLogger {
  return new GraphileLogger((scope) => (level, message, meta) => {
    const error: unknown = meta["error"];
    const line = { queue: scope.label ?? "graphile-worker", ...(error instanceof Error ? { reason: error.message } : {}) };
    if (level === "error") logger.error(line, message);
    else if (level === "warning") logger.warn(line, message);
    else logger.debug(line, message);
  });
}
