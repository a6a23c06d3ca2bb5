import type { Telemetry, TelemetryEvent } from "@holdfast/core";
import { pino, stdTimeFunctions, type DestinationStream, type Level, type Logger } from "pino";
import type { LogLevel } from "../config.ts";

/** JSON lines on standard output, unless told otherwise. */
export function createLogger(level: LogLevel, destination?: DestinationStream): Logger {
  const options = { level, base: null, timestamp: stdTimeFunctions.isoTime, formatters: { level: (label: string) => ({ level: label }) } };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** Telemetry as log lines: the event's name under `event`, its fields beside it, and what went wrong under `err`. */
export function createTelemetry(logger: Logger): Telemetry {
  // Launchers wait for these lines, so they do not depend on how talkative the rest is.
  const lifecycle = logger.child({}, { level: "info" });
  return {
    emit: (name, event, error) => {
      const target = name.startsWith("process.") ? lifecycle : logger;
      target[levelOf(name, event, error)]({ event: name, ...event, ...(error === undefined ? {} : { err: error }) });
    },
  };
}

function levelOf(name: TelemetryEvent, event: object, error: unknown): Level {
  if (name === "listener.isolated") return "warn";
  if (name === "http.served" && "path" in event && (event.path === "/livez" || event.path === "/readyz"))
    return error === undefined ? "debug" : "warn";
  return error === undefined ? "info" : "error";
}
