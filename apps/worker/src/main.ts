import { runWorker } from "./run-worker.ts";

process.exit(await runWorker());
