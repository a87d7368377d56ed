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

-- What was done by hand to finished tasks. Rows that were never requeued or discarded pay a byte each.
ALTER TABLE tasks ADD COLUMN requeues INTEGER NOT NULL DEFAULT 0;    -- how often
ALTER TABLE tasks ADD COLUMN earlier INTEGER NOT NULL DEFAULT 0;     -- attempts of the lives before the latest one
ALTER TABLE tasks ADD COLUMN requeued_at INTEGER NOT NULL DEFAULT 0; -- when last; the time to live counts from here
ALTER TABLE tasks ADD COLUMN discarded_at INTEGER;                   -- of a dead letter that was taken off the list
