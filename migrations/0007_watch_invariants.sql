-- What must never be, as views that are empty when all is well: one for each rule that the statements of this release keep. Tests look at
-- them after each fault, operators when something looks wrong. What a constraint of a table forbids has no view here.
--
-- Each has the columns `task_id`, null where no task is concerned, and `detail`. Some rules need somebody to act, so they allow some time:
-- far more than the loops of a process that runs take, so that what shows is no delay but a standstill.

-- The queue belongs to graphile-worker, whose tables come after ours and may change with a release: hence a function that is bound when it
-- runs, not a view, which would stand in the way. The key of a job is the id of its task.
create function ops.wake_job() returns table (task_id uuid, run_at timestamptz, is_fetchable boolean)
language plpgsql stable
as $$
begin
    return query
    select j.key::uuid, j.run_at, j.locked_at is null and j.attempts < j.max_attempts and j.run_at <= now()
    from graphile_worker.jobs as j
    where j.task_identifier like 'run-task/%' and j.key ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
end
$$;
comment on function ops.wake_job() is 'The jobs that wake workers for tasks. Cost: one pass over the queue.';

create view ops.unreaped_lease as
select
    l.task_id,
    jsonb_build_object('worker', l.worker_id, 'token', l.fencing_token, 'expired_for', (now() - l.lease_expires_at)::text) as detail
from holdfast.live_task as l
where l.worker_id is not null and l.lease_expires_at < now() - interval '30 seconds';

comment on view ops.unreaped_lease is
'A lease expired more than 30 seconds ago and nobody has reaped it, though every server and worker looks twice a second: no process of either kind reaches the database, or a session holds the row of live_task. Cost: one pass over the leased tasks, by index. Operator: see that a server or worker runs and is ready; end the session that pg_blocking_pids names. Nothing is to be repaired by hand: the first process that runs does it.';

create view ops.ended_task_with_mutex as
select t.id as task_id, jsonb_build_object('status', t.status, 'worker', l.worker_id, 'token', l.fencing_token) as detail
from holdfast.live_task as l
inner join holdfast.task as t on t.id = l.task_id
where t.status in ('completed', 'failed', 'cancelled');

comment on view ops.ended_task_with_mutex is
'A task is over and still has its row in live_task, so an attempt may still write for it. Settlement, cancellation and reaping end both in one statement: rows were changed by hand, or this is a defect. Cost: one pass over the open tasks. Operator: stop the worker that the detail names, delete the row of live_task, and report it.';

create view ops.open_task_without_mutex as
select t.id as task_id, jsonb_build_object('status', t.status, 'created_at', t.created_at) as detail
from holdfast.task as t
where t.status in ('working', 'input_required') and not exists (select from holdfast.live_task as l where l.task_id = t.id);

comment on view ops.open_task_without_mutex is
'A task is not over and has no row in live_task: nobody can claim, answer or cancel it, and it never ends. Rows were changed by hand, or this is a defect. Cost: one pass over all tasks. Operator: report it with the events of the task; its last event says how it ended, or who was the last to hold it.';

create view ops.attempt_without_lease as
select a.task_id, jsonb_build_object('token', a.fencing_token, 'worker', a.worker_id, 'started_at', a.started_at) as detail
from holdfast.attempt as a
where
    a.state = 'running'
    and not exists (
        select
        from holdfast.live_task as l
        where l.task_id = a.task_id and l.fencing_token = a.fencing_token and l.worker_id = a.worker_id
    );

comment on view ops.attempt_without_lease is
'An attempt counts as running and holds no lease. It can change nothing any more, but its end was not recorded: rows were changed by hand, or this is a defect. Cost: one pass over all attempts. Operator: report it with the events of the task.';

create view ops.lease_without_attempt as
select l.task_id, jsonb_build_object('worker', l.worker_id, 'token', l.fencing_token) as detail
from holdfast.live_task as l
where
    l.worker_id is not null
    and not exists (
        select
        from holdfast.attempt as a
        where
            a.task_id = l.task_id
            and a.fencing_token = l.fencing_token
            and a.worker_id = l.worker_id
            and a.state = 'running'
    );

