-- The embedded store, version 1. All instants are milliseconds since the Unix epoch by the store's clock.
--
-- Columns that change while a task lives keep their stored width (codes begin at 2, numbers start where SQLite needs
-- six bytes, instants are never NULL), so that a claim or a settle overwrites its row in place and splits no page.

CREATE TABLE queues (
    id            INTEGER PRIMARY KEY,
    name          TEXT    NOT NULL UNIQUE,
    turn          INTEGER NOT NULL, -- the last number given out: places in a band, and grants of leases
    last_dead     INTEGER NOT NULL, -- the key of the newest dead letter
    pending       INTEGER NOT NULL DEFAULT 0, -- the first four are of now, the rest cumulative
    queued        INTEGER NOT NULL DEFAULT 0,
    running       INTEGER NOT NULL DEFAULT 0,
    retrying      INTEGER NOT NULL DEFAULT 0,
    succeeded     INTEGER NOT NULL DEFAULT 0,
    failed        INTEGER NOT NULL DEFAULT 0,
    dead_lettered INTEGER NOT NULL DEFAULT 0,
    cancelled     INTEGER NOT NULL DEFAULT 0,
    expired       INTEGER NOT NULL DEFAULT 0,
    retries       INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE tasks (
    seq           INTEGER PRIMARY KEY,
    queue         INTEGER NOT NULL, -- queues.id
    uuid          BLOB    NOT NULL, -- 16 bytes
    status        INTEGER NOT NULL, -- codes: row.rs
    key           INTEGER NOT NULL, -- the order within the status: a place (queued), or the instant at which the
                                    -- status ends by itself: due (pending, retrying), lease end (running),
                                    -- end of retention (finished)
    token         INTEGER NOT NULL, -- the number of the latest grant
    settled       INTEGER NOT NULL, -- the verdict that ended that grant, to recognise its second copy
    attempt       INTEGER NOT NULL,
    priority      INTEGER NOT NULL,
    started_at    INTEGER NOT NULL, -- of the latest attempt
    finished_at   INTEGER NOT NULL, -- once the status is terminal
    enqueued_at   INTEGER NOT NULL,
    max_attempts  INTEGER NOT NULL,
    timeout_ms    INTEGER,
    retention_ms  INTEGER NOT NULL,
    dead_letter   INTEGER NOT NULL,
    ttl_ms        INTEGER,
    cancel_reason TEXT,             -- of a running task that was asked to stop
    name          TEXT    NOT NULL,
    payload       BLOB    NOT NULL,
    result        BLOB
) STRICT;

CREATE UNIQUE INDEX tasks_by_id ON tasks (queue, uuid);

-- One index serves the ready tasks, the schedule, the leases, the retention and the dead letters.
CREATE INDEX tasks_agenda ON tasks (queue, status, key);

-- Attempts that ended without success, the latest of each task.
CREATE TABLE attempts (
    task       INTEGER NOT NULL, -- tasks.seq
    n          INTEGER NOT NULL, -- 1, 2, ... in the order of writing
    number     INTEGER NOT NULL, -- the attempt's number
    started_at INTEGER NOT NULL,
    ended_at   INTEGER NOT NULL,
    kind       TEXT    NOT NULL,
    message    TEXT    NOT NULL,
    PRIMARY KEY (task, n)
) STRICT, WITHOUT ROWID;

-- One row holds a step's events of one queue (or one worker event, then queue is NULL). `upto` is the running number
-- of the last of them, so a range of rows is a range of events. The newest row is always kept: it is the counter.
CREATE TABLE events (
    upto  INTEGER PRIMARY KEY,
    at    INTEGER NOT NULL,
    queue INTEGER, -- queues.id
    batch BLOB    NOT NULL -- form: events.rs
) STRICT;

CREATE TABLE workers (
    id          TEXT    PRIMARY KEY,
    queues      TEXT    NOT NULL, -- names, separated by commas
    concurrency INTEGER NOT NULL,
    running     INTEGER NOT NULL,
    started_at  INTEGER NOT NULL,
    seen_at     INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
