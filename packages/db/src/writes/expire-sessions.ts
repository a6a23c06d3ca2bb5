import { z } from "zod";
import type { Database } from "../pool.ts";
import { countSchema, runStatement, type Statement } from "../statement.ts";
import { SESSION_IDLE } from "./meet-session.ts";

const rowSchema = z.object({ expired: countSchema });

/**
 * Removes sessions that nobody has used for a day, with all that belongs to them, and answered calls whose client has had its time to
 * fetch the answer. Calls that were answered with a task stay: the session's stream tells of it.
 *
 * - On all nodes at once: `skip locked` gives each row to one of them.
 * - Against a request of that moment: a session that has just been seen is locked by whoever writes so, or is read as it is then.
 */
const expireStatement = (limit: number): Statement<z.infer<typeof rowSchema>> => ({
  purpose: "expire sessions",
  prepared: false,
  text: `
with idle as (
  select s.id
  from holdfast.session as s
  where s.seen_at < now() - ${SESSION_IDLE}
  order by s.seen_at
  limit ${limit}
  for update skip locked
),
ended as (
  delete from holdfast.session as s
  using idle as i
  where s.id = i.id
  returning s.id
),
fetched as (
  select c.id
  from holdfast.session_call as c
  where c.answered_at < now() - interval '10 minutes' and not c.as_task
  order by c.answered_at
  limit ${limit}
  for update skip locked
),
forgotten as (
  delete from holdfast.session_call as c
  using fetched as f
  where c.id = f.id
  returning c.id
)
select greatest((select count(*) from ended), (select count(*) from forgotten)) as expired`,
  row: rowSchema,
});

/** How many rows of one kind were removed, at most `limit`: when it is that many, there may be more. */
export async function expireSessions(database: Database, limit: number): Promise<number> {
  const [row] = await runStatement(database.pool, expireStatement(z.int().positive().parse(limit)), []);
  return row?.expired ?? 0;
}
