-- Version 3: the life of a task.

-- What was done by hand, the latest of each queue.
CREATE TABLE audit (
    seq    INTEGER PRIMARY KEY AUTOINCREMENT, -- never given out twice: a place to read on from
    queue  INTEGER NOT NULL, -- queues.id
    at     INTEGER NOT NULL,
    action TEXT    NOT NULL,
    target TEXT    NOT NULL,
    tasks  INTEGER NOT NULL, -- how many it reached
    actor  TEXT    NOT NULL,
    reason TEXT    NOT NULL
) STRICT;
CREATE INDEX audit_by_queue ON audit (queue, seq);

-- Keys: idempotency and unique keys of tasks. A task's rows go with it, except that of a period that is not over.
ALTER TABLE tasks ADD COLUMN keyed INTEGER NOT NULL DEFAULT 0; -- codes: keys.rs; 0: it has no row here
CREATE TABLE keys (
    seq        INTEGER PRIMARY KEY,
    queue      INTEGER NOT NULL, -- queues.id
    kind       INTEGER NOT NULL, -- idempotency or unique; codes: keys.rs
    key        TEXT    NOT NULL, -- of a unique key: '<task>/<key>'
    held       INTEGER NOT NULL, -- whether it is the task's own: of each key, one row at most
    task       INTEGER NOT NULL, -- tasks.seq; 0: the task is gone
    uuid       BLOB    NOT NULL, -- 16 bytes, the task's
    until      INTEGER NOT NULL, -- of a unique key: codes of `Until`
    time_ms    INTEGER NOT NULL, -- how long the key is remembered; the period
    expires_at INTEGER NOT NULL  -- when it is free by itself; the last instant there is while it is not
) STRICT;
CREATE UNIQUE INDEX keys_held ON keys (queue, kind, key) WHERE held = 1;
CREATE INDEX keys_of_task ON keys (task);
