-- What the migrations amount to: written by `npm run db:dump-schema`, read by reviewers, compared by a test.

create schema holdfast;
create schema ops;

create table holdfast.access_grant (
    workspace_id text not null,
    issuer text not null,
    member_kind text not null,
    member text not null,
    actions text[] not null,
    expires_at timestamp with time zone,
    created_at timestamp with time zone not null default now(),
    constraint access_grant_pkey PRIMARY KEY (workspace_id, issuer, member_kind, member),
    constraint access_grant_actions_check CHECK (((cardinality(actions) > 0) AND (actions <@ ARRAY['read'::text, 'run'::text, 'write'::text]))),
    constraint access_grant_member_kind_check CHECK ((member_kind = ANY (ARRAY['principal'::text, 'group'::text])))
);

create table holdfast.artifact (
    workspace_id text not null,
    sha256 bytea not null,
    name text not null,
    media_type text not null,
    title json,
    size_bytes bigint not null,
    created_at timestamp with time zone not null default now(),
    constraint artifact_pkey PRIMARY KEY (workspace_id, sha256, name)
);

create table holdfast.artifact_blob (
    workspace_id text not null,
    sha256 bytea not null,
    bytes bytea not null,
    created_at timestamp with time zone not null default now(),
    constraint artifact_blob_pkey PRIMARY KEY (workspace_id, sha256),
    constraint artifact_blob_sha256_check CHECK ((length(sha256) = 32))
);
alter table holdfast.artifact_blob alter column bytes set storage external;

create table holdfast.attempt (
    task_id uuid not null,
    fencing_token integer not null,
    worker_id uuid not null,
    state text not null default 'running'::text,
    started_at timestamp with time zone not null default now(),
    ended_at timestamp with time zone,
    error_code text,
    error_detail json,
    constraint attempt_pkey PRIMARY KEY (task_id, fencing_token),
    constraint attempt_ended_check CHECK (((state = 'running'::text) = (ended_at IS NULL))),
    constraint attempt_state_check CHECK ((state = ANY (ARRAY['running'::text, 'succeeded'::text, 'failed'::text, 'cancelled'::text, 'suspended'::text, 'interrupted'::text, 'lost'::text])))
);

create table holdfast.journal_entry (
    task_id uuid not null,
    workspace_id text not null,
    root text not null,
    state text not null default 'planned'::text,
    fencing_token integer not null,
    result json not null,
    artifacts json not null,
    seal text not null,
    recoveries smallint not null default 0,
    detail json,
    created_at timestamp with time zone not null default now(),
    moved_at timestamp with time zone not null default now(),
    constraint journal_entry_pkey PRIMARY KEY (task_id),
    constraint journal_entry_state_check CHECK ((state = ANY (ARRAY['planned'::text, 'applying'::text, 'committed'::text, 'rolling_back'::text, 'restored'::text, 'unresolved'::text])))
);
CREATE UNIQUE INDEX journal_entry_open_root_idx ON holdfast.journal_entry USING btree (root) WHERE (state = ANY (ARRAY['planned'::text, 'applying'::text, 'rolling_back'::text]));

create table holdfast.journal_file (
    task_id uuid not null,
    "position" integer not null,
    path json not null,
    before_sha256 bytea,
    before_bytes bytea,
    after_sha256 bytea,
    after_bytes bytea,
    constraint journal_file_pkey PRIMARY KEY (task_id, "position"),
    constraint journal_file_after_check CHECK (((after_sha256 IS NULL) OR (length(after_sha256) = 32))),
    constraint journal_file_before_check CHECK (((before_sha256 IS NULL) OR (length(before_sha256) = 32)))
);
alter table holdfast.journal_file alter column before_bytes set storage external;
alter table holdfast.journal_file alter column after_bytes set storage external;

create table holdfast.live_task (
    task_id uuid not null,
    fencing_token integer not null default 0,
    worker_id uuid,
    lease_expires_at timestamp with time zone,
    cancel_requested_at timestamp with time zone,
    budget_spent smallint not null default 0,
    wake_at timestamp with time zone not null default (now() + '00:00:05'::interval),
    progress_value double precision,
    progress_total double precision,
    progress_message json,
    progressed_at timestamp with time zone,
    parked boolean not null default false,
    content_address bytea,
    has_handle boolean not null default true,
    callers integer not null default 0,
    checkpoint_version integer not null default 0,
    retried_version integer not null default 0,
    constraint live_task_pkey PRIMARY KEY (task_id),
    constraint live_task_callers_check CHECK ((callers >= 0)),
    constraint live_task_lease_check CHECK (((worker_id IS NULL) = (lease_expires_at IS NULL))),
    constraint live_task_parked_check CHECK (((NOT parked) OR (worker_id IS NULL)))
) with (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 1000
);
CREATE UNIQUE INDEX live_task_content_address_idx ON holdfast.live_task USING btree (content_address) WHERE (content_address IS NOT NULL);
CREATE INDEX live_task_leased_idx ON holdfast.live_task USING btree (worker_id) WHERE (worker_id IS NOT NULL);
CREATE INDEX live_task_wake_at_idx ON holdfast.live_task USING btree (wake_at) WHERE ((worker_id IS NULL) AND (NOT parked));

create table holdfast.migration (
    version integer not null,
    name text not null,
    checksum text not null,
    breaking boolean not null,
    applied_at timestamp with time zone not null default now(),
    constraint migration_pkey PRIMARY KEY (version)
);

create table holdfast.receipt (
    address bytea not null,
    issuer text not null,
    subject text not null,
    workspace_id text not null,
    place text not null,
    request_key text not null,
    operation text not null,
    operation_version integer not null,
    input_sha256 bytea not null,
    task_id uuid not null,
    seal text not null,
    created_at timestamp with time zone not null default now(),
    renewed_at timestamp with time zone,
    constraint receipt_pkey PRIMARY KEY (address),
    constraint receipt_address_check CHECK ((length(address) = 32)),
    constraint receipt_input_sha256_check CHECK ((length(input_sha256) = 32)),
    constraint receipt_request_key_check CHECK (((length(request_key) >= 1) AND (length(request_key) <= 256)))
);
CREATE UNIQUE INDEX receipt_task_id_idx ON holdfast.receipt USING btree (task_id);

