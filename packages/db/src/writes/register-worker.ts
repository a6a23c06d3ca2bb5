import type { WorkerId } from "@holdfast/core";
import { eq, lt, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import type { Database } from "../pool.ts";
import { worker } from "../schema/index.ts";
import { storageError } from "../storage-error.ts";

/** A worker process as it declares itself. `pools`, `roots` and `operations` say what it could claim. */
export interface WorkerDescription {
  readonly id: WorkerId;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly pools: readonly string[];
  readonly roots: readonly string[];
  readonly operations: readonly string[];
  readonly slots: number;
}

/**
 * Announces a worker, for operators only: no lease depends on it. Registering again replaces the description, and sweeps away
 * what crashed workers have left for a day, which nobody else would: their rows, and the jobs they had locked when these were replaced.
 */
export async function registerWorker(database: Database, description: WorkerDescription): Promise<void> {
  const { pools, roots, operations, ...rest } = description;
  const row = { ...rest, pools: [...pools], roots: [...roots], operations: [...operations] };
  const db = drizzle(database.pool);
  try {
    await db
      .insert(worker)
      .values(row)
      .onConflictDoUpdate({ target: worker.id, set: { ...row, seenAt: sql`now()` } });
    await db.delete(worker).where(lt(worker.seenAt, sql`now() - interval '1 day'`));
    await db.execute(FORGET_LEFT_JOBS);
  } catch (error) {
    throw storageError(error, `could not register worker ${description.id}`);
  }
}

/** A locked job that is added again loses its key and all its tries, and then only the worker that has locked it would remove it. */
const FORGET_LEFT_JOBS = sql`
select from graphile_worker.complete_jobs(
  array(
    select id
    from graphile_worker.jobs
    where attempts >= max_attempts and key is null and updated_at < now() - interval '1 day'
    limit 1000
  )
)`;

/** False when the worker is not registered (any more). */
export async function touchWorker(database: Database, id: WorkerId): Promise<boolean> {
  try {
    const touched = await drizzle(database.pool)
      .update(worker)
      .set({ seenAt: sql`now()` })
      .where(eq(worker.id, id));
    return touched.rowCount === 1;
  } catch (error) {
    throw storageError(error, `could not touch worker ${id}`);
  }
}

export async function forgetWorker(database: Database, id: WorkerId): Promise<void> {
  try {
    await drizzle(database.pool).delete(worker).where(eq(worker.id, id));
  } catch (error) {
    throw storageError(error, `could not forget worker ${id}`);
  }
}
