-- migrate: no-transaction
-- The tasks of a principal, the newest first: `tasks/list` of revision 2025-11-25 walks along it.
-- squawk-ignore prefer-robust-stmts -- the runner removes what a broken run has left
create index concurrently task_owner_idx on holdfast.task (issuer, subject, id desc);
