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

-- The names of the tasks that a worker knows, with commas between them.
ALTER TABLE workers ADD COLUMN tasks TEXT NOT NULL DEFAULT '';
