import { explainStartFailure } from "@holdfast/db";
import { runProcess, type Environment } from "@holdfast/process";
import { readWorkerConfig } from "./config.ts";
import { startWorker } from "./start-worker.ts";

/** The life of a worker process, from its environment to its exit code. Its children die with it; what they did is then lost, not interrupted. */
export function runWorker(environment?: Environment): Promise<number> {
  return runProcess(
    {
      name: "worker",
      readConfig: readWorkerConfig,
      start: startWorker,
      explainFailure: (error, config) => explainStartFailure(error, config.databaseUrl),
    },
    environment,
  );
}
