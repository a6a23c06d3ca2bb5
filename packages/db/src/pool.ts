import { Pool, type ClientBase, type PoolConfig } from "pg";

/** Connections to one Postgres: `pool` for everything, `reserved` for renewals and settlements, which must not queue behind it. */
export interface Database {
  readonly pool: Pool;
  readonly reserved: Pool;
  /** Told of faults that cost only latency; nothing needs to be done about them. */
  readonly onError: (error: Error) => void;
  /** Ends all connections when their statements are done. Safe to call twice. */
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  /** As operators see it in `pg_stat_activity`. */
  readonly applicationName: string;
  /** Connections of `pool`; `reservedConnections` (2 unless given) come on top. */
  readonly maxConnections: number;
  readonly reservedConnections?: number;
  /** Told when an idle connection dies or a hint cannot be sent. */
  readonly onError: (error: Error) => void;
}

/** What the server allows one statement, in milliseconds; well below a lease, so that a stuck write leaves time for another try. */
export const STATEMENT_TIMEOUT_MS = 10_000;

/** Opens no connection yet: a database that is down makes statements fail, not this. */
export function openDatabase(options: DatabaseOptions): Database {
  const pool = openPool(options, options.maxConnections);
  const reserved = openPool(options, options.reservedConnections ?? 2);
  let closed: Promise<void> | null = null;
  return {
    pool,
    reserved,
    onError: options.onError,
    close: async () => {
      closed ??= Promise.all([pool.end(), reserved.end()]).then(() => undefined);
      await closed;
    },
  };
}

/** Connections for the runner of the job queue, which brings its own statements and listens over one of them. Whoever opens it ends it. */
export function openQueuePool(options: Omit<DatabaseOptions, "reservedConnections">): Pool {
  return openPool(options, options.maxConnections);
}

/** What every connection of ours has in common, the listener's included. */
export function connectionSettings(options: Pick<DatabaseOptions, "url" | "applicationName">): PoolConfig {
  return {
    connectionString: options.url,
    application_name: options.applicationName,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
}

function openPool(options: Omit<DatabaseOptions, "maxConnections">, max: number): Pool {
  const pool = new Pool({
    ...connectionSettings(options),
    max,
    idleTimeoutMillis: 30_000,
    // The server's own limit answers first; this one ends the wait for a server that has vanished.
    query_timeout: STATEMENT_TIMEOUT_MS + 2_000,
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool awaits the promise, its type does not say so
    onConnect: limitStatements,
  });
  // Without listeners, the death of an idle connection, or of one between two statements, would end the process.
  pool.on("error", (error) => {
    // The driver hangs the connection on it, with its address and the key that cancels its statements: nothing for a log.
    Reflect.deleteProperty(error, "client");
    options.onError(error);
  });
  pool.on("connect", (client) => client.on("error", () => undefined));
  return pool;
}

/**
 * As statements and not as start-up parameters, which transaction poolers refuse. Behind such a pooler the settings stay with
 * whichever server connection ran them: it serves only us, and all of us want the same.
 */
async function limitStatements(client: ClientBase): Promise<void> {
  await client.query(`set statement_timeout = ${STATEMENT_TIMEOUT_MS}; set idle_in_transaction_session_timeout = ${STATEMENT_TIMEOUT_MS}`);
}
