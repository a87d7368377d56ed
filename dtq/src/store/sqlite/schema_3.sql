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
-- What holds a queue back.
ALTER TABLE queues ADD COLUMN paused_at INTEGER;                      -- NULL while it is not paused
ALTER TABLE queues ADD COLUMN paused_by TEXT NOT NULL DEFAULT '';
ALTER TABLE queues ADD COLUMN paused_why TEXT NOT NULL DEFAULT '';
ALTER TABLE queues ADD COLUMN max_depth INTEGER;                      -- NULL: no limit
ALTER TABLE queues ADD COLUMN concurrency INTEGER;                    -- NULL: no limit
ALTER TABLE queues ADD COLUMN by_kind INTEGER NOT NULL DEFAULT 0;     -- 1: some task has a limit, or is parked

-- Limits of tasks by name. A row stays as long as tasks of its name are parked.
CREATE TABLE limits (
    queue    INTEGER NOT NULL, -- queues.id
    name     TEXT    NOT NULL,
    declared INTEGER,          -- by workers; NULL: none
    setting  INTEGER,          -- by hand; -1: no limit; NULL: what is declared holds
    PRIMARY KEY (queue, name)
) STRICT, WITHOUT ROWID;

-- Ready tasks that were passed over, since no more of their name may run. Their key in `tasks` has a bit set that puts
-- them behind all that is ready.
CREATE TABLE parked (
    queue INTEGER NOT NULL, -- queues.id
    name  TEXT    NOT NULL,
    place INTEGER NOT NULL, -- the key without that bit
    task  INTEGER NOT NULL, -- tasks.seq
    PRIMARY KEY (queue, name, place)
) STRICT, WITHOUT ROWID;

-- What the steps of one action have in common.
ALTER TABLE audit ADD COLUMN run TEXT;

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
-- What was done by hand to finished tasks. Rows that were never requeued or discarded pay a byte each.
ALTER TABLE tasks ADD COLUMN requeues INTEGER NOT NULL DEFAULT 0;    -- how often
ALTER TABLE tasks ADD COLUMN earlier INTEGER NOT NULL DEFAULT 0;     -- attempts of the lives before the latest one
ALTER TABLE tasks ADD COLUMN requeued_at INTEGER NOT NULL DEFAULT 0; -- when last; the time to live counts from here
ALTER TABLE tasks ADD COLUMN discarded_at INTEGER;                   -- of a dead letter that was taken off the list
