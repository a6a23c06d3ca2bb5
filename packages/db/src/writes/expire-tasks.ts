import type { PoolClient } from "pg";
import { z } from "zod";
import type { Database } from "../pool.ts";
import { countSchema } from "../statement.ts";
import { storageError } from "../storage-error.ts";

/**
 * How long a task stays after it has become invisible. Somebody who found its result while it was visible may still be making it the
 * result of an identical read, which links the same artifacts (contract 4.8).
 */
const KEPT_MINUTES = 10;

/** As the index `task_expires_at_idx` has it, so that a look costs what it finds. */
const EXPIRES_AT = "(t.created_at at time zone 'UTC' + t.ttl_ms * interval '1 millisecond')";

/**
 * Removes ended tasks whose time has passed, the most overdue first, with all their parts, which go by foreign keys. Tasks with a receipt
 * stay (contract 4.5, 12.2).
 *
 * - On all nodes at once: `skip locked` gives each task to one of them. One that dies leaves nothing half done.
 * - Their artifacts are locked before anybody decides whether they may go. Whoever links one of them at this moment has it locked: then
 *   the task stays for the next round, so that no artifact loses its last link without being looked at.
 * - An ended task never starts again, and only one with a receipt is renewed, so nothing can revive what is removed.
 */
export const expireText = (limit: number): string => `
with due as (
  select t.id
  from holdfast.task as t
  where t.status in ('completed', 'failed', 'cancelled')
    and not t.has_receipt
    and ${EXPIRES_AT} < now() at time zone 'UTC' - interval '${KEPT_MINUTES} minutes'
  order by ${EXPIRES_AT}
  limit ${limit}
  for update skip locked
),
linked as (
  select x.task_id, x.workspace_id, x.sha256, x.name
  from due as d
  inner join holdfast.task_artifact as x on x.task_id = d.id
),
locked as (
  select a.workspace_id, a.sha256, a.name
  from (select distinct workspace_id, sha256, name from linked) as k
  inner join holdfast.artifact as a on a.workspace_id = k.workspace_id and a.sha256 = k.sha256 and a.name = k.name
  inner join holdfast.artifact_blob as b on b.workspace_id = a.workspace_id and b.sha256 = a.sha256
  for update of a, b skip locked
),
busy as (
  select k.task_id
  from linked as k
  left join locked as o on o.workspace_id = k.workspace_id and o.sha256 = k.sha256 and o.name = k.name
  where o.name is null
),
expired as (
  delete from holdfast.task as t
  using due as d
  where t.id = d.id and d.id not in (select task_id from busy)
  returning t.id
)
select
  (select count(*) from expired) as expired,
  array(select workspace_id from locked order by workspace_id, sha256, name) as workspace_ids,
  array(select encode(sha256, 'hex') from locked order by workspace_id, sha256, name) as digests,
  array(select name from locked order by workspace_id, sha256, name) as names`;

/**
 * Removes the artifacts that no task links any more, and bytes that no artifact names, of those that the statement before has locked.
 *
 * - A second statement, because only its snapshot surely has every link that was committed before the lock; what comes after waits for
 *   the lock, finds nothing to refer to, and is stored anew by whoever has the bytes.
 * - The same holds for another name for the same bytes: it refers to the row of the bytes, which is locked too.
 */
const SWEEP = `
with unlinked as (
  delete from holdfast.artifact as a
  using unnest($1::text[], $2::text[], $3::text[]) as k (workspace_id, digest, name)
  where a.workspace_id = k.workspace_id
    and a.sha256 = decode(k.digest, 'hex')
    and a.name = k.name
    and not exists (
      select from holdfast.task_artifact as x where x.workspace_id = a.workspace_id and x.sha256 = a.sha256 and x.name = a.name
    )
  returning a.workspace_id, a.sha256, a.name
)
delete from holdfast.artifact_blob as b
using (select distinct workspace_id, sha256 from unlinked) as u
where b.workspace_id = u.workspace_id
  and b.sha256 = u.sha256
  and not exists (
    select
    from holdfast.artifact as a
    where a.workspace_id = b.workspace_id
      and a.sha256 = b.sha256
      and not exists (select from unlinked as n where n.workspace_id = a.workspace_id and n.sha256 = a.sha256 and n.name = a.name)
  )`;

const rowsSchema = z.tuple([
  z.object({ expired: countSchema, workspace_ids: z.array(z.string()), digests: z.array(z.string()), names: z.array(z.string()) }),
]);

/** Bytes are removed in small pieces: gigabytes take a slow disk a while. */
const SWEEP_TIMEOUT_MS = 30_000;

/** How many tasks were removed, at most `limit`: when it is that many, there may be more. */
export async function expireTasks(database: Database, limit: number): Promise<number> {
  const text = expireText(z.int().positive().parse(limit));
  let client: PoolClient | null = null;
  try {
    client = await database.pool.connect();
    await client.query(`begin; set local statement_timeout = ${SWEEP_TIMEOUT_MS}`);
    // The driver's limit per query is missing from its type, hence the variables.
    const expire = { text, values: [], query_timeout: SWEEP_TIMEOUT_MS + 2_000 };
    const [row] = rowsSchema.parse((await client.query<Record<string, unknown>>(expire)).rows);
    if (row.names.length > 0) {
      const sweep = { text: SWEEP, values: [row.workspace_ids, row.digests, row.names], query_timeout: SWEEP_TIMEOUT_MS + 2_000 };
      await client.query(sweep);
    }
    await client.query("commit");
    client.release();
    return row.expired;
  } catch (error) {
    client?.release(true);
    throw storageError(error, "could not remove expired tasks");
  }
}
