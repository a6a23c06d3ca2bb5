import { request } from "node:http";
import { existsSync } from "node:fs";

const image = "postgres:18-alpine";

interface RunningContainer {
  readonly adminUrl: string;
  stop(): Promise<void>;
}

/** Null when no Docker engine answers or the image cannot be had; looking takes at most a second. */
export async function startContainer(log: (line: string) => void): Promise<RunningContainer | null> {
  if (!(await engineAnswers())) return null;
  try {
    // Not on top: loading it takes longer than starting an embedded server.
    const { PostgreSqlContainer } = await import("@testcontainers/postgresql");
    const container = await new PostgreSqlContainer(image)
      .withCommand([
        "postgres",
        "-c",
        "fsync=off",
        "-c",
        "full_page_writes=off",
        "-c",
        "synchronous_commit=off",
        "-c",
        "max_connections=200",
      ])
      .withStartupTimeout(60_000)
      .start();
    return {
      adminUrl: container.getConnectionUri(),
      stop: async () => {
        await container.stop();
      },
    };
  } catch (error) {
    log(
      `a Docker engine answers but ${image} does not start (${error instanceof Error ? error.message : String(error)}): using the embedded Postgres`,
    );
    return null;
  }
}

/** An installed client says nothing about an engine, so the engine itself is asked. */
async function engineAnswers(): Promise<boolean> {
  // oxlint-disable-next-line node/no-process-env -- the variable is Docker's, and tests have no composition root
  const address = URL.parse(process.env["DOCKER_HOST"] ?? "unix:///var/run/docker.sock");
  if (address === null) return false;
  const isSocket = address.protocol === "unix:";
  if (isSocket && !existsSync(address.pathname)) return false;
  const target = isSocket ? { socketPath: address.pathname } : { host: address.hostname, port: address.port };
  return await new Promise((resolve) => {
    const ping = request({ ...target, path: "/_ping", signal: AbortSignal.timeout(1_000) }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    ping.on("error", () => resolve(false));
    ping.end();
  });
}
