import { createServer, request as forward, type IncomingHttpHeaders } from "node:http";
import { pipeline } from "node:stream";

/** A load balancer without memory: each request goes to the next node, whoever sent it. */
export interface RoundRobinProxy extends AsyncDisposable {
  /** `http://127.0.0.1:port`. */
  readonly origin: string;
  /** Where requests go from now on. */
  targets: readonly string[];
}

export interface RoundRobinOptions {
  /** Added where the request has none, for clients that cannot be given a token. */
  readonly authorization?: () => Promise<string>;
}

export async function startRoundRobinProxy(options: RoundRobinOptions = {}): Promise<RoundRobinProxy> {
  let turn = 0;
  let targets: readonly string[] = [];
  const server = createServer((incoming, outgoing) => {
    const respond = async (): Promise<void> => {
      const authorization = incoming.headers.authorization ?? (await options.authorization?.());
      const target = targets[turn % targets.length];
      if (target === undefined) {
        outgoing.writeHead(503).end();
        return;
      }
      turn += 1;
      const upstream = forward(new URL(incoming.url ?? "/", target), {
        method: incoming.method,
        // Host and Origin as the client sent them, as a transparent balancer does.
        headers: { ...endToEnd(incoming.headers), ...(authorization === undefined ? {} : { authorization }) },
      });
      upstream.on("response", (response) => {
        outgoing.writeHead(response.statusCode ?? 502, endToEnd(response.headers));
        pipeline(response, outgoing, () => undefined);
      });
      upstream.on("error", () => {
        if (outgoing.headersSent) outgoing.destroy();
        else outgoing.writeHead(502).end();
      });
      // Closing a response stream is how clients cancel: the node has to see it.
      outgoing.on("close", () => upstream.destroy());
      pipeline(incoming, upstream, () => undefined);
    };
    respond().catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the proxy has no address");
  return {
    origin: `http://127.0.0.1:${address.port}`,
    get targets() {
      return targets;
    },
    set targets(next) {
      targets = next;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

/**
 * Without what concerns one connection only (RFC 9110, 7.6.1): a client that was told how long a node keeps its connections would use
 * one that this balancer has closed.
 */
function endToEnd({ connection: _connection, "keep-alive": _keepAlive, ...headers }: IncomingHttpHeaders): IncomingHttpHeaders {
  return headers;
}
