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

-- What running tasks tell of themselves, and which of them were asked to stop.

-- What of the following two tables belongs to the task, bit by bit: notes.rs.
ALTER TABLE tasks ADD COLUMN noted INTEGER NOT NULL DEFAULT 0;

CREATE TABLE notes (
    task       INTEGER PRIMARY KEY, -- tasks.seq
    done       INTEGER,             -- progress in millionths, NULL: none was told
    message    TEXT,
    attempt    INTEGER,             -- that told the progress
    at         INTEGER,             -- when it did
    checkpoint BLOB,
    lines_of   INTEGER,             -- the grant that wrote to the log last
    lines      INTEGER              -- how many lines it wrote
) STRICT;

-- The latest lines of each task's log.
CREATE TABLE log (
    task    INTEGER NOT NULL, -- tasks.seq
    n       INTEGER NOT NULL, -- 1, 2, ... in the order of writing
    at      INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    text    TEXT    NOT NULL,
    PRIMARY KEY (task, n)
) STRICT, WITHOUT ROWID;

-- Running tasks that were asked to stop, in the order in which they were.
CREATE TABLE stops (
    seq   INTEGER PRIMARY KEY AUTOINCREMENT,
    task  INTEGER NOT NULL UNIQUE, -- tasks.seq
    queue INTEGER NOT NULL,        -- queues.id
    uuid  BLOB    NOT NULL
) STRICT;
