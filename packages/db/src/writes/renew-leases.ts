import type { Renewal, RenewalAnswer } from "@holdfast/core";
import { z } from "zod";
import type { Database } from "../pool.ts";
import { quoteText, runStatement, type Statement } from "../statement.ts";

/**
 * Renews many leases at once and carries their progress.
 *
 * - `skip locked`: a row that somebody holds does not delay the other renewals, and is `busy`, not lost. Only a row that is
 *   gone, or that shows another token or worker, is `refused`.
 * - A row that another transaction changed after this statement began is judged again under its lock and not renewed; its
 *   answer is still `busy`, and the next heartbeat learns the truth. The mistake is on the safe side: the lease was not extended.
 * - The expiry is not indexed and the row has room on its page, so a heartbeat writes no index.
 */
const RENEW: Statement<RenewalRow> = {
  purpose: "renew leases",
  prepared: true,
  text: `
with asked as (
  select *
  from unnest($1::uuid[], $2::int[], $3::uuid[], $4::double precision[], $5::double precision[], $6::text[])
    with ordinality as a (task_id, token, worker_id, progress_value, progress_total, progress_message, position)
),
held as (
  select l.task_id, l.fencing_token, l.worker_id
  from holdfast.live_task as l
  inner join asked as a on a.task_id = l.task_id
  where l.fencing_token = a.token and l.worker_id = a.worker_id
  order by l.task_id
  for update of l skip locked
),
renewed as (
  update holdfast.live_task as l
  set
    lease_expires_at = now() + $7::double precision * interval '1 millisecond',
    progress_value = case when a.progress_value is null then l.progress_value else a.progress_value end,
    progress_total = case when a.progress_value is null then l.progress_total else a.progress_total end,
    progress_message = case when a.progress_value is null then l.progress_message else a.progress_message::json end,
    progressed_at = case when a.progress_value is null then l.progressed_at else now() end
  from held as h
  inner join asked as a on a.task_id = h.task_id and a.token = h.fencing_token and a.worker_id = h.worker_id
  where l.task_id = h.task_id
  returning l.task_id, l.fencing_token, l.worker_id, l.cancel_requested_at
)
select
  case
    when r.task_id is not null then 'renewed'
    when exists (
      select 1
      from holdfast.live_task as l
      where l.task_id = a.task_id and l.fencing_token = a.token and l.worker_id = a.worker_id
    ) then 'busy'
    else 'refused'
  end as kind,
  r.cancel_requested_at is not null as cancel_requested
from asked as a
left join renewed as r on r.task_id = a.task_id and r.fencing_token = a.token and r.worker_id = a.worker_id
order by a.position`,
  row: z.object({ kind: z.enum(["renewed", "busy", "refused"]), cancel_requested: z.boolean() }),
};

interface RenewalRow {
  readonly kind: RenewalAnswer["kind"];
  readonly cancel_requested: boolean;
}

/** Answers in the order of the renewals. */
export async function renewLeases(database: Database, renewals: readonly Renewal[], leaseMs: number): Promise<readonly RenewalAnswer[]> {
  if (renewals.length === 0) return [];
  const rows = await runStatement(database.reserved, RENEW, [
    renewals.map(({ attempt }) => attempt.taskId),
    renewals.map(({ attempt }) => attempt.token),
    renewals.map(({ attempt }) => attempt.workerId),
    renewals.map(({ progress }) => progress?.value ?? null),
    renewals.map(({ progress }) => progress?.total ?? null),
    renewals.map(({ progress }) => quoteText(progress?.message ?? null)),
    leaseMs,
  ]);
  return rows.map(({ kind, cancel_requested: cancelRequested }) => (kind === "renewed" ? { kind, cancelRequested } : { kind }));
}
