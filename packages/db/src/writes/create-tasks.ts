import { taskIdSchema, type CreateOutcome, type CreateTask, type TaskId } from "@holdfast/core";
import { z } from "zod";
import { actionByEffect, grantPredicate, principalParameters } from "../grant-predicate.ts";
import type { Database } from "../pool.ts";
import { PLACE, receiptAddress } from "../receipt-address.ts";
import { runStatement, type Statement } from "../statement.ts";
import { wakeQuery } from "../wake-query.ts";

/**
 * Creates all tasks that their principals may create, in one statement: one round trip, one commit, one wake for all of them. A request
 * whose key was used before, or whose address an open read has, creates nothing and is told that it met something.
 *
 * - The grant is read by the statement that inserts: a grant revoked before the commit of that revocation is visible denies,
 *   one revoked later was still valid when the task came to be.
 * - Task, mutex row, receipt, event and job appear together: nobody can find a job without its task, and no crash leaves a task without a
 *   job or a receipt without a task. The handle is answered after the commit, so every node finds it at once (contract 1.3). Foreign keys
 *   are checked at the end of the statement, so what must be unique can go in first and decide.
 * - The same key, or address, on several nodes at once: one inserts, the others wait for its commit and insert nothing. If it is rolled
 *   back instead, the next one inserts. Within a batch the second row meets the first one. There is no look before, which could be out
 *   of date.
 * - Two batches with the same keys and addresses: both insert receipts before addresses and each kind in order, so none waits for one
 *   that waits for it. The sort, which needs the whole answer of the receipts, keeps the two kinds apart.
 * - An address that an ending task gives up in this moment: the row's fate is waited for, and then it is free.
 * - Inputs travel as one JSON list, which keeps their texts as they are: in an array literal every quote would be escaped, which
 *   takes most of a second for four megabytes.
 * - A failing member fails the whole statement and leaves nothing; the lane then repeats the members one by one.
 */
const CREATE: Statement<CreatedRow> = {
  purpose: "create tasks",
  prepared: true,
  text: `
with request as (
  select *
  from rows from (
    unnest(
      $1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[], $8::text[], $9::text[], $10::bigint[],
      $11::int[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[]
    ),
    json_array_elements($17::json)
  ) with ordinality as r (
    id, workspace_id, issuer, subject, groups, operation, operation_version, effect, pool, ttl_ms, poll_interval_ms, waiter,
    content_address, request_key, input_sha256, seal, input, position
  )
),
granted as (
  select
    r.*,
    w.root,
    ${PLACE} as place,
    case when r.request_key is not null then ${receiptAddress({
      issuer: "r.issuer",
      subject: "r.subject",
      workspaceId: "r.workspace_id",
      key: "r.request_key",
    })} end as receipt_address
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
recorded as (
  insert into holdfast.receipt (
    address, issuer, subject, workspace_id, place, request_key, operation, operation_version, input_sha256, task_id, seal
  )
  select
    receipt_address, issuer, subject, workspace_id, place, request_key, operation, operation_version, decode(input_sha256, 'hex'), id, seal
  from granted
  where request_key is not null
  order by receipt_address, position
  on conflict (address) do nothing
  returning task_id
),
opened as (
  insert into holdfast.live_task (task_id, content_address, has_handle, callers)
  select
    g.id,
    case when g.request_key is null then decode(g.content_address, 'hex') end,
    g.waiter = 'client',
    case g.waiter when 'call' then 1 else 0 end
  from granted as g
  left join recorded as r on r.task_id = g.id
  where g.request_key is null or r.task_id is not null
  order by g.content_address, g.position
  on conflict (content_address) where content_address is not null do nothing
  returning task_id
),
created as (
  insert into holdfast.task (
    id, workspace_id, issuer, subject, operation, operation_version, effect, pool, root, input, ttl_ms, poll_interval_ms,
    content_address, has_receipt, groups
  )
  select
    id, workspace_id, issuer, subject, operation, operation_version, effect, pool, root, input, ttl_ms, poll_interval_ms,
    decode(content_address, 'hex'), request_key is not null, groups::jsonb
  from granted as g
  inner join opened as o on o.task_id = g.id
  returning id, pool, root, created_at
),
answered as (
  insert into holdfast.task_input (task_id, key, method, params, answer, answered_at)
  select c.id, a.key, a.method, '{}', a.answer, now()
  from rows from (unnest($18::uuid[], $19::text[], $20::text[]), json_array_elements($21::json)) as a (task_id, key, method, answer)
  inner join created as c on c.id = a.task_id
),
noted as (
  insert into holdfast.task_event (task_id, kind)
  select id, 'task.created' from created
),
woken as (${wakeQuery("created")})
select g.id, c.created_at, (select count(*) from woken) as woken
from granted as g
left join created as c on c.id = g.id`,
  row: z.object({ id: taskIdSchema, created_at: z.date().nullable(), woken: z.coerce.number() }),
};

