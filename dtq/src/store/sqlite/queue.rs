//! A queue's row: read once per transaction, kept current in memory, written back once.

use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

use super::errors::Outcome;
use super::eventlog;
use super::signals::Wake;
use super::wakes::Wakes;
use crate::types::{EventKind, QueueName, QueueStats, Status};

/// The first number given out. From here to 2^47 SQLite stores numbers in six bytes, so columns keep their width.
const FIRST_TURN: i64 = 1 << 31;

/// One queue within a transaction.
pub(super) struct Queue {
    pub(super) id: i64,
    pub(super) name: QueueName,
    pub(super) paused: bool,
    pub(super) max_depth: Option<u32>,
    pub(super) concurrency: Option<u32>,
    /// True when some task has a limit of its own, or was passed over for one.
    pub(super) by_kind: bool,
    counts: QueueStats,
    turn: i64,
    last_dead: i64,
    /// When the first of its schedules wants to be looked at.
    tick_at: Option<i64>,
    batch: Vec<u8>,
    events: u32,
    changed: bool,
    pub(super) wakes: Wakes,
}

impl Queue {
    /// The stored queue of that name.
    pub(super) fn load(conn: &Connection, name: &QueueName) -> Outcome<Option<Self>> {
        let sql = "SELECT id, turn, last_dead, pending, queued, running, retrying, succeeded, failed, dead_lettered,
                   cancelled, expired, retries, tick_at, paused_at IS NOT NULL, max_depth, concurrency, by_kind
                   FROM queues WHERE name = ?1";
        let read = |row: &Row<'_>| {
            let queue = Self::new(row.get(0)?, name.clone(), row.get(1)?, row.get(2)?);
            Ok(Self {
                counts: read_counts(row, 3)?,
                tick_at: row.get(13)?,
                paused: row.get(14)?,
                max_depth: row.get(15)?,
                concurrency: row.get(16)?,
                by_kind: row.get(17)?,
                ..queue
            })
        };
        Ok(conn.prepare_cached(sql)?.query_row([name.as_str()], read).optional()?)
    }

    /// Makes the queue of that name.
    pub(super) fn create(conn: &Connection, name: &QueueName) -> Outcome<Self> {
        let mut insert = conn.prepare_cached("INSERT INTO queues (name, turn, last_dead) VALUES (?1, ?2, 0)")?;
        let id = insert.insert(params![name.as_str(), FIRST_TURN])?;
        Ok(Self::new(id, name.clone(), FIRST_TURN, 0))
    }

    fn new(id: i64, name: QueueName, turn: i64, last_dead: i64) -> Self {
        let counts = QueueStats::default();
        Self {
            id,
            name,
            paused: false,
            max_depth: None,
            concurrency: None,
            by_kind: false,
            counts,
            turn,
            last_dead,
            tick_at: None,
            batch: Vec::new(),
            events: 0,
            changed: false,
            wakes: Wakes::default(),
        }
    }

    /// The counts as they are now.
    pub(super) fn counts(&self) -> &QueueStats {
        &self.counts
    }

    /// What is ready or scheduled.
    pub(super) fn depth(&self) -> u64 {
        self.counts.pending + self.counts.queued + self.counts.retrying
    }

    /// How many more of its tasks may start; `None`: as many as may be.
    pub(super) fn left(&self) -> Option<u64> {
        self.concurrency.map(|most| u64::from(most).saturating_sub(self.counts.running))
    }

    /// True when the end of a running task lets another one start.
    pub(super) fn is_limited(&self) -> bool {
        self.by_kind || self.concurrency.is_some()
    }

    /// Writes the row back when it changed.
    pub(super) fn save(&mut self, conn: &Connection) -> Outcome<()> {
        if !std::mem::take(&mut self.changed) {
            return Ok(());
        }
        let sql = "UPDATE queues SET turn = ?2, last_dead = ?3, pending = ?4, queued = ?5, running = ?6, retrying = ?7,
                   succeeded = ?8, failed = ?9, dead_lettered = ?10, cancelled = ?11, expired = ?12, retries = ?13,
                   tick_at = ?14 WHERE id = ?1";
        let c = &self.counts;
        conn.prepare_cached(sql)?.execute(params![
            self.id,
            self.turn,
            self.last_dead,
            stored(c.pending),
            stored(c.queued),
            stored(c.running),
            stored(c.retrying),
            stored(c.succeeded),
            stored(c.failed),
            stored(c.dead_lettered),
            stored(c.cancelled),
            stored(c.expired),
            stored(c.retries),
            self.tick_at,
        ])?;
        Ok(())
    }

    /// When the first of its schedules wants to be looked at.
    pub(super) fn tick_at(&self) -> Option<i64> {
        self.tick_at
    }

    /// Notes it.
    pub(super) fn set_tick_at(&mut self, tick_at: Option<i64>) {
        self.changed |= self.tick_at != tick_at;
        self.tick_at = tick_at;
    }

    /// The next number: a place in a band, or a grant.
    pub(super) fn next_turn(&mut self) -> i64 {
        self.changed = true;
        self.turn += 1;
        self.turn
    }

    /// The key of the next dead letter: rises strictly, so that it serves as a place to read on from.
    pub(super) fn next_dead(&mut self, forget_at: i64) -> i64 {
        self.changed = true;
        self.last_dead = forget_at.max(self.last_dead.saturating_add(1));
        self.last_dead
    }

    /// Counts a task's move; `from` is `None` for a new one.
    pub(super) fn moved(&mut self, from: Option<Status>, to: Status) {
        self.changed = true;
        if let Some(from) = from {
            let count = self.count(from);
            *count = count.saturating_sub(1);
        }
        *self.count(to) += 1;
        let makes_room = from == Some(Status::Running) && to != Status::Running && self.is_limited();
        if to == Status::Queued || makes_room {
            self.wakes.one();
        }
        if to == Status::Retrying {
            self.counts.retries += 1;
        }
    }

    /// Tasks that run now.
    pub(super) fn running(&self) -> u64 {
        self.counts.running
    }

    fn count(&mut self, status: Status) -> &mut u64 {
        let counts = &mut self.counts;
        match status {
            Status::Pending => &mut counts.pending,
            Status::Queued => &mut counts.queued,
            Status::Running => &mut counts.running,
            Status::Retrying => &mut counts.retrying,
            Status::Succeeded => &mut counts.succeeded,
            Status::Failed => &mut counts.failed,
            Status::DeadLettered => &mut counts.dead_lettered,
            Status::Cancelled => &mut counts.cancelled,
            Status::Expired => &mut counts.expired,
        }
    }

    /// Who must look at this queue, once everything is written.
    pub(super) fn take_wake(&mut self, conn: &Connection) -> Outcome<Option<Wake>> {
        let may_start = !self.paused && self.left() != Some(0);
        // Ready tasks that this transaction also handed out need nobody.
        let ready = if may_start { self.counts.queued } else { 0 };
        std::mem::take(&mut self.wakes).of(conn, self.id, ready)
    }

    /// Notes an event; it is written with the others of this transaction.
    pub(super) fn event(&mut self, kind: EventKind, attempt: u32, uuid: &Uuid) {
        self.events += 1;
        eventlog::encode(&mut self.batch, kind, attempt, uuid);
    }

    /// The events noted so far, and how many they are.
    pub(super) fn take_events(&mut self) -> Option<(Vec<u8>, u32)> {
        let count = std::mem::take(&mut self.events);
        (count > 0).then(|| (std::mem::take(&mut self.batch), count))
    }
}

/// Reads the ten counts from column `first` on.
pub(super) fn read_counts(row: &Row<'_>, first: usize) -> rusqlite::Result<QueueStats> {
    Ok(QueueStats {
        pending: count(row, first)?,
        queued: count(row, first + 1)?,
        running: count(row, first + 2)?,
        retrying: count(row, first + 3)?,
        succeeded: count(row, first + 4)?,
        failed: count(row, first + 5)?,
        dead_lettered: count(row, first + 6)?,
        cancelled: count(row, first + 7)?,
        expired: count(row, first + 8)?,
        retries: count(row, first + 9)?,
    })
}

fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(u64::try_from(row.get::<_, i64>(column)?).unwrap_or(0))
}

fn stored(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
