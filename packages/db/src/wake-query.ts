/** Before every other job, which have 0. */
const URGENT = -10;

/**
 * A query that adds one job for each row of `tasks`, and gives the ids of the jobs. `tasks` is written by us: the name of a query, or
 * one in parentheses, that has the columns `id`, `pool` and `root`. The identifier is that of `wakeIdentifier` in core.
 *
 * `isUrgent` is SQL over a row `t` of them, for a task that has begun to write: until its plan has come to rest, no other one below its
 * root is carried out, so behind a long queue of writes it would hold up all of them.
 *
 * The key lets a new job take the place of one that was not fetched yet. No row at all adds nothing and notifies nobody.
 */
export function wakeQuery(tasks: string, isUrgent = "false"): string {
  return `
  select j.id
  from (
    select array_agg(
      row(
        'run-task/' || t.pool || '/' || t.root, json_build_object('taskId', t.id), null, null, 3, t.id::text,
        case when ${isUrgent} then ${URGENT} end, null
      )::graphile_worker.job_spec
    ) as specs
    from ${tasks} as t
    having count(*) > 0
  ) as s
  cross join lateral graphile_worker.add_jobs(s.specs) as j
`;
}
