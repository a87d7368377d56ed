-- Version 2: who holds a task, and when each worker was last heard of.

-- The worker of the latest grant: workers.seq, or the number before the first one.
ALTER TABLE tasks ADD COLUMN worker INTEGER NOT NULL DEFAULT 2147483648;

-- Workers that were heard of within a day.
DROP TABLE workers;
CREATE TABLE workers (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT, -- never given out twice
    id          TEXT    NOT NULL UNIQUE,
    queues      TEXT    NOT NULL, -- names, separated by commas
    concurrency INTEGER NOT NULL,
    running     INTEGER NOT NULL,
    started_at  INTEGER,          -- NULL: it took tasks, and sent no heartbeat yet, or took its leave
    seen_at     INTEGER NOT NULL, -- its latest heartbeat
    expires_at  INTEGER NOT NULL, -- until when that one counts
    silence     INTEGER NOT NULL, -- how long it may be silent (ms)
    silent_at   INTEGER NOT NULL  -- until when its latest sign of life counts: a heartbeat, or a claim
) STRICT;
-- From here on numbers keep their stored width: see version 1.
INSERT INTO sqlite_sequence (name, seq) VALUES ('workers', 2147483648);

-- One row.
CREATE TABLE fleet (
    seen_at INTEGER NOT NULL -- when any worker was last heard of
) STRICT;
INSERT INTO fleet (seen_at) VALUES (0);

-- Work that is done at most once per key.
CREATE TABLE once (
    seq        INTEGER PRIMARY KEY,
    queue      INTEGER NOT NULL, -- queues.id
    key        TEXT    NOT NULL,
    holder     TEXT    NOT NULL, -- who began it: '<row of the task>.<number of the grant>.<number of the run>'
    result     BLOB,             -- NULL while it is in progress
    expires_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX once_by_key ON once (queue, key);
CREATE INDEX once_agenda ON once (queue, expires_at);
