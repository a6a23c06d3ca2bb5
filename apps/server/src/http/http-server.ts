import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { Socket } from "node:net";
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
  const quiet = trackQuietSockets(server);
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
      quiet.cut();
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

/**
 * Node closes connections that wait for their next request, but not those that have not sent their first: clients and load
 * balancers open such ahead of need, and each would hold up a drain until its deadline.
 */
function trackQuietSockets(server: Server): { cut(): void } {
  const answering = new Map<Socket, number>();
  let isCutting = false;
  const count = (socket: Socket, change: number): void => {
    const requests = answering.get(socket);
    if (requests === undefined) return;
    answering.set(socket, requests + change);
    if (isCutting && requests + change === 0) socket.end();
  };
  server.on("connection", (socket) => {
    answering.set(socket, 0);
    socket.once("close", () => answering.delete(socket));
  });
  server.on("request", ({ socket }, response) => {
    count(socket, 1);
    response.once("close", () => count(socket, -1));
  });
  return {
    cut: () => {
      isCutting = true;
      for (const [socket, requests] of answering) if (requests === 0) socket.destroy();
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
