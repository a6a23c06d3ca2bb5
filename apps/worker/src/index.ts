export { readWorkerConfig, type WorkerConfig } from "./config.ts";
export { runWorker } from "./run-worker.ts";
export { startWorker, type RunningWorker, type WorkerSurroundings } from "./start-worker.ts";
