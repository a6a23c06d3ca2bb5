import type { ClaimedAttempt, ClaimRequest } from "@holdfast/core";
import { z } from "zod";
import type { Database } from "../pool.ts";
import { jsonTextSchema, runStatement, type Statement } from "../statement.ts";

/**
 * Starts an attempt: the next fencing token, a lease by the database's clock, one row of `attempt`.
 *
 * - Two claimers: the second waits for the first one's row lock, sees `worker_id` set and changes nothing.
 * - Claim against cancellation: whoever locks `live_task` first wins. After a cancellation the row is gone; after a claim the
 *   cancellation finds it leased and leaves its wish on it.
 * - A lease that expired is not taken over here: the reaper ends its attempt first, which keeps the retry budget in one place.
 * - A second wake for a running or finished task finds no row and is forgotten.
 */
const CLAIM: Statement<ClaimedRow> = {
  purpose: "claim an attempt",
  prepared: true,
  text: `
with claimed as (
  update holdfast.live_task as l
  set
    fencing_token = l.fencing_token + 1,
    worker_id = $2::uuid,
    lease_expires_at = now() + $3::double precision * interval '1 millisecond'
  from holdfast.task as t
  inner join holdfast.workspace as w on w.id = t.workspace_id
  where l.task_id = $1::uuid
    and t.id = l.task_id
    and l.worker_id is null
    and t.pool = any($4::text[])
    and t.root = any($5::text[])
    and w.root = t.root
    and t.operation = any($6::text[])
  returning
    l.task_id, l.fencing_token, t.operation, t.operation_version, t.input, t.issuer, t.subject, w.id as workspace_id, w.root, w.path
),
started as (
  insert into holdfast.attempt (task_id, fencing_token, worker_id)
  select task_id, fencing_token, $2::uuid from claimed
),
noted as (
  insert into holdfast.task_event (task_id, kind, fencing_token, detail)
  select task_id, 'attempt.claimed', fencing_token, jsonb_build_object('worker', $2::uuid) from claimed
)
select fencing_token, operation, operation_version, input::text as input, issuer, subject, workspace_id, root, path
from claimed`,
  row: z.object({
    fencing_token: z.number(),
    operation: z.string(),
    operation_version: z.number(),
    input: jsonTextSchema,
    issuer: z.string(),
    subject: z.string(),
    workspace_id: z.string(),
    root: z.string(),
    path: z.string(),
  }),
};

interface ClaimedRow {
  readonly fencing_token: number;
  readonly operation: string;
  readonly operation_version: number;
  readonly input: unknown;
  readonly issuer: string;
  readonly subject: string;
  readonly workspace_id: string;
  readonly root: string;
  readonly path: string;
}

export async function claimAttempt(database: Database, request: ClaimRequest): Promise<ClaimedAttempt | null> {
  const { taskId, workerId, leaseMs, reach } = request;
  const [row] = await runStatement(database.pool, CLAIM, [taskId, workerId, leaseMs, reach.pools, reach.roots, reach.operations]);
  if (row === undefined) return null;
  return {
    taskId,
    workerId,
    token: row.fencing_token,
    operation: row.operation,
    operationVersion: row.operation_version,
    input: row.input,
    workspace: { id: row.workspace_id, root: row.root, path: row.path },
    owner: { issuer: row.issuer, subject: row.subject },
  };
}
