-- The rules of sessions, and the view of all rules with them.

create view ops.foreign_call_task as
select
    c.task_id,
    jsonb_build_object('session', c.session_id, 'call', c.id, 'method', c.method) as detail
from holdfast.session_call as c
inner join holdfast.session as s on s.id = c.session_id
inner join holdfast.task as t on t.id = c.task_id
where t.issuer <> s.issuer or t.subject <> s.subject;

comment on view ops.foreign_call_task is
'A call of a session waits for a task of another principal than that of the session. Each look at the task asks for the owner again, so the client gets nothing; but rows were changed by hand, or this is a defect. Cost: one look per call of a session. Operator: end the session by deleting its row, and report it.';

create view ops.twice_ended_call as
select c.task_id, jsonb_build_object('session', c.session_id, 'call', c.id, 'request', c.request_id) as detail
from holdfast.session_call as c
where c.answered_at is not null and c.cancelled_at is not null;

comment on view ops.twice_ended_call is
'A call of a session was answered and cancelled, of which only one can come first: its task may have been given up although somebody was told its result. Rows were changed by hand, or this is a defect. Cost: one pass over the calls of sessions. Operator: report it with the events of the task.';

create view ops.idle_session as
select
    null::uuid as task_id,
    jsonb_build_object('session', s.id, 'seen_at', s.seen_at) as detail
from holdfast.session as s
where s.seen_at < now() - interval '26 hours';

comment on view ops.idle_session is
'A session that nobody has used for a day, and two hours longer, is still there. Nobody can use it any more; it takes room. Cost: what it finds, by index. Operator: see that a server runs and that its log has no errors about expiry.';

-- Its parts stand before it, so that a dump that keeps the order can be run.
drop view ops.invariant_violation;

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
select 'job_of_ended_task' as invariant, task_id, detail from ops.job_of_ended_task
union all
select 'foreign_call_task' as invariant, task_id, detail from ops.foreign_call_task
union all
select 'twice_ended_call' as invariant, task_id, detail from ops.twice_ended_call
union all
select 'idle_session' as invariant, task_id, detail from ops.idle_session;

comment on view ops.invariant_violation is
'Everything that must never be and is, by the name of its view, whose comment says what it means and what to do. Cost: several passes over all tasks, attempts and events: look when something seems wrong, not every second.';
