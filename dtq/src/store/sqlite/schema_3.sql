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
