import { once } from "node:events";
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";

/** A listening HTTP server that can be closed in two steps. */
export interface HttpServer {
  readonly port: number;
  /** Accepts no more connections; resolves when the last request is answered, or when `deadline` is aborted. */
  drain(deadline: AbortSignal): Promise<void>;
  /** Cuts what is left. */
  close(): Promise<void>;
}

export interface HttpServerOptions {
  readonly fetch: (request: Request) => Response | Promise<Response>;
  readonly host: string;
  readonly port: number;
}

const SERVER_OPTIONS = {
  // Longer than load balancers keep idle connections, so that they, and not we, decide when to close one.
  keepAliveTimeout: 75_000,
  headersTimeout: 20_000,
  // For receiving a request; answering may take as long as the work does.
  requestTimeout: 60_000,
};

/** The host or port cannot be listened on; the message is one line for the operator. */
export class ListenError extends Error {
  override readonly name = "ListenError";
}

/** Rejects with `ListenError`. */
export async function startHttpServer({ fetch, host, port }: HttpServerOptions): Promise<HttpServer> {
  const listener = getRequestListener(fetch);
  const server = createServer(SERVER_OPTIONS, (incoming, outgoing) => {
    listener(incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    throw new ListenError(explain(error, host, port), { cause: error });
  }
  const address = server.address();
  const closed = Promise.withResolvers<undefined>();
  server.once("close", () => closed.resolve(undefined));
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    drain: async (deadline) => {
      server.close();
      server.closeIdleConnections();
      const overdue = Promise.withResolvers<undefined>();
      deadline.addEventListener("abort", () => overdue.resolve(undefined), { once: true });
      if (!deadline.aborted) await Promise.race([closed.promise, overdue.promise]);
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await closed.promise;
    },
  };
}

function explain(error: unknown, host: string, port: number): string {
  const code = error instanceof Error && "code" in error ? error.code : null;
  switch (code) {
    case "EADDRINUSE":
      return `cannot listen on ${host}:${port}: the port is in use; choose another with HOLDFAST_PORT`;
    case "EACCES":
      return `cannot listen on ${host}:${port}: not permitted; ports below 1024 need rights that this process lacks`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `cannot listen on ${host}:${port}: this machine has no such address; set HOLDFAST_HOST`;
    default:
      return `cannot listen on ${host}:${port}: ${error instanceof Error ? error.message : String(error)}`;
  }
}
