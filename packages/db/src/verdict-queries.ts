import { MAX_REPLACEMENTS, LINGER_MS, OPEN_JOURNAL_STATES, type ErrorCode } from "@holdfast/core";
import { wakeQuery } from "./wake-query.ts";

const STUCK: ErrorCode = "checkpoint_stuck";
const UNRESOLVED: ErrorCode = "write_unresolved";
const OPEN = OPEN_JOURNAL_STATES.map((state) => `'${state}'`).join(", ");

/** The lifetime of a row `t` of `task` that ends now, as `ttlAtEnd` in core reckons it. */
export const TTL_AT_END = `greatest(t.ttl_ms, ceil(extract(epoch from now() - t.created_at) * 1000)::bigint + ${LINGER_MS})`;

/** What an ending needs to know of the row that it has locked, as the columns of the statement's query `held`. */
export const HELD_COLUMNS = `
  l.task_id, l.fencing_token, l.worker_id, l.budget_spent, l.cancel_requested_at, l.progressed_at, l.checkpoint_version, l.retried_version`;

/**
 * What would become of tasks whose attempts die (core, `Settlement`), so that settlement and reaping cannot judge differently. The
 * statement around it has a query `held` that locks rows of `live_task`. It gets `judged`, the same rows with
 *
 * - `is_stale`: something was left for the next attempt after this statement took its snapshot and before it had the lock. Journal and
 *   staged result are read in the snapshot, so that such a row must not be decided now: `bind` and `stage` grow the version for it. A
 *   journal that only moved meanwhile is at worst seen open although it is settled, which decides nothing that cannot be repeated;
 * - `journal`, its state or null, `is_bound`, whether it is open or committed, and `is_staged`;
 * - `fate`, 'requeued' or the final status, and `fate_code`, why it would fail, null for the reason of the attempt itself;
 * - `fate_is_free`: the attempt that follows has nothing to run again, and costs nothing.
 */
export const DEATH_QUERIES = `
weighed as (
  select
    h.*,
    h.checkpoint_version <> s.checkpoint_version as is_stale,
    j.state as journal,
    j.state is not null and j.state in (${OPEN}) as is_open,
    j.state is not null and j.state in (${OPEN}, 'committed') as is_bound,
    r.task_id is not null as is_staged,
    h.checkpoint_version > 0 and h.checkpoint_version = h.retried_version as is_stuck
  from held as h
  -- Not locked here, hence as the snapshot has it.
  inner join holdfast.live_task as s on s.task_id = h.task_id
  left join holdfast.journal_entry as j on j.task_id = h.task_id
  left join holdfast.task_result as r on r.task_id = h.task_id
),
judged as (
  select
    w.*,
    case
      when w.journal = 'unresolved' then 'failed'
      when w.cancel_requested_at is not null and not w.is_bound then 'cancelled'
      when w.is_bound or w.is_staged then 'requeued'
      when w.is_stuck then 'failed'
      when w.budget_spent < ${MAX_REPLACEMENTS} then 'requeued'
      else 'failed'
    end as fate,
    case when w.journal = 'unresolved' then '${UNRESOLVED}' when w.is_stuck then '${STUCK}' end as fate_code,
    w.is_bound or w.is_staged as fate_is_free
  from weighed as w
)`;

/**
 * What ends with a task that is over: it leaves `live_task`, and the bytes in its journal go, except those of an unresolved one, for whoever
 * looks at it. The statement around it has a query `verdict` with the columns `task_id`, `outcome` ('requeued', 'parked' or the final
 * status), `progressed_at` and `cancel_requested_at`. It gets `restated` (`id`, `workspace_id`, `status`), the tasks that have another
 * status now.
 */
export const ENDING_QUERIES = `
closed as (
  delete from holdfast.live_task as l
  using verdict as v
  where l.task_id = v.task_id and v.outcome in ('completed', 'failed', 'cancelled')
),
restated as (
  update holdfast.task as t
  set
    status = case v.outcome when 'parked' then 'input_required' else v.outcome end,
    ttl_ms = case v.outcome when 'parked' then t.ttl_ms else ${TTL_AT_END} end,
    last_updated_at = greatest(now(), t.last_updated_at, v.progressed_at, v.cancel_requested_at)
  from verdict as v
  where t.id = v.task_id and v.outcome <> 'requeued'
  returning t.id, t.workspace_id, t.status
),
emptied as (
  update holdfast.journal_file as f
  set before_bytes = null, after_bytes = null
  from verdict as v
  where f.task_id = v.task_id and v.journal in ('committed', 'restored') and v.outcome in ('completed', 'failed', 'cancelled')
)`;

/**
 * What becomes of tasks that an attempt leaves without a result: queued again without owner and progress, and a job wakes somebody for it,
 * or parked, or over. `verdict` also has the column `cost` (of the budget), and the statement must read `woken`, or no job is added. A
 * staged result goes with its cancelled task; whoever stores another outcome replaces it.
 */
export const VERDICT_QUERIES = `
${ENDING_QUERIES},
released as (
  update holdfast.live_task as l
  set
    worker_id = null,
    lease_expires_at = null,
    parked = v.outcome = 'parked',
    checkpoint_version = l.checkpoint_version + case when v.outcome = 'parked' then 1 else 0 end,
    budget_spent = l.budget_spent + v.cost,
    retried_version = case when v.cost > 0 then l.checkpoint_version else l.retried_version end,
    wake_at = default,
    progress_value = null,
    progress_total = null,
    progress_message = null,
    progressed_at = now()
  from verdict as v
  where l.task_id = v.task_id and v.outcome in ('requeued', 'parked')
  returning l.task_id, l.parked
),
unstaged as (
  delete from holdfast.task_result as r
  using verdict as v
  where r.task_id = v.task_id and v.outcome = 'cancelled'
),
woken as (${wakeQuery(
  `(
    select t.id, t.pool, t.root, v.is_open
    from released as q
    inner join verdict as v on v.task_id = q.task_id
    inner join holdfast.task as t on t.id = q.task_id
    where not q.parked
  )`,
  "t.is_open",
)})`;

/** What a row of `task_result` becomes when an outcome is stored over a staged result. */
export const REPLACE_STAGED = `
  on conflict (task_id) do update
  set
    result = excluded.result,
    error_code = excluded.error_code,
    error_reference = excluded.error_reference,
    source_revision = null,
    seal = null,
    artifacts = null,
    created_at = default`;