comment on view ops.lease_without_attempt is
'A task is leased, and the attempt of its token is not running or is another worker''s: rows were changed by hand, or this is a defect. Cost: one look per leased task. Operator: report it; once the lease has expired the reaper frees the task.';

create view ops.astray_token as
select
    l.task_id,
    jsonb_build_object('token', l.fencing_token, 'newest_attempt', a.newest, 'attempts', a.number) as detail
from holdfast.live_task as l
cross join lateral (
    select coalesce(max(p.fencing_token), 0) as newest, count(*) as number
    from holdfast.attempt as p
    where p.task_id = l.task_id
) as a
where l.fencing_token <> a.newest or l.fencing_token <> a.number;

comment on view ops.astray_token is
'The token of a task is not that of its newest attempt, or one is missing between: each claim grows the token by one and starts one attempt. With a token that went back, an attempt that is long over could write again. This is what a database restored in parts looks like. Cost: one look per open task. Operator: stop all workers, set the token to the greatest one of the task, and report it.';

create view ops.overspent_budget as
select
    l.task_id,
    jsonb_build_object(
        'budget_spent', l.budget_spent, 'deaths', a.deaths, 'checkpoint', l.checkpoint_version, 'retried', l.retried_version
    ) as detail
from holdfast.live_task as l
cross join lateral (
    select count(*) as deaths
    from holdfast.attempt as p
    where p.task_id = l.task_id and p.state in ('failed', 'lost')
) as a
where l.budget_spent > a.deaths or l.retried_version > l.checkpoint_version;

comment on view ops.overspent_budget is
'A task has paid for more attempts than failed or were lost, or was tried again with a checkpoint that it never had: an interruption was charged (contract 5.5), or rows were changed by hand. It may fail too early. Cost: one look per open task. Operator: report it with the attempts of the task.';

create view ops.unwoken_task as
select
    l.task_id,
    jsonb_build_object('pool', t.pool, 'root', t.root, 'overdue_for', (now() - l.wake_at)::text) as detail
from holdfast.live_task as l
inner join holdfast.task as t on t.id = l.task_id
where
    l.worker_id is null
    and not l.parked
    and l.wake_at < now() - interval '1 minute'
    and not exists (select from ops.wake_job() as j where j.task_id = l.task_id and j.is_fetchable);

comment on view ops.unwoken_task is
'A queued task should have been looked at by the re-waker more than a minute ago and has no job that a worker could fetch: no server or worker reaches the database, or a session holds the row of live_task. Cost: one pass over the queue. Operator: see that a server or worker runs and is ready; the first one that does adds the job. A task that has a job and does not start is in ops.unclaimable_task, or waits for a free slot.';

create view ops.misstated_parking as
select l.task_id, jsonb_build_object('status', t.status, 'parked', l.parked) as detail
from holdfast.live_task as l
inner join holdfast.task as t on t.id = l.task_id
where t.status in ('working', 'input_required') and l.parked <> (t.status = 'input_required');

comment on view ops.misstated_parking is
'A task says that it waits for its client and is not parked, or the other way round: its client is asked for what nobody waits for, or is never asked. Rows were changed by hand, or this is a defect. Cost: one pass over the open tasks. Operator: report it with the events of the task; cancelling the task ends it.';

create view ops.parked_task_without_question as
select l.task_id, jsonb_build_object('parked_since', l.progressed_at) as detail
from holdfast.live_task as l
where l.parked and not exists (select from holdfast.task_input as i where i.task_id = l.task_id and i.answer is null);

comment on view ops.parked_task_without_question is
'A task is parked and has no open question: no answer can let it go on. The last answer resumes a task in the statement that takes it, so rows were changed by hand, or this is a defect. Cost: one look per open task. Operator: report it; cancelling the task ends it.';

create view ops.question_without_parked_task as
select i.task_id, jsonb_build_object('key', i.key, 'asked_at', i.asked_at, 'status', t.status) as detail
from holdfast.task_input as i
inner join holdfast.task as t on t.id = i.task_id
where i.answer is null and t.status <> 'input_required';