create table holdfast.session (
    id uuid not null,
    token_sha256 bytea not null,
    issuer text not null,
    subject text not null,
    revision text not null,
    capabilities json not null,
    client_name json not null,
    stream_epoch integer not null default 0,
    created_at timestamp with time zone not null default now(),
    seen_at timestamp with time zone not null default now(),
    log_level text,
    constraint session_pkey PRIMARY KEY (id),
    constraint session_token_sha256_key UNIQUE (token_sha256),
    constraint session_log_level_check CHECK ((log_level = ANY (ARRAY['debug'::text, 'info'::text, 'notice'::text, 'warning'::text, 'error'::text, 'critical'::text, 'alert'::text, 'emergency'::text]))),
    constraint session_token_sha256_check CHECK ((octet_length(token_sha256) = 32))
);
CREATE INDEX session_owner_idx ON holdfast.session USING btree (issuer, subject, seen_at DESC);
CREATE INDEX session_seen_at_idx ON holdfast.session USING btree (seen_at);

create table holdfast.session_call (
    id uuid not null,
    session_id uuid not null,
    request_id text not null,
    method text not null,
    params json not null,
    task_id uuid,
    as_task boolean not null,
    epoch integer not null default 0,
    request_state text,
    round_after integer not null default 0,
    created_at timestamp with time zone not null default now(),
    answered_at timestamp with time zone,
    cancelled_at timestamp with time zone,
    constraint session_call_pkey PRIMARY KEY (id)
);
CREATE INDEX session_call_answered_at_idx ON holdfast.session_call USING btree (answered_at) WHERE (answered_at IS NOT NULL);
CREATE INDEX session_call_session_id_idx ON holdfast.session_call USING btree (session_id, created_at DESC);

create table holdfast.session_question (
    call_id uuid not null,
    "position" integer not null,
    key text not null,
    method text not null,
    params json not null,
    answer json,
    constraint session_question_pkey PRIMARY KEY (call_id, "position"),
    constraint session_question_method_check CHECK ((method = ANY (ARRAY['elicitation/create'::text, 'sampling/createMessage'::text, 'roots/list'::text])))
);

create table holdfast.task (
    id uuid not null,
    workspace_id text not null,
    issuer text not null,
    subject text not null,
    operation text not null,
    operation_version integer not null,
    effect text not null,
    pool text not null,
    root text not null,
    input json not null,
    status text not null default 'working'::text,
    status_message text,
    ttl_ms bigint not null,
    poll_interval_ms integer not null,
    created_at timestamp with time zone not null default now(),
    last_updated_at timestamp with time zone not null default now(),
    content_address bytea,
    has_receipt boolean not null default false,
    groups jsonb not null default '[]'::jsonb,
    constraint task_pkey PRIMARY KEY (id),
    constraint task_effect_check CHECK ((effect = ANY (ARRAY['read'::text, 'write'::text]))),
    constraint task_poll_interval_check CHECK ((poll_interval_ms > 0)),
    constraint task_pool_check CHECK ((pool ~ '^[a-z][a-z0-9_-]{0,47}$'::text)),
    constraint task_status_check CHECK ((status = ANY (ARRAY['working'::text, 'input_required'::text, 'completed'::text, 'failed'::text, 'cancelled'::text]))),
    constraint task_ttl_check CHECK ((ttl_ms > 0))
);
CREATE INDEX task_content_address_idx ON holdfast.task USING btree (content_address, created_at DESC) WHERE (content_address IS NOT NULL);
CREATE INDEX task_expires_at_idx ON holdfast.task USING btree ((((created_at AT TIME ZONE 'UTC'::text) + ((ttl_ms)::double precision * '00:00:00.001'::interval)))) WHERE ((status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])) AND (NOT has_receipt));
CREATE INDEX task_owner_idx ON holdfast.task USING btree (issuer, subject, id DESC);

create table holdfast.task_artifact (
    task_id uuid not null,
    workspace_id text not null,
    sha256 bytea not null,
    name text not null,
    constraint task_artifact_pkey PRIMARY KEY (task_id, sha256, name)
);
CREATE INDEX task_artifact_artifact_idx ON holdfast.task_artifact USING btree (workspace_id, sha256, name);

create table holdfast.task_checkpoint (
    task_id uuid not null,
    fencing_token integer not null,
    value json not null,
    source_revision text,
    seal text not null,
    saved_at timestamp with time zone not null default now(),
    constraint task_checkpoint_pkey PRIMARY KEY (task_id)
);

create table holdfast.task_event (
    id bigint not null generated always as identity,
    task_id uuid not null,
    kind text not null,
    fencing_token integer,
    detail jsonb,
    created_at timestamp with time zone not null default now(),
    constraint task_event_pkey PRIMARY KEY (id)
);
CREATE INDEX task_event_task_id_idx ON holdfast.task_event USING btree (task_id);

create table holdfast.task_input (
    task_id uuid not null,
    key text not null,
    method text not null,
    params json not null,
    answer json,
    asked_at timestamp with time zone not null default now(),
    answered_at timestamp with time zone,
    constraint task_input_pkey PRIMARY KEY (task_id, key),
    constraint task_input_answered_check CHECK (((answer IS NULL) = (answered_at IS NULL))),
    constraint task_input_method_check CHECK ((method = ANY (ARRAY['elicitation/create'::text, 'sampling/createMessage'::text, 'roots/list'::text])))
);

create table holdfast.task_result (
    task_id uuid not null,
    result json,
    error_code text,
    error_reference uuid,
    created_at timestamp with time zone not null default now(),
    source_revision text,
    seal text,
    artifacts json,
    constraint task_result_pkey PRIMARY KEY (task_id),
    constraint task_result_kind_check CHECK ((num_nonnulls(result, error_code) = 1)),
    constraint task_result_reference_check CHECK (((error_code IS NULL) = (error_reference IS NULL)))
);

create table holdfast.task_step (
    task_id uuid not null,
    key text not null,
    fencing_token integer not null,
    value json not null,
    source_revision text,
    seal text not null,
    saved_at timestamp with time zone not null default now(),
    constraint task_step_pkey PRIMARY KEY (task_id, key)
);

create table holdfast.worker (
    id uuid not null,
    host text not null,
    pid integer not null,
    version text not null,
    pools text[] not null,
    roots text[] not null,
    operations text[] not null,
    slots integer not null,
    started_at timestamp with time zone not null default now(),
    seen_at timestamp with time zone not null default now(),
    constraint worker_pkey PRIMARY KEY (id)
);

create table holdfast.workspace (
    id text not null,
    title text,
    root text not null,
    path text not null default ''::text,
    created_at timestamp with time zone not null default now(),
    constraint workspace_pkey PRIMARY KEY (id),
    constraint workspace_id_check CHECK ((id ~ '^[a-z][a-z0-9_-]{0,63}$'::text)),
    constraint workspace_path_check CHECK ((path !~ '(^/)|(^|/)\.\.(/|$)|\\|[[:cntrl:]]'::text)),
    constraint workspace_root_check CHECK ((root ~ '^[a-z][a-z0-9_-]{0,63}$'::text))
);

