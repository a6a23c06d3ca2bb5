import { explainStartFailure } from "@holdfast/db";
import { runProcess, type Environment } from "@holdfast/process";
import { readServerConfig } from "./config.ts";
import { ListenError } from "./http/http-server.ts";
import { startServer } from "./start-server.ts";

/** The life of a server process, from its environment to its exit code. */
export function runServer(environment?: Environment): Promise<number> {
  return runProcess(
    {
      name: "server",
      readConfig: readServerConfig,
      start: startServer,
      explainFailure: (error, config) => (error instanceof ListenError ? error.message : explainStartFailure(error, config.databaseUrl)),
    },
    environment,
  );
}
