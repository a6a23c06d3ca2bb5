import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** A wire between a process and its database that can be cut in the two ways in which wires are cut. */
export interface TcpProxy extends AsyncDisposable {
  /** The URL with the proxy's address in place of the database's. */
  readonly url: string;
  /** Bytes vanish in both directions and nobody is told. New connections are accepted and stay silent. */
  freeze(): void;
  thaw(): void;
  /** Ends every connection, and new ones as soon as they are made. */
  cut(): void;
  mend(): void;
}

export async function startTcpProxy(databaseUrl: string): Promise<TcpProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let isFrozen = false;
  let isCut = false;

  const server = createServer((client) => {
    if (isCut) return client.destroy();
    const upstream = connect({ host: target.hostname, port: Number(target.port === "" ? 5432 : target.port) });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      if (isFrozen) from.pause();
      from.on("data", (chunk) => void to.write(chunk));
      from.on("end", () => void to.end());
      from.on("error", () => void to.destroy());
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);

  return {
    url: url.href,
    freeze() {
      isFrozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw() {
      isFrozen = false;
      for (const socket of sockets) socket.resume();
    },
    cut() {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    mend: () => void (isCut = false),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
