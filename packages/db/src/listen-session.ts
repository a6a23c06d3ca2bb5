import { randomUUID } from "node:crypto";
import { Socket } from "node:net";
import { Client } from "pg";
import { connectionSettings } from "./pool.ts";

/** One LISTEN connection, from its opening to its end; it is never repaired. */
export interface ListenSession {
  open(): Promise<void>;
  /** Sends a notification through the database and waits until it comes back over this connection. */
  ping(): Promise<void>;
  /** Does nothing for that long; rejects as soon as the connection breaks. */
  rest(ms: number): Promise<void>;
  /** Ends it now, without asking the other side. Whatever waits rejects with `reason`. */
  close(reason: Error): void;
}

export interface ListenSessionOptions {
  readonly url: string;
  readonly applicationName: string;
  readonly channel: string;
  /** A channel of this session alone, so that nodes do not receive each other's pings. */
  readonly pingChannel: string;
  readonly onPayload: (payload: string) => void;
  /** Sends a notification over another connection: over this one, a pooler could answer that does not deliver. */
  readonly notify: (channel: string, payload: string) => Promise<void>;
  /** How long a ping may take, in milliseconds. */
  readonly deadlineMs: number;
}

/** A ping that did not come back. The connection may be dead, or its other end no real session. */
export class PingLostError extends Error {
  override readonly name = "PingLostError";
}

export function createListenSession(options: ListenSessionOptions): ListenSession {
  const { channel, pingChannel, onPayload, notify, deadlineMs } = options;
  // Our own socket: ending a connection whose packets vanish must not wait for an answer.
  const socket = new Socket();
  const client = new Client({ ...connectionSettings(options), query_timeout: deadlineMs, stream: () => socket });
  let fault: Error | null = null;
  let interrupt: ((error: Error) => void) | null = null;
  let expected: { nonce: string; arrived: () => void } | null = null;

  const condemn = (error: Error): void => {
    fault ??= error;
    interrupt?.(fault);
  };
  client.on("error", condemn);
  client.on("end", () => condemn(new Error("the connection ended")));
  client.on("notification", ({ channel: from, payload = "" }) => {
    if (from === channel) onPayload(payload);
    else if (payload === expected?.nonce) expected.arrived();
  });

  /** One wait at a time. Ends by `arm`'s callback, by the deadline, or by whatever breaks the connection. */
  const wait = async (ms: number, atDeadline: Error | null, arm?: (arrived: () => void) => void): Promise<void> => {
    if (fault !== null) throw fault;
    await new Promise<void>((resolve, reject) => {
      const settle = (error: Error | null): void => {
        clearTimeout(timer);
        interrupt = null;
        if (error === null) resolve();
        else reject(error);
      };
      const timer = setTimeout(settle, ms, atDeadline);
      interrupt = settle;
      arm?.(() => settle(null));
    });
  };

  return {
    open: async () => {
      await client.connect();
      await client.query(`listen ${client.escapeIdentifier(channel)}`);
      await client.query(`listen ${client.escapeIdentifier(pingChannel)}`);
    },
    ping: async () => {
      const nonce = randomUUID();
      const lost = new PingLostError(`a notification sent to this connection did not come back within ${deadlineMs} ms`);
      const returned = wait(deadlineMs, lost, (arrived) => {
        expected = { nonce, arrived };
      });
      await Promise.all([returned, notify(pingChannel, nonce)]);
    },
    rest: (ms) => wait(ms, null),
    close: (reason) => {
      condemn(reason);
      socket.destroy();
    },
  };
}