comment on view ops.question_without_parked_task is
'A question is open and its task does not wait for the answer: the task would be resumed only once this one is answered too, which nobody can do. Rows were changed by hand, or this is a defect. Cost: one pass over all questions. Operator: delete the question of a task that is over; report one of a task that is open.';

create view ops.unheeded_cancellation as
select
    l.task_id,
    jsonb_build_object('wished_at', l.cancel_requested_at, 'parked', l.parked, 'journal', j.state) as detail
from holdfast.live_task as l
left join holdfast.journal_entry as j on j.task_id = l.task_id
where
    l.worker_id is null
    and l.cancel_requested_at is not null
    and (j.state is null or j.state not in ('planned', 'applying', 'rolling_back', 'committed'));

comment on view ops.unheeded_cancellation is
'A task is to be cancelled, nobody runs it, and no plan of a write stands in the way: it should be over (contract 8.2). Whoever queues or parks a task cancels it in the same statement, so rows were changed by hand, or this is a defect. Cost: one pass over the open tasks. Operator: report it; the next attempt learns of the wish when it starts.';

create view ops.unwanted_task as
select l.task_id, jsonb_build_object('worker', l.worker_id) as detail
from holdfast.live_task as l
where l.callers = 0 and not l.has_handle and l.cancel_requested_at is null;

comment on view ops.unwanted_task is
'Nobody waits for an open task, no client holds its handle, and it is not to be cancelled, so it runs for nobody. The last caller that leaves cancels it (contract 8.5), so rows were changed by hand, or this is a defect. Cost: one pass over the open tasks. Operator: report it; the task ends by itself.';

create view ops.misheld_content_address as
select
    l.task_id,
    jsonb_build_object(
        'address', encode(l.content_address, 'hex'), 'of_task', encode(t.content_address, 'hex'),
        'cancel_requested_at', l.cancel_requested_at, 'has_receipt', t.has_receipt
    ) as detail
from holdfast.live_task as l
inner join holdfast.task as t on t.id = l.task_id
where
    l.content_address is not null
    and (l.content_address is distinct from t.content_address or l.cancel_requested_at is not null or t.has_receipt);

comment on view ops.misheld_content_address is
'An open task holds a content address that is not its own, or although it is about to be cancelled, or although its request has a key: identical reads would join a task that does not answer them (contract 4.8). Rows were changed by hand, or this is a defect. Cost: one pass over the open tasks. Operator: set content_address of its row in live_task to null, and report it.';

create view ops.unversioned_checkpoint as
select
    l.task_id,
    jsonb_build_object(
        'checkpoint', k.fencing_token, 'steps', s.number, 'newest_step', s.newest, 'staged', r.task_id is not null, 'journal', j.state,
        'version', l.checkpoint_version, 'token', l.fencing_token
    ) as detail
from holdfast.live_task as l
left join holdfast.task_checkpoint as k on k.task_id = l.task_id
left join holdfast.task_result as r on r.task_id = l.task_id and r.seal is not null
left join holdfast.journal_entry as j on j.task_id = l.task_id
cross join lateral (
    select count(*) as number, max(p.fencing_token) as newest
    from holdfast.task_step as p
    where p.task_id = l.task_id
) as s
where
    greatest(k.fencing_token, s.newest, j.fencing_token) > l.fencing_token
    or (l.checkpoint_version = 0 and (k.task_id is not null or s.number > 0 or r.task_id is not null or j.task_id is not null));

comment on view ops.unversioned_checkpoint is
'An attempt left a checkpoint, a step, a result or a plan for the next one and the version of the task did not grow, so the next one is not given it; or what it left has a newer token than the task. Rows were changed by hand, or this is a defect. Cost: four looks per open task. Operator: report it. Where the detail names a journal, files may be half changed: look at holdfast.journal_file before anything else is done.';

create view ops.contradicted_attempt as
select
    t.id as task_id,
    jsonb_build_object('status', t.status, 'attempts', jsonb_agg(jsonb_build_object('token', a.fencing_token, 'state', a.state))) as detail
