import { openDatabase } from "@holdfast/db";
import { untilValue, type TaskWorld } from "./task-world.ts";

/**
 * Lets a worker do one statement after the other: the test holds a lock on a table that all statements in question write. Such locks are
 * granted in the order in which they are asked for, to those who wait, at the moment when they are given up. So whoever queues up behind
 * the worker has the table again right after the one statement. (Locks of rows are not like that: who comes at the right moment is first.)
 */
export interface StatementGate extends AsyncDisposable {
  /** Waits until a statement of the worker waits whose text holds `part`. */
  untilWaiting(part: string): Promise<void>;
  /** Lets the statement that waits through, and nothing after it. */
  letThrough(part: string): Promise<void>;
  /** Ends the connection of the statement that waits, so that it is never carried out: a killed process does not end it. */
  discard(part: string): Promise<void>;
  /** Lets everybody go on. */
  open(): void;
}

const NAME = "holdfast-gate";
const WITHIN_MS = 10_000;
const WAITING = `
  select a.pid from pg_stat_activity as a
  where a.datname = current_database() and a.wait_event_type = 'Lock' and a.application_name <> '${NAME}' and a.query like '%' || $1 || '%'`;
const QUEUED = `
  select a.pid from pg_stat_activity as a
  where a.datname = current_database() and a.wait_event_type = 'Lock' and a.application_name = '${NAME}'`;

export async function closeGate(world: TaskWorld, table: "task_event" | "task_result" | "journal_entry"): Promise<StatementGate> {
  const database = openDatabase({ url: world.url, applicationName: NAME, maxConnections: 3, onError: () => undefined });

  const inside = new Set<() => void>();

  async function queueUp() {
    const client = await database.pool.connect();
    const leave = () => {
      if (inside.delete(leave)) client.release(true);
    };
    inside.add(leave);
    await client.query("begin; set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0");
    const held = client.query(`lock table holdfast.${table} in share row exclusive mode`);
    // Where nobody waits for it any more, it ends with its connection.
    held.catch(() => undefined);
    return { held, leave };
  }

  const seen = (text: string, values: readonly unknown[] = []) =>
    untilValue(
      () => world.query(text, values),
      ({ length }) => length > 0,
      WITHIN_MS,
    );
  let holder = await queueUp();
  await holder.held;

  return {
    async untilWaiting(part) {
      await seen(WAITING, [part]);
    },
    async letThrough(part) {
      await seen(WAITING, [part]);
      const next = await queueUp();
      await seen(QUEUED);
      holder.leave();
      await next.held;
      holder = next;
    },
    async discard(part) {
      await seen(WAITING, [part]);
      await world.query(`select pg_terminate_backend(pid) from (${WAITING}) as waiting`, [part]);
    },
    open: () => holder.leave(),
    async [Symbol.asyncDispose]() {
      for (const leave of inside) leave();
      await database.close();
    },
  };
}

/** Parts of the statements that an attempt sends. `BIND` and `MOVE` write `journal_entry`, `STAGE` and `SETTLE` `task_result`, all but `STAGE` `task_event`. */
export const BIND = "into holdfast.journal_entry";
// Only the beginning of a statement can be seen, which is why this is no name of a table.
export const MOVE = "stood as (";
export const STAGE = "into holdfast.task_result";
// The reaper's has no parameters for an attempt.
export const SETTLE = "worker_id = $3::uuid%weighed as (";
