-- The durable core: who may work where, tasks, attempts, results and artifacts.
--
-- Two rows describe a task that is not terminal. `task` holds the request and the public status and is written a few
-- times in its life. `live_task` holds what changes all the time (lease, fencing token, cancellation, progress); it is
-- the task's mutex: every transition locks or writes it first. It exists exactly as long as the task is not terminal,
-- so "is it still open?" and "may I write?" are one guard on one small row.
--
-- The schema `holdfast` is created by the migration runner, which keeps its own table there.

create schema if not exists ops;

create table holdfast.workspace (
    id text primary key,
    title text,
    -- A root is a folder that workers declare by name (HOLDFAST_ROOTS). A record can name a root, never a folder outside one.
    root text not null,
    -- Folder below the root, relative, `/` as separator; empty for the root itself.
    path text not null default '',
    created_at timestamptz not null default now(),
    constraint workspace_id_check check (id ~ '^[a-z][a-z0-9_-]{0,63}$'),
    constraint workspace_root_check check (root ~ '^[a-z][a-z0-9_-]{0,63}$'),
    constraint workspace_path_check check (
        path !~ '(^/)|(^|/)\.\.(/|$)|\\|[[:cntrl:]]'
    )
);

create table holdfast.access_grant (
    workspace_id text not null references holdfast.workspace (id) on delete cascade,
    issuer text not null,
    -- `principal`: member is a subject of the issuer; `group`: member is a group that the issuer's tokens carry.
    member_kind text not null,
    member text not null,
    actions text[] not null,
    expires_at timestamptz,
    created_at timestamptz not null default now(),
    primary key (workspace_id, issuer, member_kind, member),
    constraint access_grant_member_kind_check check (member_kind in ('principal', 'group')),
    constraint access_grant_actions_check check (
        cardinality(actions) > 0 and actions <@ array['read', 'run', 'write']
    )
);

create table holdfast.task (
    id uuid primary key,
    workspace_id text not null references holdfast.workspace (id),
    -- The owner: tasks are private to the principal that created them.
    issuer text not null,
    subject text not null,
    operation text not null,
    operation_version integer not null,
    effect text not null,
    -- Where it may run: workers declare the pools they serve and the roots they can reach.
    pool text not null,
    root text not null,
    input json not null,
    status text not null default 'working',
    status_message text,
    ttl_ms bigint not null,
    poll_interval_ms integer not null,
    created_at timestamptz not null default now(),
    last_updated_at timestamptz not null default now(),
    constraint task_effect_check check (effect in ('read', 'write')),
    constraint task_status_check check (
        status in ('working', 'input_required', 'completed', 'failed', 'cancelled')
    ),
    -- The name of a wake holds pool and root, and graphile-worker allows it 128 characters.
    constraint task_pool_check check (pool ~ '^[a-z][a-z0-9_-]{0,47}$'),
    constraint task_ttl_check check (ttl_ms > 0),
    constraint task_poll_interval_check check (poll_interval_ms > 0)
);

create table holdfast.live_task (
    task_id uuid primary key references holdfast.task (id) on delete cascade,
    -- Grows by one with each claim; every write of an attempt presents it.
    fencing_token integer not null default 0,
    -- Null while queued. Ownership is the token; the worker's id says whom to ask.
    worker_id uuid,
    -- By the database's clock.
    lease_expires_at timestamptz,
    cancel_requested_at timestamptz,
    -- Failed and lost attempts so far; interrupted ones are not counted.
    budget_spent smallint not null default 0,
    -- When the re-waker looks at it while it is queued: a job that was added with it has that long to arrive.
    wake_at timestamptz not null default now() + interval '5 seconds',
    progress_value double precision,
    progress_total double precision,
    -- A JSON string: `json` keeps escaped NULs and lone surrogates, which `text` refuses or loses.
    progress_message json,
    -- When clients last saw it change short of a settlement.
    progressed_at timestamptz,
    constraint live_task_lease_check check ((worker_id is null) = (lease_expires_at is null))
) with (
    -- Heartbeats rewrite rows all the time: room on each page keeps those updates within it (HOT).
    fillfactor = 70,
    -- Small and busy: clean up by count, not by share.
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 1000
);

-- Reaper: leases that may have expired. The expiry itself is not indexed, or no heartbeat could be a HOT update.
create index live_task_leased_idx on holdfast.live_task (worker_id) where worker_id is not null;
-- Re-waker: queued tasks whose wake may have been lost, oldest first.
create index live_task_wake_at_idx on holdfast.live_task (wake_at) where worker_id is null;

