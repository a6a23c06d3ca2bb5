import { connect, createServer, type Socket } from "node:net";

/** Stands between a client and its database, like a network that can fail. */
export interface TcpProxy {
  /** The database's URL, through the proxy. */
  readonly url: string;
  /** From now on bytes vanish in both directions, and nobody is told: connections stay open, new ones too. */
  swallow(): void;
  /** Lets the bytes of new connections through again. */
  restore(): void;
  close(): Promise<void>;
}

export interface TcpProxyOptions {
  readonly onClientBytes?: (bytes: Buffer) => void;
  /** Made once per connection; turns what the server sent into what the client gets. */
  readonly fromServer?: () => (bytes: Buffer) => Buffer;
}

export async function startProxy(target: URL, options: TcpProxyOptions = {}): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const connections = new Set<{ isDeaf: boolean }>();
  let isSwallowing = false;
  const server = createServer((client) => {
    const connection = { isDeaf: isSwallowing };
    connections.add(connection);
    const upstream = connect(Number(target.port), target.hostname);
    const fromServer = options.fromServer?.() ?? ((bytes: Buffer) => bytes);
    client.on("data", (bytes: Buffer) => {
      options.onClientBytes?.(bytes);
      if (!connection.isDeaf) upstream.write(bytes);
    });
    upstream.on("data", (bytes: Buffer) => {
      if (!connection.isDeaf) client.write(fromServer(bytes));
    });
    for (const [socket, peer] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        connections.delete(connection);
        peer.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  const url = new URL(target);
  url.port = String(address.port);
  return {
    url: url.href,
    swallow: () => {
      isSwallowing = true;
      for (const connection of connections) connection.isDeaf = true;
    },
    restore: () => {
      isSwallowing = false;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Leaves out what Postgres sends on its own accord, as a transaction pooler does: there is no session that could receive it. */
export function withoutNotifications(): (bytes: Buffer) => Buffer {
  let rest = Buffer.alloc(0);
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    const kept: Buffer[] = [];
    // Every message of the server is a letter and a length that counts itself.
    while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
      const end = rest.readInt32BE(1) + 1;
      if (rest[0] !== "A".charCodeAt(0)) kept.push(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
    return Buffer.concat(kept);
  };
}
