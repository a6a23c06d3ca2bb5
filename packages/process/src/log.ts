import type { Telemetry, TelemetryEvent, TelemetryEvents } from "@holdfast/core";
import { pino, stdTimeFunctions, type DestinationStream, type Level, type Logger } from "pino";
import type { LogLevel } from "./variables.ts";

/**
 * JSON lines on standard output, unless told otherwise. They are written at once: a destination that buffers would try for ever
 * to get rid of its last lines when the process ends after the reader of its output.
 */
export function createLogger(level: LogLevel, destination: DestinationStream = pino.destination({ dest: 1, sync: true })): Logger {
  const options = { level, base: null, timestamp: stdTimeFunctions.isoTime, formatters: { level: (label: string) => ({ level: label }) } };
  return pino(options, destination);
}

/** What happens all the time is for who looks closely; what costs an attempt or a connection is for everybody. */
const LEVELS: Readonly<Record<TelemetryEvent, Level>> = {
  "http.served": "info",
  "task.created": "info",
  "task.cancelRequested": "info",
  "attempt.claimed": "info",
  "attempt.settled": "info",
  "attempt.lost": "warn",
  "result.published": "info",
  "journal.rested": "info",
  "seal.refused": "error",
  "lease.refused": "warn",
  "lease.untrusted": "warn",
  "child.spawned": "debug",
  "child.exited": "debug",
  "task.rewoken": "warn",
  "task.expired": "info",
  "listener.up": "info",
  "listener.isolated": "warn",
  "process.started": "info",
  "process.draining": "info",
  "process.stopped": "info",
};

/** Telemetry as log lines: the event's name under `event`, its fields beside it, and what went wrong under `err`. */
export function createTelemetry(logger: Logger): Telemetry {
  // Launchers wait for these lines, so they do not depend on how talkative the rest is.
  const lifecycle = logger.child({}, { level: "info" });
  return {
    emit(name, event, error) {
      const target = name.startsWith("process.") ? lifecycle : logger;
      target[levelOf(name, event, error)]({ event: name, ...event, ...(error === undefined ? {} : { err: error }) });
    },
  };
}

function levelOf<Name extends TelemetryEvent>(name: Name, event: TelemetryEvents[Name], error: unknown): Level {
  const isProbe = "path" in event && (event.path === "/livez" || event.path === "/readyz");
  if (isProbe) return error === undefined ? "debug" : "warn";
  if (error !== undefined) return LEVELS[name] === "warn" ? "warn" : "error";
  return LEVELS[name];
}
