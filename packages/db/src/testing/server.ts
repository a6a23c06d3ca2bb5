import { startEmbeddedPostgres } from "../embedded/embedded-postgres.ts";
import { startContainer } from "./container.ts";

/** A server on which tests may create databases. */
export interface TestServer {
  /** A superuser or a role that may create databases. */
  readonly adminUrl: string;
  stop(): Promise<void>;
}

/** The server that DATABASE_URL names, else a container when a Docker engine answers, else an embedded one. */
export async function startTestServer(log: (line: string) => void = () => undefined): Promise<TestServer> {
  // oxlint-disable-next-line node/no-process-env -- tests have no composition root that could read it for them
  const configured = process.env["DATABASE_URL"];
  if (configured !== undefined && configured !== "") return { adminUrl: configured, stop: async () => undefined };
  const container = await startContainer(log);
  if (container !== null) return container;
  const { adminUrl, stop } = await startEmbeddedPostgres({ ephemeral: true });
  return { adminUrl, stop };
}