from holdfast.task as t
left join holdfast.attempt as a on a.task_id = t.id
where t.status = 'completed' or a.state in ('succeeded', 'cancelled')
group by t.id
having
    (t.status = 'completed') <> (count(*) filter (where a.state = 'succeeded') = 1)
    or count(*) filter (where a.state = 'succeeded') > 1
    or (t.status <> 'cancelled' and bool_or(a.state = 'cancelled'))
    or max(a.fencing_token) filter (where a.state in ('succeeded', 'cancelled')) < (
        select max(p.fencing_token) from holdfast.attempt as p where p.task_id = t.id
    );

comment on view ops.contradicted_attempt is
'A task is completed and not exactly one attempt of it succeeded, an attempt succeeded or was cancelled and its task says otherwise, or another attempt came after it: something was run again that was over, or rows were changed by hand. Cost: one pass over all tasks and attempts. Operator: report it with the events of the task; of a write, compare the files with what the task answered.';

create view ops.contradicted_outcome as
select
    t.id as task_id,
    jsonb_build_object(
        'status', t.status, 'has_result', r.result is not null, 'error', r.error_code, 'is_sealed', r.seal is not null
    ) as detail
from holdfast.task as t
left join holdfast.task_result as r on r.task_id = t.id
where
    case t.status
        when 'completed' then r.result is null
        when 'failed' then r.error_code is null
        when 'cancelled' then r.task_id is not null
        else r.error_code is not null or (r.result is not null and r.seal is null)
    end;

comment on view ops.contradicted_outcome is
'A completed task has no result, a failed one no error, a cancelled one has either, or an open one has something else than a staged result. Outcome and status are written by one statement: rows were changed by hand, or this is a defect. Cost: one pass over all tasks. Operator: report it with the events of the task; clients of such a task are answered with an internal error or with nothing.';

create view ops.miscounted_ending as
select
    t.id as task_id,
    jsonb_build_object('status', t.status, 'endings', coalesce(jsonb_agg(e.kind) filter (where e.id is not null), '[]')) as detail
from holdfast.task as t
left join holdfast.task_event as e
    on e.task_id = t.id and e.kind in ('task.completed', 'task.failed', 'task.cancelled')
group by t.id
having
    count(e.id) <> case when t.status in ('completed', 'failed', 'cancelled') then 1 else 0 end
    or bool_or(e.kind <> 'task.' || t.status);

comment on view ops.miscounted_ending is
'A task that is over has not exactly one event that says so, or one that names another end; or an open task has one. A task that ended twice shows here. Cost: one pass over all tasks and events. Operator: report it with the events of the task; of a write, look at its journal and its files.';

create view ops.open_journal_of_ended_task as
select
    j.task_id,
    jsonb_build_object('status', t.status, 'journal', j.state, 'root', j.root, 'token', j.fencing_token) as detail
from holdfast.journal_entry as j
inner join holdfast.task as t on t.id = j.task_id
where j.state in ('planned', 'applying', 'rolling_back') and t.status in ('completed', 'failed', 'cancelled');

comment on view ops.open_journal_of_ended_task is
'A task is over and its plan is not: files may be half changed, nobody will see to it, and no other plan is bound below the root. No ending is allowed with an open plan, so rows were changed by hand, or this is a defect. Cost: one look per open plan, by index. Operator: compare the files with holdfast.journal_file, restore them or finish the plan, then set the entry to ''unresolved'' with a detail that says so; and report it.';

create view ops.contradicted_journal as
select
    j.task_id,
    jsonb_build_object('status', t.status, 'effect', t.effect, 'journal', j.state, 'error', r.error_code, 'worker', l.worker_id) as detail
from holdfast.journal_entry as j
inner join holdfast.task as t on t.id = j.task_id
left join holdfast.task_result as r on r.task_id = j.task_id
left join holdfast.live_task as l on l.task_id = j.task_id
where
    t.effect <> 'write'
    or (j.state = 'committed' and t.status in ('failed', 'cancelled'))
    or (j.state = 'unresolved' and l.task_id is not null and l.worker_id is null)
    or (j.state = 'unresolved' and l.task_id is null and r.error_code is distinct from 'write_unresolved');

