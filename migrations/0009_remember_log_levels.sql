-- From which level on a session's client wants to be told what its operations say of their progress; null until it says so.
alter table holdfast.session
    add column log_level text,
    -- squawk-ignore constraint-missing-not-valid -- sessions are few, and the column is new
    add constraint session_log_level_check check (
        log_level in ('debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency')
    );
