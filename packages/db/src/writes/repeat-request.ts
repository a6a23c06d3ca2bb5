import { taskIdSchema, type CreateTask, type StoredReceipt } from "@holdfast/core";
import { z } from "zod";
import { actionByEffect, grantPredicate, principalParameters } from "../grant-predicate.ts";
import type { Database } from "../pool.ts";
import { receiptAddress } from "../receipt-address.ts";
import { countSchema, jsonTextSchema, runStatement, type Statement } from "../statement.ts";
import { waitingQueries } from "../waiting-queries.ts";

const receiptSchema: z.ZodType<StoredReceipt> = z.object({
  taskId: taskIdSchema,
  operation: z.string(),
  operationVersion: z.number(),
  inputSha256: z.string(),
  seal: z.string(),
});
const rowSchema = z.object({
  position: countSchema,
  is_same: z.boolean().nullable(),
  receipt: jsonTextSchema.pipe(receiptSchema).nullable(),
});

/**
 * Answers requests whose key was used before. An exact repeat also waits for the task, if it is open, and makes it visible again, if its
 * time has passed (contract 4.5); a conflict changes nothing.
 *
 * - A receipt never changes and never goes, so what it is compared with needs no lock.
 * - Two repeats of an expired task at once: the second one judges the row again under its lock, finds it visible and leaves it.
 * - Against a settlement: a task that ends here and now may have outlived its time and be invisible at once. Whoever does not find it
 *   asks again, and finds it ended.
 * - Against expiry: a task with a receipt is never removed.
 * - The window that is granted counts from now, the lifetime that is reported from the creation (contract 4.6): hence the age, in whole
 *   milliseconds, rounded up, so that nobody gets less than was said.
 * - Rows are locked by id, open ones before ended ones. The grant is a condition here again: between the two statements it may have
 *   been revoked.
 */
const REPEAT: Statement<z.infer<typeof rowSchema>> = {
  purpose: "repeat requests",
  prepared: true,
  text: `
with request as (
  select *
  from unnest(
    $1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::int[], $10::text[], $11::bigint[]
  ) with ordinality as r (
    workspace_id, issuer, subject, groups, effect, waiter, request_key, operation, operation_version, input_sha256, ttl_ms, position
  )
),
permitted as (
  select
    r.*,
    ${receiptAddress({ issuer: "r.issuer", subject: "r.subject", workspaceId: "r.workspace_id", key: "r.request_key" })} as address
  from request as r
  inner join holdfast.workspace as w on w.id = r.workspace_id
  where ${grantPredicate({
    workspaceId: "r.workspace_id",
    issuer: "r.issuer",
    subject: "r.subject",
    groups: "r.groups::jsonb",
    action: actionByEffect("r.effect"),
  })}
),
standing as (
  select
    p.position,
    p.waiter,
    p.ttl_ms,
    c.*,
    c.operation = p.operation
    and c.operation_version = p.operation_version
    and c.input_sha256 = decode(p.input_sha256, 'hex') as is_same
  from permitted as p
  inner join holdfast.receipt as c on c.address = p.address
),
met as (
  select * from standing where is_same
),
${waitingQueries("true")},
expired as (
  select t.id, x.ttl_ms
  from (select task_id, max(ttl_ms) as ttl_ms from met group by task_id) as x
  inner join holdfast.task as t on t.id = x.task_id
  where t.status in ('completed', 'failed', 'cancelled')
    and now() >= t.created_at + t.ttl_ms * interval '1 millisecond'
  order by t.id
  for update of t
),
renewed as (
  update holdfast.task as t
  set ttl_ms = ceil(extract(epoch from now() - t.created_at) * 1000)::bigint + e.ttl_ms
  from expired as e
  where t.id = e.id
  returning t.id
),
dated as (
  update holdfast.receipt as c
  set renewed_at = now()
  from renewed as r
  where c.task_id = r.id
),
noted as (
  insert into holdfast.task_event (task_id, kind)
  select id, 'task.renewed' from renewed
)
select
  p.position,
  s.is_same,
  case when s.task_id is not null then json_build_object(
    'taskId', s.task_id,
    'operation', s.operation,
    'operationVersion', s.operation_version,
    'inputSha256', encode(s.input_sha256, 'hex'),
    'seal', s.seal
  ) end::text as receipt
from permitted as p
left join standing as s on s.position = p.position`,
  row: rowSchema,
};

/** `gone`: the workspace has moved meanwhile, to a place where the key was never used. */
export type RepeatAnswer =
  | { readonly kind: "repeated"; readonly receipt: StoredReceipt }
  | { readonly kind: "conflict" }
  | { readonly kind: "gone" }
  | { readonly kind: "denied" };

/** Answers in the order of the requests, all of which have a key. */
export async function repeatRequests(database: Database, requests: readonly CreateTask[]): Promise<readonly RepeatAnswer[]> {
  const principals = requests.map(({ principal }) => principalParameters(principal) ?? [null, null, null]);
  const rows = await runStatement(database.pool, REPEAT, [
    requests.map(({ workspaceId }) => workspaceId),
    ...[0, 1, 2].map((part) => principals.map((parameters) => parameters[part])),
    requests.map(({ operation }) => operation.effect),
    requests.map(({ waiter }) => waiter),
    requests.map(({ receipt }) => receipt?.key ?? null),
    requests.map(({ operation }) => operation.name),
    requests.map(({ operation }) => operation.version),
    requests.map(({ receipt }) => receipt?.inputSha256 ?? null),
    requests.map(({ ttlMs }) => ttlMs),
  ]);
  const found = new Map(rows.map((row) => [row.position, row]));
  return requests.map((_, index) => {
    const row = found.get(index + 1);
    if (row === undefined) return { kind: "denied" };
    if (row.receipt === null) return { kind: "gone" };
    return row.is_same === true ? { kind: "repeated", receipt: row.receipt } : { kind: "conflict" };
  });
}