CREATE OR REPLACE FUNCTION ops.wake_job()
 RETURNS TABLE(task_id uuid, run_at timestamp with time zone, is_fetchable boolean)
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
    return query
    select j.key::uuid, j.run_at, j.locked_at is null and j.attempts < j.max_attempts and j.run_at <= now()
    from graphile_worker.jobs as j
    where j.task_identifier like 'run-task/%' and j.key ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
end
$function$;
comment on routine ops.wake_job() is 'The jobs that wake workers for tasks. Cost: one pass over the queue.';

alter table holdfast.access_grant add constraint access_grant_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES holdfast.workspace(id) ON DELETE CASCADE;

alter table holdfast.artifact add constraint artifact_workspace_id_sha256_fkey FOREIGN KEY (workspace_id, sha256) REFERENCES holdfast.artifact_blob(workspace_id, sha256) ON DELETE CASCADE;

alter table holdfast.artifact_blob add constraint artifact_blob_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES holdfast.workspace(id) ON DELETE CASCADE;

alter table holdfast.attempt add constraint attempt_task_id_fkey FOREIGN KEY (task_id) REFERENCES holdfast.task(id) ON DELETE CASCADE;

alter table holdfast.journal_entry add constraint journal_entry_task_id_fkey FOREIGN KEY (task_id) REFERENCES holdfast.task(id) ON DELETE CASCADE;

alter table holdfast.journal_file add constraint journal_file_task_id_fkey FOREIGN KEY (task_id) REFERENCES holdfast.journal_entry(task_id) ON DELETE CASCADE;

alter table holdfast.live_task add constraint live_task_task_id_fkey FOREIGN KEY (task_id) REFERENCES holdfast.task(id) ON DELETE CASCADE;

alter table holdfast.receipt add constraint receipt_task_id_fkey FOREIGN KEY (task_id) REFERENCES holdfast.task(id);
alter table holdfast.receipt add constraint receipt_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES holdfast.workspace(id);

alter table holdfast.session_call add constraint session_call_session_id_fkey FOREIGN KEY (session_id) REFERENCES holdfast.session(id) ON DELETE CASCADE;

alter table holdfast.session_question add constraint session_question_call_id_fkey FOREIGN KEY (call_id) REFERENCES holdfast.session_call(id) ON DELETE CASCADE;

alter table holdfast.task add constraint task_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES holdfast.workspace(id);

alter table holdfast.task_artifact add constraint task_artifact_task_id_fkey FOREIGN KEY (task_id) REFERENCES holdfast.task(id) ON DELETE CASCADE;
alter table holdfast.task_artifact add constraint task_artifact_workspace_id_sha256_name_fkey FOREIGN KEY (workspace_id, sha256, name) REFERENCES holdfast.artifact(workspace_id, sha256, name);

alter table holdfast.task_checkpoint add constraint task_checkpoint_task_id_fkey FOREIGN KEY (task_id) REFERENCES holdfast.task(id) ON DELETE CASCADE;

alter table holdfast.task_event add constraint task_event_task_id_fkey FOREIGN KEY (task_id) REFERENCES holdfast.task(id) ON DELETE CASCADE;

alter table holdfast.task_input add constraint task_input_task_id_fkey FOREIGN KEY (task_id) REFERENCES holdfast.task(id) ON DELETE CASCADE;

alter table holdfast.task_result add constraint task_result_task_id_fkey FOREIGN KEY (task_id) REFERENCES holdfast.task(id) ON DELETE CASCADE;

alter table holdfast.task_step add constraint task_step_task_id_fkey FOREIGN KEY (task_id) REFERENCES holdfast.task(id) ON DELETE CASCADE;

create view ops.unclaimable_task as
 SELECT t.id AS task_id,
    t.workspace_id,
    t.operation,
    t.pool,
    t.root,
    t.created_at,
    (now() - t.created_at) AS waiting
   FROM (holdfast.live_task l
     JOIN holdfast.task t ON ((t.id = l.task_id)))
  WHERE ((l.worker_id IS NULL) AND (NOT (EXISTS ( SELECT 1
           FROM holdfast.worker w
          WHERE ((w.seen_at > (now() - '00:00:30'::interval)) AND (t.pool = ANY (w.pools)) AND (t.root = ANY (w.roots)) AND (t.operation = ANY (w.operations)))))));
comment on view ops.unclaimable_task is 'Queued tasks that no live worker can claim: nobody seen in the last 30 seconds serves their pool, reaches their root and knows their operation. Cost: one pass over the queued tasks.';

create view ops.unreaped_lease as
 SELECT task_id,
    jsonb_build_object('worker', worker_id, 'token', fencing_token, 'expired_for', ((now() - lease_expires_at))::text) AS detail
   FROM holdfast.live_task l
  WHERE ((worker_id IS NOT NULL) AND (lease_expires_at < (now() - '00:00:30'::interval)));
comment on view ops.unreaped_lease is 'A lease expired more than 30 seconds ago and nobody has reaped it, though every server and worker looks twice a second: no process of either kind reaches the database, or a session holds the row of live_task. Cost: one pass over the leased tasks, by index. Operator: see that a server or worker runs and is ready; end the session that pg_blocking_pids names. Nothing is to be repaired by hand: the first process that runs does it.';

create view ops.ended_task_with_mutex as
 SELECT t.id AS task_id,
    jsonb_build_object('status', t.status, 'worker', l.worker_id, 'token', l.fencing_token) AS detail
   FROM (holdfast.live_task l
     JOIN holdfast.task t ON ((t.id = l.task_id)))
  WHERE (t.status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text]));
comment on view ops.ended_task_with_mutex is 'A task is over and still has its row in live_task, so an attempt may still write for it. Settlement, cancellation and reaping end both in one statement: rows were changed by hand, or this is a defect. Cost: one pass over the open tasks. Operator: stop the worker that the detail names, delete the row of live_task, and report it.';

create view ops.open_task_without_mutex as
 SELECT id AS task_id,
    jsonb_build_object('status', status, 'created_at', created_at) AS detail
   FROM holdfast.task t
  WHERE ((status = ANY (ARRAY['working'::text, 'input_required'::text])) AND (NOT (EXISTS ( SELECT
           FROM holdfast.live_task l
          WHERE (l.task_id = t.id)))));
comment on view ops.open_task_without_mutex is 'A task is not over and has no row in live_task: nobody can claim, answer or cancel it, and it never ends. Rows were changed by hand, or this is a defect. Cost: one pass over all tasks. Operator: report it with the events of the task; its last event says how it ended, or who was the last to hold it.';

create view ops.attempt_without_lease as
 SELECT task_id,
    jsonb_build_object('token', fencing_token, 'worker', worker_id, 'started_at', started_at) AS detail
   FROM holdfast.attempt a
  WHERE ((state = 'running'::text) AND (NOT (EXISTS ( SELECT
           FROM holdfast.live_task l
          WHERE ((l.task_id = a.task_id) AND (l.fencing_token = a.fencing_token) AND (l.worker_id = a.worker_id))))));