interface CreatedRow {
  readonly id: TaskId;
  readonly created_at: Date | null;
  readonly woken: number;
}

/** `met`: a receipt or an open read stands in the way, and nothing was created. */
export type Creation = Extract<CreateOutcome, { kind: "created" | "denied" }> | { readonly kind: "met" };

/** In the order of the requests. Nothing is created when it rejects with a code that Postgres gave. */
export async function createTasks(database: Database, requests: readonly CreateTask[]): Promise<readonly Creation[]> {
  const createdAt = new Map<TaskId, Date | null>();
  const rows = requests.flatMap((request) => rowOf(request));
  if (rows.length > 0) {
    const answers = rows.flatMap(({ request }) => request.answers.map((answer) => ({ id: request.id, ...answer })));
    const values = [
      ...transpose(rows.map(({ columns }) => columns)),
      `[${rows.map(({ request }) => JSON.stringify(request.input)).join(",")}]`,
      answers.map(({ id }) => id),
      answers.map(({ key }) => key),
      answers.map(({ method }) => method),
      JSON.stringify(answers.map(({ answer }) => answer)),
    ];
    for (const row of await runStatement(database.pool, CREATE, values)) createdAt.set(row.id, row.created_at);
  }
  return requests.map((request) => {
    const at = createdAt.get(request.id);
    if (at === undefined) return { kind: "denied" };
    return at === null ? { kind: "met" } : { kind: "created", task: freshTask(request, at) };
  });
}

/** One row, or none for a principal that cannot exist and therefore has no grant. */
function rowOf(request: CreateTask): readonly { readonly columns: readonly unknown[]; readonly request: CreateTask }[] {
  const principal = principalParameters(request.principal);
  if (principal === null) return [];
  const { id, workspaceId, ttlMs, pollIntervalMs, waiter, contentAddress, receipt } = request;
  const { name, version, effect, pool } = request.operation;
  const keyed = [receipt?.key ?? null, receipt?.inputSha256 ?? null, receipt?.seal ?? null];
  const columns = [id, workspaceId, ...principal, name, version, effect, pool, ttlMs, pollIntervalMs, waiter, contentAddress, ...keyed];
  return [{ columns, request }];
}

function transpose(rows: readonly (readonly unknown[])[]): unknown[][] {
  const [first = []] = rows;
  return first.map((_, column) => rows.map((row) => row[column]));
}

function freshTask(request: CreateTask, createdAt: Date): Extract<CreateOutcome, { kind: "created" }>["task"] {
  return {
    id: request.id,
    workspaceId: request.workspaceId,
    operation: request.operation.name,
    operationVersion: request.operation.version,
    status: "working",
    statusMessage: null,
    progress: null,
    cancelRequested: false,
    attempt: null,
    inputRequests: {},
    createdAt,
    lastUpdatedAt: createdAt,
    ttlMs: request.ttlMs,
    pollIntervalMs: request.pollIntervalMs,
    outcome: null,
  };
}