comment on view ops.contradicted_journal is
'The end of a write is not what its journal says: a committed plan of a task that was not completed, an unresolved one of a task that did not fail for it or that is queued again, or a plan of a task that writes nothing. Its client was told something wrong about its files, or this is a defect. Cost: one pass over the journal. Operator: compare the files with holdfast.journal_file, tell the owner, and report it.';

create view ops.unattended_journal as
select
    j.task_id,
    jsonb_build_object('journal', j.state, 'root', j.root, 'pool', t.pool, 'attempt', a.state, 'ended_at', a.ended_at) as detail
from holdfast.journal_entry as j
inner join holdfast.task as t on t.id = j.task_id
inner join holdfast.live_task as l on l.task_id = j.task_id
inner join holdfast.attempt as a on a.task_id = l.task_id and a.fencing_token = l.fencing_token
where j.state in ('planned', 'applying', 'rolling_back') and l.worker_id is null and a.ended_at < now() - interval '1 minute';

comment on view ops.unattended_journal is
'A plan is open, the attempt that held it ended more than a minute ago, and no other one has taken it up: files may be half changed until then, and no other write below the root begins. Cost: one look per open plan, by index. Operator: start a worker that serves the pool and reaches the root (ops.unclaimable_task says whether there is one), or give the workers there more slots. Do not change the files meanwhile.';

create view ops.misplaced_journal_bytes as
select
    j.task_id,
    jsonb_build_object('journal', j.state, 'status', t.status, 'positions', jsonb_agg(f.position order by f.position)) as detail
from holdfast.journal_entry as j
inner join holdfast.task as t on t.id = j.task_id
inner join holdfast.journal_file as f on f.task_id = j.task_id
where
    (
        j.state in ('committed', 'restored')
        and t.status in ('completed', 'failed', 'cancelled')
        and num_nonnulls(f.before_bytes, f.after_bytes) > 0
    )
    or (
        j.state in ('planned', 'applying', 'rolling_back')
        and ((f.before_sha256 is null) <> (f.before_bytes is null) or (f.after_sha256 is null) <> (f.after_bytes is null))
    )
group by j.task_id, j.state, t.status;

comment on view ops.misplaced_journal_bytes is
'An open plan lacks the bytes of a file, so it can neither be finished nor taken back; or a plan that is settled keeps bytes for a task that is over, which takes room for nothing. Rows were changed by hand, or this is a defect. Cost: one pass over the journal, without reading the bytes. Operator: with an open plan, keep the files as they are and restore the bytes from a backup; else set both columns to null. Report either.';

create view ops.contradicted_receipt as
select
    r.task_id,
    jsonb_build_object(
        'address_fits', r.address = sha256(
            convert_to(jsonb_build_array(r.issuer, r.subject, r.workspace_id, r.place, r.request_key)::text, 'UTF8')
        ),
        'owner_fits', r.issuer = t.issuer and r.subject = t.subject and r.workspace_id = t.workspace_id,
        'operation_fits', r.operation = t.operation and r.operation_version = t.operation_version,
        'is_kept', t.has_receipt
    ) as detail
from holdfast.receipt as r
inner join holdfast.task as t on t.id = r.task_id
where
    r.address <> sha256(convert_to(jsonb_build_array(r.issuer, r.subject, r.workspace_id, r.place, r.request_key)::text, 'UTF8'))
    or r.issuer <> t.issuer
    or r.subject <> t.subject
    or r.workspace_id <> t.workspace_id
    or r.operation <> t.operation
    or r.operation_version <> t.operation_version
    or not t.has_receipt
union all
select t.id, jsonb_build_object('is_missing', true)
from holdfast.task as t
where t.has_receipt and not exists (select from holdfast.receipt as r where r.task_id = t.id);

comment on view ops.contradicted_receipt is
'A receipt names a task of another owner, workspace or operation, is kept under an address that is not that of its columns, or its task may be removed; or a task counts as having a receipt that is not there. Somebody who repeats the request gets an error, another task, or a second execution. Rows were changed by hand. Cost: one pass over all receipts and tasks. Operator: restore the receipts from a backup; a receipt whose seal does not fit is never believed meanwhile.';