comment on view ops.attempt_without_lease is 'An attempt counts as running and holds no lease. It can change nothing any more, but its end was not recorded: rows were changed by hand, or this is a defect. Cost: one pass over all attempts. Operator: report it with the events of the task.';

create view ops.lease_without_attempt as
 SELECT task_id,
    jsonb_build_object('worker', worker_id, 'token', fencing_token) AS detail
   FROM holdfast.live_task l
  WHERE ((worker_id IS NOT NULL) AND (NOT (EXISTS ( SELECT
           FROM holdfast.attempt a
          WHERE ((a.task_id = l.task_id) AND (a.fencing_token = l.fencing_token) AND (a.worker_id = l.worker_id) AND (a.state = 'running'::text))))));
comment on view ops.lease_without_attempt is 'A task is leased, and the attempt of its token is not running or is another worker''s: rows were changed by hand, or this is a defect. Cost: one look per leased task. Operator: report it; once the lease has expired the reaper frees the task.';

create view ops.astray_token as
 SELECT l.task_id,
    jsonb_build_object('token', l.fencing_token, 'newest_attempt', a.newest, 'attempts', a.number) AS detail
   FROM (holdfast.live_task l
     CROSS JOIN LATERAL ( SELECT COALESCE(max(p.fencing_token), 0) AS newest,
            count(*) AS number
           FROM holdfast.attempt p
          WHERE (p.task_id = l.task_id)) a)
  WHERE ((l.fencing_token <> a.newest) OR (l.fencing_token <> a.number));
comment on view ops.astray_token is 'The token of a task is not that of its newest attempt, or one is missing between: each claim grows the token by one and starts one attempt. With a token that went back, an attempt that is long over could write again. This is what a database restored in parts looks like. Cost: one look per open task. Operator: stop all workers, set the token to the greatest one of the task, and report it.';

create view ops.overspent_budget as
 SELECT l.task_id,
    jsonb_build_object('budget_spent', l.budget_spent, 'deaths', a.deaths, 'checkpoint', l.checkpoint_version, 'retried', l.retried_version) AS detail
   FROM (holdfast.live_task l
     CROSS JOIN LATERAL ( SELECT count(*) AS deaths
           FROM holdfast.attempt p
          WHERE ((p.task_id = l.task_id) AND (p.state = ANY (ARRAY['failed'::text, 'lost'::text])))) a)
  WHERE ((l.budget_spent > a.deaths) OR (l.retried_version > l.checkpoint_version));
comment on view ops.overspent_budget is 'A task has paid for more attempts than failed or were lost, or was tried again with a checkpoint that it never had: an interruption was charged (contract 5.5), or rows were changed by hand. It may fail too early. Cost: one look per open task. Operator: report it with the attempts of the task.';

create view ops.unwoken_task as
 SELECT l.task_id,
    jsonb_build_object('pool', t.pool, 'root', t.root, 'overdue_for', ((now() - l.wake_at))::text) AS detail
   FROM (holdfast.live_task l
     JOIN holdfast.task t ON ((t.id = l.task_id)))
  WHERE ((l.worker_id IS NULL) AND (NOT l.parked) AND (l.wake_at < (now() - '00:01:00'::interval)) AND (NOT (EXISTS ( SELECT
           FROM ops.wake_job() j(task_id, run_at, is_fetchable)
          WHERE ((j.task_id = l.task_id) AND j.is_fetchable)))));
comment on view ops.unwoken_task is 'A queued task should have been looked at by the re-waker more than a minute ago and has no job that a worker could fetch: no server or worker reaches the database, or a session holds the row of live_task. Cost: one pass over the queue. Operator: see that a server or worker runs and is ready; the first one that does adds the job. A task that has a job and does not start is in ops.unclaimable_task, or waits for a free slot.';

create view ops.misstated_parking as
 SELECT l.task_id,
    jsonb_build_object('status', t.status, 'parked', l.parked) AS detail
   FROM (holdfast.live_task l
     JOIN holdfast.task t ON ((t.id = l.task_id)))
  WHERE ((t.status = ANY (ARRAY['working'::text, 'input_required'::text])) AND (l.parked <> (t.status = 'input_required'::text)));
comment on view ops.misstated_parking is 'A task says that it waits for its client and is not parked, or the other way round: its client is asked for what nobody waits for, or is never asked. Rows were changed by hand, or this is a defect. Cost: one pass over the open tasks. Operator: report it with the events of the task; cancelling the task ends it.';

create view ops.parked_task_without_question as
 SELECT task_id,
    jsonb_build_object('parked_since', progressed_at) AS detail
   FROM holdfast.live_task l
  WHERE (parked AND (NOT (EXISTS ( SELECT
           FROM holdfast.task_input i
          WHERE ((i.task_id = l.task_id) AND (i.answer IS NULL))))));
comment on view ops.parked_task_without_question is 'A task is parked and has no open question: no answer can let it go on. The last answer resumes a task in the statement that takes it, so rows were changed by hand, or this is a defect. Cost: one look per open task. Operator: report it; cancelling the task ends it.';

create view ops.question_without_parked_task as
 SELECT i.task_id,
    jsonb_build_object('key', i.key, 'asked_at', i.asked_at, 'status', t.status) AS detail
   FROM (holdfast.task_input i
     JOIN holdfast.task t ON ((t.id = i.task_id)))
  WHERE ((i.answer IS NULL) AND (t.status <> 'input_required'::text));
comment on view ops.question_without_parked_task is 'A question is open and its task does not wait for the answer: the task would be resumed only once this one is answered too, which nobody can do. Rows were changed by hand, or this is a defect. Cost: one pass over all questions. Operator: delete the question of a task that is over; report one of a task that is open.';

create view ops.unheeded_cancellation as
 SELECT l.task_id,
    jsonb_build_object('wished_at', l.cancel_requested_at, 'parked', l.parked, 'journal', j.state) AS detail
   FROM (holdfast.live_task l
     LEFT JOIN holdfast.journal_entry j ON ((j.task_id = l.task_id)))
  WHERE ((l.worker_id IS NULL) AND (l.cancel_requested_at IS NOT NULL) AND ((j.state IS NULL) OR (j.state <> ALL (ARRAY['planned'::text, 'applying'::text, 'rolling_back'::text, 'committed'::text]))));
comment on view ops.unheeded_cancellation is 'A task is to be cancelled, nobody runs it, and no plan of a write stands in the way: it should be over (contract 8.2). Whoever queues or parks a task cancels it in the same statement, so rows were changed by hand, or this is a defect. Cost: one pass over the open tasks. Operator: report it; the next attempt learns of the wish when it starts.';

