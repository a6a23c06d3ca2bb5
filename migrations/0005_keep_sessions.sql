-- Clients of the revisions from 2025 have sessions, and calls whose answers may be fetched over another connection. No node remembers
-- either of them: whatever one needs to go on where another one stopped is here.

create table holdfast.session (
    -- Names the session among nodes; what clients know is another name.
    id uuid primary key,
    -- Of the name that the client holds, which is a secret: whoever reads this table can take over no session.
    token_sha256 bytea not null,
    issuer text not null,
    subject text not null,
    revision text not null,
    -- What the client said that it can do. `json`, because it comes from anywhere.
    capabilities json not null,
    -- For operators.
    client_name json not null,
    -- Grows when a client opens a stream for what concerns no call: of several streams the newest carries it.
    stream_epoch integer not null default 0,
    created_at timestamptz not null default now(),
    -- Moved at most once a minute.
    seen_at timestamptz not null default now(),
    constraint session_token_sha256_key unique (token_sha256),
    constraint session_token_sha256_check check (octet_length(token_sha256) = 32)
);

create index session_owner_idx on holdfast.session (issuer, subject, seen_at desc);
create index session_seen_at_idx on holdfast.session (seen_at);

-- A request of a session that takes its time. Its answer is made from the task, so it is not kept here.
create table holdfast.session_call (
    id uuid primary key,
    session_id uuid not null references holdfast.session (id) on delete cascade,
    -- As JSON text, since `1` and `"1"` are two ids.
    request_id text not null,
    method text not null,
    params json not null,
    -- Null before there is a task. No foreign key: the task may expire before the call is forgotten.
    task_id uuid,
    -- Whether the answer is the task itself and not its result.
    as_task boolean not null,
    -- Grows with each node that takes the call over; an older one may not ask or answer any more.
    epoch integer not null default 0,
    -- Of the newest round of questions: the state that goes with its answers, and the last position before it.
    request_state text,
    round_after integer not null default 0,
    created_at timestamptz not null default now(),
    answered_at timestamptz,
    cancelled_at timestamptz
);

create index session_call_session_id_idx on holdfast.session_call (session_id, created_at desc);
create index session_call_answered_at_idx on holdfast.session_call (answered_at) where answered_at is not null;

-- What a call asks its client, under an id that any node understands.
create table holdfast.session_question (
    call_id uuid not null references holdfast.session_call (id) on delete cascade,
    position integer not null,
    key text not null,
    method text not null,
    params json not null,
    -- The JSON-RPC answer without its frame; an error is one too.
    answer json,
    primary key (call_id, position),
    constraint session_question_method_check check (
        method in ('elicitation/create', 'sampling/createMessage', 'roots/list')
    )
);
