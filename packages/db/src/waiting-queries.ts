/**
 * Counts who else waits for open tasks: calls by number, clients by the handle that one of them has now. The statement around it has a
 * query `met` with the columns `task_id` and `waiter`, several rows a task where several wait. It gets `counted` (`task_id`): the tasks
 * that are still open and have what they had in common with the request, judged again under the lock on their row of `live_task`.
 */
export function waitingQueries(stillMet: string): string {
  return `
wanted as (
  select task_id, count(*) filter (where waiter = 'call') as calls, bool_or(waiter = 'client') as wants_handle
  from met
  group by task_id
),
held as (
  select l.task_id, x.calls, x.wants_handle
  from wanted as x
  inner join holdfast.live_task as l on l.task_id = x.task_id
  where ${stillMet}
  order by l.task_id
  for update of l
),
counted as (
  update holdfast.live_task as l
  set callers = l.callers + h.calls, has_handle = l.has_handle or h.wants_handle
  from held as h
  where l.task_id = h.task_id
  returning l.task_id
)`;
}