create view ops.unwanted_task as
 SELECT task_id,
    jsonb_build_object('worker', worker_id) AS detail
   FROM holdfast.live_task l
  WHERE ((callers = 0) AND (NOT has_handle) AND (cancel_requested_at IS NULL));
comment on view ops.unwanted_task is 'Nobody waits for an open task, no client holds its handle, and it is not to be cancelled, so it runs for nobody. The last caller that leaves cancels it (contract 8.5), so rows were changed by hand, or this is a defect. Cost: one pass over the open tasks. Operator: report it; the task ends by itself.';

create view ops.misheld_content_address as
 SELECT l.task_id,
    jsonb_build_object('address', encode(l.content_address, 'hex'::text), 'of_task', encode(t.content_address, 'hex'::text), 'cancel_requested_at', l.cancel_requested_at, 'has_receipt', t.has_receipt) AS detail
   FROM (holdfast.live_task l
     JOIN holdfast.task t ON ((t.id = l.task_id)))
  WHERE ((l.content_address IS NOT NULL) AND ((l.content_address IS DISTINCT FROM t.content_address) OR (l.cancel_requested_at IS NOT NULL) OR t.has_receipt));
comment on view ops.misheld_content_address is 'An open task holds a content address that is not its own, or although it is about to be cancelled, or although its request has a key: identical reads would join a task that does not answer them (contract 4.8). Rows were changed by hand, or this is a defect. Cost: one pass over the open tasks. Operator: set content_address of its row in live_task to null, and report it.';

create view ops.unversioned_checkpoint as
 SELECT l.task_id,
    jsonb_build_object('checkpoint', k.fencing_token, 'steps', s.number, 'newest_step', s.newest, 'staged', (r.task_id IS NOT NULL), 'journal', j.state, 'version', l.checkpoint_version, 'token', l.fencing_token) AS detail
   FROM ((((holdfast.live_task l
     LEFT JOIN holdfast.task_checkpoint k ON ((k.task_id = l.task_id)))
     LEFT JOIN holdfast.task_result r ON (((r.task_id = l.task_id) AND (r.seal IS NOT NULL))))
     LEFT JOIN holdfast.journal_entry j ON ((j.task_id = l.task_id)))
     CROSS JOIN LATERAL ( SELECT count(*) AS number,
            max(p.fencing_token) AS newest
           FROM holdfast.task_step p
          WHERE (p.task_id = l.task_id)) s)
  WHERE ((GREATEST(k.fencing_token, s.newest, j.fencing_token) > l.fencing_token) OR ((l.checkpoint_version = 0) AND ((k.task_id IS NOT NULL) OR (s.number > 0) OR (r.task_id IS NOT NULL) OR (j.task_id IS NOT NULL))));
comment on view ops.unversioned_checkpoint is 'An attempt left a checkpoint, a step, a result or a plan for the next one and the version of the task did not grow, so the next one is not given it; or what it left has a newer token than the task. Rows were changed by hand, or this is a defect. Cost: four looks per open task. Operator: report it. Where the detail names a journal, files may be half changed: look at holdfast.journal_file before anything else is done.';

create view ops.contradicted_attempt as
 SELECT t.id AS task_id,
    jsonb_build_object('status', t.status, 'attempts', jsonb_agg(jsonb_build_object('token', a.fencing_token, 'state', a.state))) AS detail
   FROM (holdfast.task t
     LEFT JOIN holdfast.attempt a ON ((a.task_id = t.id)))
  WHERE ((t.status = 'completed'::text) OR (a.state = ANY (ARRAY['succeeded'::text, 'cancelled'::text])))
  GROUP BY t.id
 HAVING (((t.status = 'completed'::text) <> (count(*) FILTER (WHERE (a.state = 'succeeded'::text)) = 1)) OR (count(*) FILTER (WHERE (a.state = 'succeeded'::text)) > 1) OR ((t.status <> 'cancelled'::text) AND bool_or((a.state = 'cancelled'::text))) OR (max(a.fencing_token) FILTER (WHERE (a.state = ANY (ARRAY['succeeded'::text, 'cancelled'::text]))) < ( SELECT max(p.fencing_token) AS max
           FROM holdfast.attempt p
          WHERE (p.task_id = t.id))));
comment on view ops.contradicted_attempt is 'A task is completed and not exactly one attempt of it succeeded, an attempt succeeded or was cancelled and its task says otherwise, or another attempt came after it: something was run again that was over, or rows were changed by hand. Cost: one pass over all tasks and attempts. Operator: report it with the events of the task; of a write, compare the files with what the task answered.';

create view ops.contradicted_outcome as
 SELECT t.id AS task_id,
    jsonb_build_object('status', t.status, 'has_result', (r.result IS NOT NULL), 'error', r.error_code, 'is_sealed', (r.seal IS NOT NULL)) AS detail
   FROM (holdfast.task t
     LEFT JOIN holdfast.task_result r ON ((r.task_id = t.id)))
  WHERE
        CASE t.status
            WHEN 'completed'::text THEN (r.result IS NULL)
            WHEN 'failed'::text THEN (r.error_code IS NULL)
            WHEN 'cancelled'::text THEN (r.task_id IS NOT NULL)
            ELSE ((r.error_code IS NOT NULL) OR ((r.result IS NOT NULL) AND (r.seal IS NULL)))
        END;
comment on view ops.contradicted_outcome is 'A completed task has no result, a failed one no error, a cancelled one has either, or an open one has something else than a staged result. Outcome and status are written by one statement: rows were changed by hand, or this is a defect. Cost: one pass over all tasks. Operator: report it with the events of the task; clients of such a task are answered with an internal error or with nothing.';

create view ops.miscounted_ending as
 SELECT t.id AS task_id,
    jsonb_build_object('status', t.status, 'endings', COALESCE(jsonb_agg(e.kind) FILTER (WHERE (e.id IS NOT NULL)), '[]'::jsonb)) AS detail
   FROM (holdfast.task t
     LEFT JOIN holdfast.task_event e ON (((e.task_id = t.id) AND (e.kind = ANY (ARRAY['task.completed'::text, 'task.failed'::text, 'task.cancelled'::text])))))
  GROUP BY t.id
 HAVING ((count(e.id) <>
        CASE
            WHEN (t.status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])) THEN 1
            ELSE 0
        END) OR bool_or((e.kind <> ('task.'::text || t.status))));
comment on view ops.miscounted_ending is 'A task that is over has not exactly one event that says so, or one that names another end; or an open task has one. A task that ended twice shows here. Cost: one pass over all tasks and events. Operator: report it with the events of the task; of a write, look at its journal and its files.';

