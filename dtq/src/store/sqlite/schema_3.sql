-- Version 3: keys under which tasks are enqueued once.

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