create view ops.overdue_task as
select t.id as task_id, jsonb_build_object('status', t.status, 'created_at', t.created_at, 'ttl_ms', t.ttl_ms) as detail
from holdfast.task as t
where
    t.status in ('completed', 'failed', 'cancelled')
    and not t.has_receipt
    and (t.created_at at time zone 'UTC' + t.ttl_ms * interval '1 millisecond') < now() at time zone 'UTC' - interval '2 hours';

comment on view ops.overdue_task is
'The time of an ended task passed more than two hours ago, and the task, with its checkpoints, result and links to artifacts, is still there: nothing removes what has expired, or a session holds the rows. Nobody sees such a task; it takes room. Cost: what it finds, by index. Operator: see that a server or worker runs and that its log has no errors about expiry.';

create view ops.unanswered_task as
select l.task_id, jsonb_build_object('last_updated_at', t.last_updated_at, 'ttl_ms', t.ttl_ms) as detail
from holdfast.live_task as l
inner join holdfast.task as t on t.id = l.task_id
where l.parked and t.last_updated_at + t.ttl_ms * interval '1 millisecond' < now() - interval '2 hours';

comment on view ops.unanswered_task is
'A task has waited for its client for the whole time that its result would have been kept, and two hours longer, without being cancelled (contract 9.4): no server runs, or a session holds the row. Cost: one pass over the open tasks. Operator: see that a server runs and that its log has no errors about expiry.';

create view ops.unlinked_artifact as
select
    null::uuid as task_id,
    jsonb_build_object('workspace', a.workspace_id, 'sha256', encode(a.sha256, 'hex'), 'name', a.name) as detail
from holdfast.artifact as a
where
    not exists (
        select
        from holdfast.task_artifact as x
        where x.workspace_id = a.workspace_id and x.sha256 = a.sha256 and x.name = a.name
    )
union all
select null::uuid, jsonb_build_object('workspace', b.workspace_id, 'sha256', encode(b.sha256, 'hex'))
from holdfast.artifact_blob as b
where not exists (select from holdfast.artifact as a where a.workspace_id = b.workspace_id and a.sha256 = b.sha256);

comment on view ops.unlinked_artifact is
'No task links an artifact, or no artifact names bytes: they take room and nothing will remove them. An artifact goes with its last task, so tasks were deleted by hand, or this is a defect. Cost: one pass over all artifacts, without reading the bytes. Operator: delete the rows of artifact, then those of artifact_blob, while no worker runs; report it when nobody deleted tasks.';

create view ops.contradicted_artifact as
select
    (
        select x.task_id
        from holdfast.task_artifact as x
        where x.workspace_id = a.workspace_id and x.sha256 = a.sha256 and x.name = a.name
        limit 1
    ) as task_id,
    jsonb_build_object(
        'workspace', a.workspace_id, 'sha256', encode(a.sha256, 'hex'), 'name', a.name, 'size', a.size_bytes, 'bytes', octet_length(b.bytes)
    ) as detail
from holdfast.artifact as a
inner join holdfast.artifact_blob as b on b.workspace_id = a.workspace_id and b.sha256 = a.sha256
where a.size_bytes <> octet_length(b.bytes);

comment on view ops.contradicted_artifact is
'The bytes of an artifact are not as many as were stored: somebody changed them. Cost: one pass over all artifacts, without reading the bytes. Operator: restore the row of artifact_blob from a backup. To compare the digests as well, which reads all bytes, look for rows of artifact_blob with sha256 <> sha256(bytes).';

create view ops.unlinked_result_artifact as
select
    k.task_id,
    jsonb_build_object('kept_by', k.kept_by, 'sha256', n.value ->> 'sha256', 'name', n.value ->> 'name') as detail
from (
    select r.task_id, 'result' as kept_by, r.artifacts from holdfast.task_result as r where r.artifacts is not null
    union all
    select j.task_id, 'journal' as kept_by, j.artifacts from holdfast.journal_entry as j
) as k
cross join lateral json_array_elements(k.artifacts) as n
where
    not exists (
        select
        from holdfast.task_artifact as x
        where x.task_id = k.task_id and encode(x.sha256, 'hex') = n.value ->> 'sha256' and x.name = n.value ->> 'name'
    );