create view ops.open_journal_of_ended_task as
 SELECT j.task_id,
    jsonb_build_object('status', t.status, 'journal', j.state, 'root', j.root, 'token', j.fencing_token) AS detail
   FROM (holdfast.journal_entry j
     JOIN holdfast.task t ON ((t.id = j.task_id)))
  WHERE ((j.state = ANY (ARRAY['planned'::text, 'applying'::text, 'rolling_back'::text])) AND (t.status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])));
comment on view ops.open_journal_of_ended_task is 'A task is over and its plan is not: files may be half changed, nobody will see to it, and no other plan is bound below the root. No ending is allowed with an open plan, so rows were changed by hand, or this is a defect. Cost: one look per open plan, by index. Operator: compare the files with holdfast.journal_file, restore them or finish the plan, then set the entry to ''unresolved'' with a detail that says so; and report it.';

create view ops.contradicted_journal as
 SELECT j.task_id,
    jsonb_build_object('status', t.status, 'effect', t.effect, 'journal', j.state, 'error', r.error_code, 'worker', l.worker_id) AS detail
   FROM (((holdfast.journal_entry j
     JOIN holdfast.task t ON ((t.id = j.task_id)))
     LEFT JOIN holdfast.task_result r ON ((r.task_id = j.task_id)))
     LEFT JOIN holdfast.live_task l ON ((l.task_id = j.task_id)))
  WHERE ((t.effect <> 'write'::text) OR ((j.state = 'committed'::text) AND (t.status = ANY (ARRAY['failed'::text, 'cancelled'::text]))) OR ((j.state = 'unresolved'::text) AND (l.task_id IS NOT NULL) AND (l.worker_id IS NULL)) OR ((j.state = 'unresolved'::text) AND (l.task_id IS NULL) AND (r.error_code IS DISTINCT FROM 'write_unresolved'::text)));
comment on view ops.contradicted_journal is 'The end of a write is not what its journal says: a committed plan of a task that was not completed, an unresolved one of a task that did not fail for it or that is queued again, or a plan of a task that writes nothing. Its client was told something wrong about its files, or this is a defect. Cost: one pass over the journal. Operator: compare the files with holdfast.journal_file, tell the owner, and report it.';

create view ops.unattended_journal as
 SELECT j.task_id,
    jsonb_build_object('journal', j.state, 'root', j.root, 'pool', t.pool, 'attempt', a.state, 'ended_at', a.ended_at) AS detail
   FROM (((holdfast.journal_entry j
     JOIN holdfast.task t ON ((t.id = j.task_id)))
     JOIN holdfast.live_task l ON ((l.task_id = j.task_id)))
     JOIN holdfast.attempt a ON (((a.task_id = l.task_id) AND (a.fencing_token = l.fencing_token))))
  WHERE ((j.state = ANY (ARRAY['planned'::text, 'applying'::text, 'rolling_back'::text])) AND (l.worker_id IS NULL) AND (a.ended_at < (now() - '00:01:00'::interval)));
comment on view ops.unattended_journal is 'A plan is open, the attempt that held it ended more than a minute ago, and no other one has taken it up: files may be half changed until then, and no other write below the root begins. Cost: one look per open plan, by index. Operator: start a worker that serves the pool and reaches the root (ops.unclaimable_task says whether there is one), or give the workers there more slots. Do not change the files meanwhile.';

create view ops.misplaced_journal_bytes as
 SELECT j.task_id,
    jsonb_build_object('journal', j.state, 'status', t.status, 'positions', jsonb_agg(f."position" ORDER BY f."position")) AS detail
   FROM ((holdfast.journal_entry j
     JOIN holdfast.task t ON ((t.id = j.task_id)))
     JOIN holdfast.journal_file f ON ((f.task_id = j.task_id)))
  WHERE (((j.state = ANY (ARRAY['committed'::text, 'restored'::text])) AND (t.status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])) AND (num_nonnulls(f.before_bytes, f.after_bytes) > 0)) OR ((j.state = ANY (ARRAY['planned'::text, 'applying'::text, 'rolling_back'::text])) AND (((f.before_sha256 IS NULL) <> (f.before_bytes IS NULL)) OR ((f.after_sha256 IS NULL) <> (f.after_bytes IS NULL)))))
  GROUP BY j.task_id, j.state, t.status;
comment on view ops.misplaced_journal_bytes is 'An open plan lacks the bytes of a file, so it can neither be finished nor taken back; or a plan that is settled keeps bytes for a task that is over, which takes room for nothing. Rows were changed by hand, or this is a defect. Cost: one pass over the journal, without reading the bytes. Operator: with an open plan, keep the files as they are and restore the bytes from a backup; else set both columns to null. Report either.';

create view ops.contradicted_receipt as
 SELECT r.task_id,
    jsonb_build_object('address_fits', (r.address = sha256(convert_to((jsonb_build_array(r.issuer, r.subject, r.workspace_id, r.place, r.request_key))::text, 'UTF8'::name))), 'owner_fits', ((r.issuer = t.issuer) AND (r.subject = t.subject) AND (r.workspace_id = t.workspace_id)), 'operation_fits', ((r.operation = t.operation) AND (r.operation_version = t.operation_version)), 'is_kept', t.has_receipt) AS detail
   FROM (holdfast.receipt r
     JOIN holdfast.task t ON ((t.id = r.task_id)))
  WHERE ((r.address <> sha256(convert_to((jsonb_build_array(r.issuer, r.subject, r.workspace_id, r.place, r.request_key))::text, 'UTF8'::name))) OR (r.issuer <> t.issuer) OR (r.subject <> t.subject) OR (r.workspace_id <> t.workspace_id) OR (r.operation <> t.operation) OR (r.operation_version <> t.operation_version) OR (NOT t.has_receipt))
UNION ALL
 SELECT t.id AS task_id,
    jsonb_build_object('is_missing', true) AS detail
   FROM holdfast.task t
  WHERE (t.has_receipt AND (NOT (EXISTS ( SELECT
           FROM holdfast.receipt r
          WHERE (r.task_id = t.id)))));
comment on view ops.contradicted_receipt is 'A receipt names a task of another owner, workspace or operation, is kept under an address that is not that of its columns, or its task may be removed; or a task counts as having a receipt that is not there. Somebody who repeats the request gets an error, another task, or a second execution. Rows were changed by hand. Cost: one pass over all receipts and tasks. Operator: restore the receipts from a backup; a receipt whose seal does not fit is never believed meanwhile.';

create view ops.overdue_task as
 SELECT id AS task_id,
    jsonb_build_object('status', status, 'created_at', created_at, 'ttl_ms', ttl_ms) AS detail
   FROM holdfast.task t
  WHERE ((status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])) AND (NOT has_receipt) AND (((created_at AT TIME ZONE 'UTC'::text) + ((ttl_ms)::double precision * '00:00:00.001'::interval)) < ((now() AT TIME ZONE 'UTC'::text) - '02:00:00'::interval)));
