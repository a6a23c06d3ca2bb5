-- migrate: no-transaction
-- Earlier identical reads, the newest first (contract 4.8).
-- squawk-ignore prefer-robust-stmts -- the runner removes what a broken run has left
create index concurrently task_content_address_idx on holdfast.task (content_address, created_at desc)
where content_address is not null;
