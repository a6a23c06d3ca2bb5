-- What the whole task contract needs of the store: receipts and content addresses, input in mid-task, checkpoints, staged results
-- and the journal of writes.

-- ## Waiting for input
--
-- A parked task waits for its client, holds no lease and is nobody's to claim: the check also stops workers of the release before this
-- one. It keeps its row here, because it is not over. The table holds open tasks only, so that checking and indexing it takes no time.
alter table holdfast.live_task
    add column parked boolean not null default false,
    -- The address of an open read (contract 4.8): one identical read at a time. Taken away by a wish to cancel, so that nobody joins it.
    add column content_address bytea,
    -- True once a client holds a handle: from then on, no caller that goes away takes the task with it (contract 8.5).
    add column has_handle boolean not null default true,
    -- Ordinary calls that wait for it. A node that dies leaves its calls counted; that only keeps work alive that nobody reads.
    add column callers integer not null default 0,
    -- Grows with everything an attempt leaves for the next one: checkpoint, step, staged result, input request.
    add column checkpoint_version integer not null default 0,
    -- The version with which an attempt was last replaced after it died: the same one is never tried again (contract 5.5).
    add column retried_version integer not null default 0,
    -- squawk-ignore constraint-missing-not-valid
    add constraint live_task_parked_check check (not parked or worker_id is null),
    -- squawk-ignore constraint-missing-not-valid
    add constraint live_task_callers_check check (callers >= 0);

-- squawk-ignore require-concurrent-index-creation
create unique index live_task_content_address_idx on holdfast.live_task (content_address) where content_address is not null;
-- squawk-ignore require-concurrent-index-deletion
drop index holdfast.live_task_wake_at_idx;
-- squawk-ignore require-concurrent-index-creation
create index live_task_wake_at_idx on holdfast.live_task (wake_at) where worker_id is null and not parked;

create table holdfast.task_input (
    task_id uuid not null references holdfast.task (id) on delete cascade,
    -- Unique over the task's life: a key is asked once and answered once (contract 9.2).
    key text not null,
    method text not null,
    params json not null,
    answer json,
    asked_at timestamptz not null default now(),
    answered_at timestamptz,
    primary key (task_id, key),
    constraint task_input_method_check check (method in ('elicitation/create', 'sampling/createMessage', 'roots/list')),
    constraint task_input_answered_check check ((answer is null) = (answered_at is null))
);

-- ## What one attempt leaves for the next
--
-- Every record that decides what happens after a crash carries a seal: an HMAC with a key that the database does not hold.
create table holdfast.task_checkpoint (
    task_id uuid primary key references holdfast.task (id) on delete cascade,
    fencing_token integer not null,
    value json not null,
    -- Names the exact files that it was made from.
    source_revision text,
    seal text not null,
    saved_at timestamptz not null default now()
);

create table holdfast.task_step (
    task_id uuid not null references holdfast.task (id) on delete cascade,
    key text not null,
    fencing_token integer not null,
    value json not null,
    source_revision text,
    seal text not null,
    saved_at timestamptz not null default now(),
    primary key (task_id, key)
);

-- A result may be there before its task is over: it is staged then, and published by the settlement. What the files were that it
-- was made from decides whether a later identical read may have it; null when they changed meanwhile.
alter table holdfast.task_result
    add column source_revision text,
    add column seal text,
    -- The artifacts that it links: a list of { sha256, name }.
    add column artifacts json;

-- ## Identical requests
alter table holdfast.task
    -- The address of a read, for those that come after it; its index is the next migration.
    add column content_address bytea,
    -- A task with a receipt is never removed: kept here too, so that looking for what may go does not pass by all of those.
    add column has_receipt boolean not null default false,
    -- The owner's groups as its token named them: a grant that a write was submitted under is asked for again before it changes files.
    add column groups jsonb not null default '[]';

create table holdfast.receipt (
    -- SHA-256 over the five columns that follow, because together they may be longer than an index takes.
    address bytea primary key,
    issuer text not null,
    subject text not null,
    workspace_id text not null references holdfast.workspace (id),
    -- The workspace's root and path when the request was made: elsewhere, the same key is another request (contract 4.2).
    place text not null,
    request_key text not null,
    operation text not null,
    operation_version integer not null,
    input_sha256 bytea not null,
    task_id uuid not null references holdfast.task (id),
    seal text not null,
    created_at timestamptz not null default now(),
    renewed_at timestamptz,
    constraint receipt_address_check check (length(address) = 32),
    constraint receipt_request_key_check check (length(request_key) between 1 and 256),
    constraint receipt_input_sha256_check check (length(input_sha256) = 32)
);
create unique index receipt_task_id_idx on holdfast.receipt (task_id);

-- ## The journal of writes
--
-- At most one entry a task: the whole plan, bound before the first byte changes.
create table holdfast.journal_entry (
    task_id uuid primary key references holdfast.task (id) on delete cascade,
    workspace_id text not null,
    root text not null,
    state text not null default 'planned',
    -- The attempt that moved it last.
    fencing_token integer not null,
    -- What the task answers once the plan is committed: it is never planned again.
    result json not null,
    artifacts json not null,
    seal text not null,
    -- How often another attempt took it up.
    recoveries smallint not null default 0,
    -- For operators: what could not be decided, or which files somebody else had changed.
    detail json,
    created_at timestamptz not null default now(),
    moved_at timestamptz not null default now(),
    constraint journal_entry_state_check check (
        state in ('planned', 'applying', 'committed', 'rolling_back', 'restored', 'unresolved')
    )
);
-- One plan at a time writes below a root: workspaces may overlap there, and a plan's check of the files holds only while nobody else
-- of ours writes.
create unique index journal_entry_open_root_idx on holdfast.journal_entry (root)
where state in ('planned', 'applying', 'rolling_back');

create table holdfast.journal_file (
    task_id uuid not null references holdfast.journal_entry (task_id) on delete cascade,
    position integer not null,
    -- Relative to the workspace, with `/`. A JSON string, because file systems allow anything.
    path json not null,
    -- Null digests mean that the file is not there before or after. The bytes go once the task is over.
    before_sha256 bytea,
    before_bytes bytea,
    after_sha256 bytea,
    after_bytes bytea,
    primary key (task_id, position),
    constraint journal_file_before_check check (before_sha256 is null or length(before_sha256) = 32),
    constraint journal_file_after_check check (after_sha256 is null or length(after_sha256) = 32)
);
alter table holdfast.journal_file alter column before_bytes set storage external;
alter table holdfast.journal_file alter column after_bytes set storage external;
