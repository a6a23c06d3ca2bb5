/**
 * A query that adds one job for each row of `tasks`, and gives the ids of the jobs. `tasks` is written by us: the name of a query, or
 * one in parentheses, that has the columns `id`, `pool` and `root`. The identifier is that of `wakeIdentifier` in core.
 *
 * The key lets a new job take the place of one that was not fetched yet. No row at all adds nothing and notifies nobody.
 */
export function wakeQuery(tasks: string): string {
  return `
  select j.id
  from (
    select array_agg(
      row(
        'run-task/' || t.pool || '/' || t.root, json_build_object('taskId', t.id), null, null, 3, t.id::text, null, null
      )::graphile_worker.job_spec
    ) as specs
    from ${tasks} as t
    having count(*) > 0
  ) as s
  cross join lateral graphile_worker.add_jobs(s.specs) as j
`;
}
