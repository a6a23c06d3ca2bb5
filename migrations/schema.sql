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
    constraint session_pkey PRIMARY KEY (id),
    constraint session_token_sha256_key UNIQUE (token_sha256),
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