comment on view ops.overdue_task is 'The time of an ended task passed more than two hours ago, and the task, with its checkpoints, result and links to artifacts, is still there: nothing removes what has expired, or a session holds the rows. Nobody sees such a task; it takes room. Cost: what it finds, by index. Operator: see that a server or worker runs and that its log has no errors about expiry.';

create view ops.unanswered_task as
 SELECT l.task_id,
    jsonb_build_object('last_updated_at', t.last_updated_at, 'ttl_ms', t.ttl_ms) AS detail
   FROM (holdfast.live_task l
     JOIN holdfast.task t ON ((t.id = l.task_id)))
  WHERE (l.parked AND ((t.last_updated_at + ((t.ttl_ms)::double precision * '00:00:00.001'::interval)) < (now() - '02:00:00'::interval)));
comment on view ops.unanswered_task is 'A task has waited for its client for the whole time that its result would have been kept, and two hours longer, without being cancelled (contract 9.4): no server runs, or a session holds the row. Cost: one pass over the open tasks. Operator: see that a server runs and that its log has no errors about expiry.';

create view ops.unlinked_artifact as
 SELECT NULL::uuid AS task_id,
    jsonb_build_object('workspace', a.workspace_id, 'sha256', encode(a.sha256, 'hex'::text), 'name', a.name) AS detail
   FROM holdfast.artifact a
  WHERE (NOT (EXISTS ( SELECT
           FROM holdfast.task_artifact x
          WHERE ((x.workspace_id = a.workspace_id) AND (x.sha256 = a.sha256) AND (x.name = a.name)))))
UNION ALL
 SELECT NULL::uuid AS task_id,
    jsonb_build_object('workspace', b.workspace_id, 'sha256', encode(b.sha256, 'hex'::text)) AS detail
   FROM holdfast.artifact_blob b
  WHERE (NOT (EXISTS ( SELECT
           FROM holdfast.artifact a
          WHERE ((a.workspace_id = b.workspace_id) AND (a.sha256 = b.sha256)))));
comment on view ops.unlinked_artifact is 'No task links an artifact, or no artifact names bytes: they take room and nothing will remove them. An artifact goes with its last task, so tasks were deleted by hand, or this is a defect. Cost: one pass over all artifacts, without reading the bytes. Operator: delete the rows of artifact, then those of artifact_blob, while no worker runs; report it when nobody deleted tasks.';

create view ops.contradicted_artifact as
 SELECT ( SELECT x.task_id
           FROM holdfast.task_artifact x
          WHERE ((x.workspace_id = a.workspace_id) AND (x.sha256 = a.sha256) AND (x.name = a.name))
         LIMIT 1) AS task_id,
    jsonb_build_object('workspace', a.workspace_id, 'sha256', encode(a.sha256, 'hex'::text), 'name', a.name, 'size', a.size_bytes, 'bytes', octet_length(b.bytes)) AS detail
   FROM (holdfast.artifact a
     JOIN holdfast.artifact_blob b ON (((b.workspace_id = a.workspace_id) AND (b.sha256 = a.sha256))))
  WHERE (a.size_bytes <> octet_length(b.bytes));
comment on view ops.contradicted_artifact is 'The bytes of an artifact are not as many as were stored: somebody changed them. Cost: one pass over all artifacts, without reading the bytes. Operator: restore the row of artifact_blob from a backup. To compare the digests as well, which reads all bytes, look for rows of artifact_blob with sha256 <> sha256(bytes).';

create view ops.unlinked_result_artifact as
 SELECT k.task_id,
    jsonb_build_object('kept_by', k.kept_by, 'sha256', (n.value ->> 'sha256'::text), 'name', (n.value ->> 'name'::text)) AS detail
   FROM (( SELECT r.task_id,
            'result'::text AS kept_by,
            r.artifacts
           FROM holdfast.task_result r
          WHERE (r.artifacts IS NOT NULL)
        UNION ALL
         SELECT j.task_id,
            'journal'::text AS kept_by,
            j.artifacts
           FROM holdfast.journal_entry j) k
     CROSS JOIN LATERAL json_array_elements(k.artifacts) n(value))
  WHERE (NOT (EXISTS ( SELECT
           FROM holdfast.task_artifact x
          WHERE ((x.task_id = k.task_id) AND (encode(x.sha256, 'hex'::text) = (n.value ->> 'sha256'::text)) AND (x.name = (n.value ->> 'name'::text))))));
comment on view ops.unlinked_result_artifact is 'A result, or a plan of a write, names an artifact that its task does not link, so the artifact may be removed before the result. Rows were changed by hand, or this is a defect. Cost: one pass over all staged and sealed results and the journal. Operator: insert the link into task_artifact, if the artifact is still there; and report it.';

create view ops.job_of_ended_task as
 SELECT task_id,
    jsonb_build_object('due_since', run_at) AS detail
   FROM ops.wake_job() j(task_id, run_at, is_fetchable)
  WHERE (is_fetchable AND (run_at < (now() - '02:00:00'::interval)) AND (NOT (EXISTS ( SELECT
           FROM holdfast.live_task l
          WHERE (l.task_id = j.task_id)))));
comment on view ops.job_of_ended_task is 'A job for a task that is over, or that does not exist, has been ready for more than two hours and no worker has fetched it. It does no harm: a worker that fetches it finds nothing to claim and forgets it. Cost: one pass over the queue. Operator: start a worker that serves the pool and root that the job is for, or let graphile_worker.complete_jobs remove it.';

create view ops.foreign_call_task as
 SELECT c.task_id,
    jsonb_build_object('session', c.session_id, 'call', c.id, 'method', c.method) AS detail
   FROM ((holdfast.session_call c
     JOIN holdfast.session s ON ((s.id = c.session_id)))
     JOIN holdfast.task t ON ((t.id = c.task_id)))
  WHERE ((t.issuer <> s.issuer) OR (t.subject <> s.subject));
comment on view ops.foreign_call_task is 'A call of a session waits for a task of another principal than that of the session. Each look at the task asks for the owner again, so the client gets nothing; but rows were changed by hand, or this is a defect. Cost: one look per call of a session. Operator: end the session by deleting its row, and report it.';

create view ops.twice_ended_call as
 SELECT task_id,
    jsonb_build_object('session', session_id, 'call', id, 'request', request_id) AS detail
   FROM holdfast.session_call c
  WHERE ((answered_at IS NOT NULL) AND (cancelled_at IS NOT NULL));
