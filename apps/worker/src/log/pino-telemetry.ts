import type { Telemetry, TelemetryEvent } from "@holdfast/core";
import type { Level, Logger } from "pino";

/** What happens all the time is for who looks closely; what costs an attempt or a connection is for everybody. */
const LEVELS: Readonly<Record<TelemetryEvent, Level>> = {
  "http.served": "info",
  "task.created": "info",
  "task.cancelRequested": "info",
  "attempt.claimed": "info",
  "attempt.settled": "info",
  "attempt.lost": "warn",
  "lease.refused": "warn",
  "lease.untrusted": "warn",
  "child.spawned": "debug",
  "child.exited": "debug",
  "task.rewoken": "warn",
  "listener.up": "info",
  "listener.isolated": "warn",
  "process.started": "info",
  "process.draining": "info",
  "process.stopped": "info",
};

/** One log line an event, its name under `event`; an error comes along under `err`. */
export function createPinoTelemetry(logger: Logger): Telemetry {
  return {
    emit(name, event, error) {
      logger[LEVELS[name]]({ event: name, ...event, ...(error === undefined ? {} : { err: error }) });
    },
  };
}
