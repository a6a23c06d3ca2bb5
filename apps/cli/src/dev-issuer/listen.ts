import type { Server } from "node:http";
import { CommandError } from "../command.ts";

/** Binds 127.0.0.1 and nothing else; resolves with the port. A port in use is a sentence, not a stack. */
export async function listenOnLoopback(server: Server, port: number, what: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.once("error", (error: NodeJS.ErrnoException) => {
    const reason = error.code === "EADDRINUSE" ? "is in use by another process" : `cannot be used (${error.message})`;
    reject(new CommandError(`the port ${port} of the ${what} ${reason}`, { cause: error }));
  });
  server.listen({ host: "127.0.0.1", port }, () => {
    const address = server.address();
    if (address !== null && typeof address === "object") resolve(address.port);
    else reject(new CommandError(`the ${what} got no port on 127.0.0.1`));
  });
  return await promise;
}
