-- migrate: no-transaction
-- Terminal tasks that may be removed, by the moment they expire. In UTC, because an index takes no expression that depends on the
-- session's time zone.
-- squawk-ignore prefer-robust-stmts -- the runner removes what a broken run has left
create index concurrently task_expires_at_idx on holdfast.task ((created_at at time zone 'UTC' + ttl_ms * interval '1 millisecond'))
where status in ('completed', 'failed', 'cancelled') and not has_receipt;
