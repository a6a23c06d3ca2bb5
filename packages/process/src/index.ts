export { loadOperations } from "./load-operations.ts";
export { createLogger, createTelemetry } from "./log.ts";
export { pause } from "./pause.ts";
export { repeat } from "./repeat.ts";
export { runProcess } from "./run-process.ts";
export { startRecovery } from "./start-recovery.ts";
export { within } from "./within.ts";
export { ConfigError, integer, list, logLevel, packs, parseVariables, postgresUrl, type Environment, type LogLevel } from "./variables.ts";
