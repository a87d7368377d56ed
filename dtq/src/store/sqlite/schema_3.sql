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

-- Schedules: who made them, and when they fire.
ALTER TABLE queues ADD COLUMN tick_at INTEGER; -- the earliest look_at of its schedules
CREATE TABLE schedules (
    seq            INTEGER PRIMARY KEY,
    queue          INTEGER NOT NULL, -- queues.id
    name           TEXT    NOT NULL,
    spec           TEXT    NOT NULL, -- what was said of it: definition.rs
    payload        BLOB    NOT NULL,
    in_code        INTEGER NOT NULL, -- 1: declared by workers, 0: made by a client
    revision       INTEGER NOT NULL,
    paused         INTEGER NOT NULL,
    left_at        INTEGER,          -- when it was found that nobody declares it
    stamp          INTEGER NOT NULL, -- of the worker whose code it is
    declared_until INTEGER NOT NULL,
    since          INTEGER NOT NULL,
    next_at        INTEGER,          -- the next tick; NULL until it is reckoned
    look_at        INTEGER,          -- when a worker looks at it next; NULL while it is paused
    last_at        INTEGER,          -- the latest tick that fired
    last_task      BLOB,             -- uuid
    fired          INTEGER NOT NULL,
    passed         INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX schedules_by_name ON schedules (queue, name);
CREATE INDEX schedules_agenda ON schedules (queue, look_at);
