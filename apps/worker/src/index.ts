export { ConfigError, readWorkerConfig, type WorkerConfig } from "./config.ts";
export { EXIT_CODES, runWorker } from "./run-worker.ts";
export { startWorker, type RunningWorker, type WorkerSurroundings } from "./start-worker.ts";