comment on view ops.twice_ended_call is 'A call of a session was answered and cancelled, of which only one can come first: its task may have been given up although somebody was told its result. Rows were changed by hand, or this is a defect. Cost: one pass over the calls of sessions. Operator: report it with the events of the task.';

create view ops.idle_session as
 SELECT NULL::uuid AS task_id,
    jsonb_build_object('session', id, 'seen_at', seen_at) AS detail
   FROM holdfast.session s
  WHERE (seen_at < (now() - '26:00:00'::interval));
comment on view ops.idle_session is 'A session that nobody has used for a day, and two hours longer, is still there. Nobody can use it any more; it takes room. Cost: what it finds, by index. Operator: see that a server runs and that its log has no errors about expiry.';

create view ops.invariant_violation as
 SELECT 'unreaped_lease'::text AS invariant,
    unreaped_lease.task_id,
    unreaped_lease.detail
   FROM ops.unreaped_lease
UNION ALL
 SELECT 'ended_task_with_mutex'::text AS invariant,
    ended_task_with_mutex.task_id,
    ended_task_with_mutex.detail
   FROM ops.ended_task_with_mutex
UNION ALL
 SELECT 'open_task_without_mutex'::text AS invariant,
    open_task_without_mutex.task_id,
    open_task_without_mutex.detail
   FROM ops.open_task_without_mutex
UNION ALL
 SELECT 'attempt_without_lease'::text AS invariant,
    attempt_without_lease.task_id,
    attempt_without_lease.detail
   FROM ops.attempt_without_lease
UNION ALL
 SELECT 'lease_without_attempt'::text AS invariant,
    lease_without_attempt.task_id,
    lease_without_attempt.detail
   FROM ops.lease_without_attempt
UNION ALL
 SELECT 'astray_token'::text AS invariant,
    astray_token.task_id,
    astray_token.detail
   FROM ops.astray_token
UNION ALL
 SELECT 'overspent_budget'::text AS invariant,
    overspent_budget.task_id,
    overspent_budget.detail
   FROM ops.overspent_budget
UNION ALL
 SELECT 'unwoken_task'::text AS invariant,
    unwoken_task.task_id,
    unwoken_task.detail
   FROM ops.unwoken_task
UNION ALL
 SELECT 'misstated_parking'::text AS invariant,
    misstated_parking.task_id,
    misstated_parking.detail
   FROM ops.misstated_parking
UNION ALL
 SELECT 'parked_task_without_question'::text AS invariant,
    parked_task_without_question.task_id,
    parked_task_without_question.detail
   FROM ops.parked_task_without_question
UNION ALL
 SELECT 'question_without_parked_task'::text AS invariant,
    question_without_parked_task.task_id,
    question_without_parked_task.detail
   FROM ops.question_without_parked_task
UNION ALL
 SELECT 'unheeded_cancellation'::text AS invariant,
    unheeded_cancellation.task_id,
    unheeded_cancellation.detail
   FROM ops.unheeded_cancellation
UNION ALL
 SELECT 'unwanted_task'::text AS invariant,
    unwanted_task.task_id,
    unwanted_task.detail
   FROM ops.unwanted_task
UNION ALL
 SELECT 'misheld_content_address'::text AS invariant,
    misheld_content_address.task_id,
    misheld_content_address.detail
   FROM ops.misheld_content_address
UNION ALL
 SELECT 'unversioned_checkpoint'::text AS invariant,
    unversioned_checkpoint.task_id,
    unversioned_checkpoint.detail
   FROM ops.unversioned_checkpoint
UNION ALL
 SELECT 'contradicted_attempt'::text AS invariant,
    contradicted_attempt.task_id,
    contradicted_attempt.detail
   FROM ops.contradicted_attempt
UNION ALL
 SELECT 'contradicted_outcome'::text AS invariant,
    contradicted_outcome.task_id,
    contradicted_outcome.detail
   FROM ops.contradicted_outcome
UNION ALL
 SELECT 'miscounted_ending'::text AS invariant,
    miscounted_ending.task_id,
    miscounted_ending.detail
   FROM ops.miscounted_ending
UNION ALL
 SELECT 'open_journal_of_ended_task'::text AS invariant,
    open_journal_of_ended_task.task_id,
    open_journal_of_ended_task.detail
   FROM ops.open_journal_of_ended_task
UNION ALL
 SELECT 'contradicted_journal'::text AS invariant,
    contradicted_journal.task_id,
    contradicted_journal.detail
   FROM ops.contradicted_journal
UNION ALL
 SELECT 'unattended_journal'::text AS invariant,
    unattended_journal.task_id,
    unattended_journal.detail
   FROM ops.unattended_journal
UNION ALL
 SELECT 'misplaced_journal_bytes'::text AS invariant,
    misplaced_journal_bytes.task_id,
    misplaced_journal_bytes.detail
   FROM ops.misplaced_journal_bytes
UNION ALL
 SELECT 'contradicted_receipt'::text AS invariant,
    contradicted_receipt.task_id,
    contradicted_receipt.detail
   FROM ops.contradicted_receipt
UNION ALL
 SELECT 'overdue_task'::text AS invariant,
    overdue_task.task_id,
    overdue_task.detail
   FROM ops.overdue_task
UNION ALL
 SELECT 'unanswered_task'::text AS invariant,
    unanswered_task.task_id,
    unanswered_task.detail
   FROM ops.unanswered_task
UNION ALL
 SELECT 'unlinked_artifact'::text AS invariant,
    unlinked_artifact.task_id,
    unlinked_artifact.detail
   FROM ops.unlinked_artifact
UNION ALL
 SELECT 'contradicted_artifact'::text AS invariant,
    contradicted_artifact.task_id,
    contradicted_artifact.detail
   FROM ops.contradicted_artifact
UNION ALL
 SELECT 'unlinked_result_artifact'::text AS invariant,
    unlinked_result_artifact.task_id,
    unlinked_result_artifact.detail
   FROM ops.unlinked_result_artifact
UNION ALL
 SELECT 'job_of_ended_task'::text AS invariant,
    job_of_ended_task.task_id,
    job_of_ended_task.detail
   FROM ops.job_of_ended_task
UNION ALL
 SELECT 'foreign_call_task'::text AS invariant,
    foreign_call_task.task_id,
    foreign_call_task.detail
   FROM ops.foreign_call_task
UNION ALL
 SELECT 'twice_ended_call'::text AS invariant,
    twice_ended_call.task_id,
    twice_ended_call.detail
   FROM ops.twice_ended_call
UNION ALL
 SELECT 'idle_session'::text AS invariant,
    idle_session.task_id,
    idle_session.detail
   FROM ops.idle_session;
comment on view ops.invariant_violation is 'Everything that must never be and is, by the name of its view, whose comment says what it means and what to do. Cost: several passes over all tasks, attempts and events: look when something seems wrong, not every second.';