create table holdfast.attempt (
    task_id uuid not null references holdfast.task (id) on delete cascade,
    fencing_token integer not null,
    worker_id uuid not null,
    state text not null default 'running',
    started_at timestamptz not null default now(),
    ended_at timestamptz,
    error_code text,
    -- For operators: what happened, never shown to clients. A JSON string, because it comes from anywhere.
    error_detail json,
    primary key (task_id, fencing_token),
    constraint attempt_state_check check (
        state in ('running', 'succeeded', 'failed', 'cancelled', 'suspended', 'interrupted', 'lost')
    ),
    constraint attempt_ended_check check ((state = 'running') = (ended_at is null))
);

create table holdfast.task_result (
    task_id uuid primary key references holdfast.task (id) on delete cascade,
    -- The exact tool result. `json`, not `jsonb`: it keeps the bytes, and escaped NULs and lone surrogates with them.
    result json,
    error_code text,
    -- What a client can quote and an operator can search for.
    error_reference uuid,
    created_at timestamptz not null default now(),
    constraint task_result_kind_check check (num_nonnulls(result, error_code) = 1),
    constraint task_result_reference_check check ((error_code is null) = (error_reference is null))
);

-- The journal: who changed what, appended in the transaction that changed it. Audit, not source of truth.
create table holdfast.task_event (
    id bigint generated always as identity primary key,
    task_id uuid not null references holdfast.task (id) on delete cascade,
    kind text not null,
    -- Null when no attempt was involved.
    fencing_token integer,
    detail jsonb,
    created_at timestamptz not null default now()
);
create index task_event_task_id_idx on holdfast.task_event (task_id);

-- Bytes of artifacts, once per workspace whatever they are called.
create table holdfast.artifact_blob (
    workspace_id text not null references holdfast.workspace (id) on delete cascade,
    sha256 bytea not null,
    bytes bytea not null,
    created_at timestamptz not null default now(),
    primary key (workspace_id, sha256),
    constraint artifact_blob_sha256_check check (length(sha256) = 32)
);
-- Uncompressed, so that substring() of a range reads the chunks of that range and no others.
alter table holdfast.artifact_blob alter column bytes set storage external;

create table holdfast.artifact (
    workspace_id text not null,
    sha256 bytea not null,
    name text not null,
    media_type text not null,
    -- A JSON string, because operations choose it freely.
    title json,
    size_bytes bigint not null,
    created_at timestamptz not null default now(),
    primary key (workspace_id, sha256, name),
    foreign key (workspace_id, sha256) references holdfast.artifact_blob (workspace_id, sha256) on delete cascade
);

-- Which tasks stand behind an artifact; it lives at least as long as they do.
create table holdfast.task_artifact (
    task_id uuid not null references holdfast.task (id) on delete cascade,
    workspace_id text not null,
    sha256 bytea not null,
    name text not null,
    primary key (task_id, sha256, name),
    foreign key (workspace_id, sha256, name) references holdfast.artifact (workspace_id, sha256, name)
);
create index task_artifact_artifact_idx on holdfast.task_artifact (workspace_id, sha256, name);

-- Worker processes as they declare themselves. Says who could run what; decides nothing about a lease.
create table holdfast.worker (
    id uuid primary key,
    host text not null,
    pid integer not null,
    version text not null,
    pools text[] not null,
    roots text[] not null,
    operations text[] not null,
    slots integer not null,
    started_at timestamptz not null default now(),
    seen_at timestamptz not null default now()
);

create view ops.unclaimable_task as
select
    t.id as task_id,
    t.workspace_id,
    t.operation,
    t.pool,
    t.root,
    t.created_at,
    now() - t.created_at as waiting
from holdfast.live_task as l
inner join holdfast.task as t on t.id = l.task_id
where
    l.worker_id is null
    and not exists (
        select 1
        from holdfast.worker as w
        where
            w.seen_at > now() - interval '30 seconds'
            and t.pool = any(w.pools)
            and t.root = any(w.roots)
            and t.operation = any(w.operations)
    );

comment on view ops.unclaimable_task is
'Queued tasks that no live worker can claim: nobody seen in the last 30 seconds serves their pool, reaches their root and knows their operation. Cost: one pass over the queued tasks.';