comment on view ops.unlinked_result_artifact is
'A result, or a plan of a write, names an artifact that its task does not link, so the artifact may be removed before the result. Rows were changed by hand, or this is a defect. Cost: one pass over all staged and sealed results and the journal. Operator: insert the link into task_artifact, if the artifact is still there; and report it.';

create view ops.job_of_ended_task as
select j.task_id, jsonb_build_object('due_since', j.run_at) as detail
from ops.wake_job() as j
where
    j.is_fetchable
    and j.run_at < now() - interval '2 hours'
    and not exists (select from holdfast.live_task as l where l.task_id = j.task_id);

comment on view ops.job_of_ended_task is
'A job for a task that is over, or that does not exist, has been ready for more than two hours and no worker has fetched it. It does no harm: a worker that fetches it finds nothing to claim and forgets it. Cost: one pass over the queue. Operator: start a worker that serves the pool and root that the job is for, or let graphile_worker.complete_jobs remove it.';

create view ops.invariant_violation as
select 'unreaped_lease' as invariant, task_id, detail from ops.unreaped_lease
union all
select 'ended_task_with_mutex' as invariant, task_id, detail from ops.ended_task_with_mutex
union all
select 'open_task_without_mutex' as invariant, task_id, detail from ops.open_task_without_mutex
union all
select 'attempt_without_lease' as invariant, task_id, detail from ops.attempt_without_lease
union all
select 'lease_without_attempt' as invariant, task_id, detail from ops.lease_without_attempt
union all
select 'astray_token' as invariant, task_id, detail from ops.astray_token
union all
select 'overspent_budget' as invariant, task_id, detail from ops.overspent_budget
union all
select 'unwoken_task' as invariant, task_id, detail from ops.unwoken_task
union all
select 'misstated_parking' as invariant, task_id, detail from ops.misstated_parking
union all
select 'parked_task_without_question' as invariant, task_id, detail from ops.parked_task_without_question
union all
select 'question_without_parked_task' as invariant, task_id, detail from ops.question_without_parked_task
union all
select 'unheeded_cancellation' as invariant, task_id, detail from ops.unheeded_cancellation
union all
select 'unwanted_task' as invariant, task_id, detail from ops.unwanted_task
union all
select 'misheld_content_address' as invariant, task_id, detail from ops.misheld_content_address
union all
select 'unversioned_checkpoint' as invariant, task_id, detail from ops.unversioned_checkpoint
union all
select 'contradicted_attempt' as invariant, task_id, detail from ops.contradicted_attempt
union all
select 'contradicted_outcome' as invariant, task_id, detail from ops.contradicted_outcome
union all
select 'miscounted_ending' as invariant, task_id, detail from ops.miscounted_ending
union all
select 'open_journal_of_ended_task' as invariant, task_id, detail from ops.open_journal_of_ended_task
union all
select 'contradicted_journal' as invariant, task_id, detail from ops.contradicted_journal
union all
select 'unattended_journal' as invariant, task_id, detail from ops.unattended_journal
union all
select 'misplaced_journal_bytes' as invariant, task_id, detail from ops.misplaced_journal_bytes
union all
select 'contradicted_receipt' as invariant, task_id, detail from ops.contradicted_receipt
union all
select 'overdue_task' as invariant, task_id, detail from ops.overdue_task
union all
select 'unanswered_task' as invariant, task_id, detail from ops.unanswered_task
union all
select 'unlinked_artifact' as invariant, task_id, detail from ops.unlinked_artifact
union all
select 'contradicted_artifact' as invariant, task_id, detail from ops.contradicted_artifact
union all
select 'unlinked_result_artifact' as invariant, task_id, detail from ops.unlinked_result_artifact
union all
select 'job_of_ended_task' as invariant, task_id, detail from ops.job_of_ended_task;

comment on view ops.invariant_violation is
'Everything that must never be and is, by the name of its view, whose comment says what it means and what to do. Cost: several passes over all tasks, attempts and events: look when something seems wrong, not every second.';
