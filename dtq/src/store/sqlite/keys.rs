//! The keys that tasks hold: idempotency keys and unique keys.

use rusqlite::{OptionalExtension, Row, params};
use uuid::Uuid;

use super::errors::Outcome;
use super::reader::View;
use super::row::{Head, millis};
use super::txn::Step;
use crate::types::{Idempotency, NewTask, QueueName, Status, TaskId, Unique, Until};

/// An instant that never comes.
const NEVER: i64 = i64::MAX;

/// The kinds of keys, as stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Idempotency = 2,
    Unique = 3,
}

impl Kind {
    fn read(code: i64) -> Self {
        if code == Self::Idempotency as i64 { Self::Idempotency } else { Self::Unique }
    }
}

/// Which keys a task has, as stored with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyed {
    No = 0,
    Yes = 2,
    /// One of them is free once the task starts.
    UntilStarted = 3,
}

impl Keyed {
    pub(super) fn of(task: &NewTask) -> Self {
        match (&task.idempotency, &task.unique) {
            (None, None) => Self::No,
            (_, Some(Unique { until: Until::Started, .. })) => Self::UntilStarted,
            _ => Self::Yes,
        }
    }

    pub(super) fn read(code: i64) -> Self {
        match code {
            0 => Self::No,
            3 => Self::UntilStarted,
            _ => Self::Yes,
        }
    }
}

/// The stored code of an [`Until`].
fn until_code(until: Until) -> i64 {
    match until {
        Until::Started => 2,
        Until::Finished => 3,
        Until::Period(_) => 4,
    }
}

const FOR_A_PERIOD: i64 = 4;

/// The name that a unique key is stored under.
pub(super) fn unique_name(task: &str, key: &str) -> String {
    format!("{task}/{key}")
}

/// A key that a task holds.
pub(super) struct Hold {
    task: i64,
    pub(super) uuid: Uuid,
    until: i64,
}

impl Hold {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self { task: row.get(0)?, uuid: Uuid::from_bytes(row.get(1)?), until: row.get(2)? })
    }

    /// True when it stands also without its task.
    pub(super) fn is_for_a_period(&self) -> bool {
        self.until == FOR_A_PERIOD
    }
}

impl Step<'_> {
    /// Who holds a key, and that task as far as it is there. A key that is free by now has no holder.
    pub(super) fn holder(&self, kind: Kind, key: &str) -> Outcome<Option<(Hold, Option<Head>)>> {
        let sql = "SELECT task, uuid, until FROM keys
                   WHERE queue = ?1 AND kind = ?2 AND key = ?3 AND held = 1 AND expires_at > ?4";
        let params = params![self.queue.id, kind as i64, key, self.now.as_millis()];
        let Some(hold) = self.prepare(sql)?.query_row(params, Hold::read).optional()? else { return Ok(None) };
        let head = if hold.task == 0 { None } else { self.by_row(hold.task)? };
        let head = head.filter(|head| !head.forgotten(self.now));
        Ok(Some((hold, head)))
    }

    /// Gives a new task its keys. Whoever still holds one of them is done with it.
    pub(super) fn take_keys(&self, seq: i64, task: &NewTask) -> Outcome<()> {
        let uuid = task.id.uuid();
        if let Some(Idempotency { key, keep }) = &task.idempotency {
            self.take(seq, uuid, Kind::Idempotency, key, (0, millis(*keep), NEVER))?;
        }
        if let Some(Unique { key, until, .. }) = &task.unique {
            let period = if let Until::Period(period) = until { Some(millis(*period)) } else { None };
            let expires_at = period.map_or(NEVER, |period| self.now.as_millis().saturating_add(period));
            let times = (until_code(*until), period.unwrap_or(0), expires_at);
            self.take(seq, uuid, Kind::Unique, &unique_name(&task.task, key), times)?;
        }
        Ok(())
    }

    fn take(&self, seq: i64, uuid: Uuid, kind: Kind, key: &str, times: (i64, i64, i64)) -> Outcome<()> {
        self.free_key(kind, key)?;
        let sql = "INSERT INTO keys (queue, kind, key, held, task, uuid, until, time_ms, expires_at)
                   VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6, ?7, ?8)";
        let (until, time, expires_at) = times;
        let params = params![self.queue.id, kind as i64, key, seq, uuid.as_bytes(), until, time, expires_at];
        self.prepare(sql)?.execute(params)?;
        Ok(())
    }

    fn free_key(&self, kind: Kind, key: &str) -> Outcome<()> {
        let free = "UPDATE keys SET held = 0 WHERE queue = ?1 AND kind = ?2 AND key = ?3 AND held = 1";
        self.prepare(free)?.execute(params![self.queue.id, kind as i64, key])?;
        Ok(())
    }

    /// A task starts: the key that it holds until then is free.
    pub(super) fn free_at_start(&self, head: &Head) -> Outcome<()> {
        if head.keyed == Keyed::UntilStarted {
            self.free(head, until_code(Until::Started), until_code(Until::Started))?;
        }
        Ok(())
    }

    /// A task ends: its idempotency key begins to be remembered for its time, its unique key is free.
    pub(super) fn free_at_end(&self, head: &Head, status: Status) -> Outcome<()> {
        if head.keyed == Keyed::No {
            return Ok(());
        }
        let sql = "UPDATE keys SET expires_at = ?3 + time_ms WHERE task = ?1 AND kind = ?2 AND held = 1";
        self.prepare(sql)?.execute(params![head.seq, Kind::Idempotency as i64, self.now.as_millis()])?;
        // What succeeds keeps its key for the rest of the period.
        let last = if status == Status::Succeeded { FOR_A_PERIOD - 1 } else { FOR_A_PERIOD };
        self.free(head, 0, last)
    }

    fn free(&self, head: &Head, from: i64, to: i64) -> Outcome<()> {
        let sql = "UPDATE keys SET held = 0 WHERE task = ?1 AND kind = ?2 AND until BETWEEN ?3 AND ?4 AND held = 1";
        self.prepare(sql)?.execute(params![head.seq, Kind::Unique as i64, from, to])?;
        Ok(())
    }

    /// Makes a task hold again what it held, when it is set back from its end to waiting; not what is another's by now.
    pub(super) fn hold_again(&self, head: &Head) -> Outcome<()> {
        if head.keyed == Keyed::No {
            return Ok(());
        }
        let own = "SELECT seq, kind, key, CASE WHEN until = ?2 THEN ?3 + time_ms ELSE ?4 END FROM keys WHERE task = ?1";
        let read = |row: &Row<'_>| Ok((row.get(0)?, Kind::read(row.get(1)?), row.get(2)?, row.get(3)?));
        let params = params![head.seq, FOR_A_PERIOD, self.now.as_millis(), NEVER];
        let own: Vec<(i64, Kind, String, i64)> =
            self.prepare(own)?.query_map(params, read)?.collect::<rusqlite::Result<_>>()?;
        for (seq, kind, key, expires_at) in own {
            let others = |(hold, other): (Hold, Option<Head>)| {
                hold.task != head.seq && (other.is_some() || hold.is_for_a_period())
            };
            if !self.holder(kind, &key)?.is_some_and(others) {
                self.free_key(kind, &key)?;
                let take = "UPDATE keys SET held = 1, expires_at = ?2 WHERE seq = ?1";
                self.prepare(take)?.execute([seq, expires_at])?;
            }
        }
        Ok(())
    }

    /// A task's row goes: so do its keys, except one whose period is not over.
    pub(super) fn forget_keys(&self, seq: i64) -> Outcome<()> {
        let sql = "DELETE FROM keys WHERE task = ?1 AND NOT (held = 1 AND until = ?2 AND expires_at > ?3)";
        self.prepare(sql)?.execute(params![seq, FOR_A_PERIOD, self.now.as_millis()])?;
        self.prepare("UPDATE keys SET task = 0 WHERE task = ?1")?.execute([seq])?;
        Ok(())
    }

    /// Deletes up to `count` keys that are free and have no task any more; gives how many.
    pub(super) fn sweep_keys(&self, count: usize) -> Outcome<usize> {
        let sql = "DELETE FROM keys WHERE seq IN
                   (SELECT seq FROM keys WHERE task = 0 AND queue = ?1 AND expires_at <= ?2 LIMIT ?3)";
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        Ok(self.prepare(sql)?.execute(params![self.queue.id, self.now.as_millis(), count])?)
    }
}

/// The task of an idempotency key.
pub(super) fn find(view: &View<'_>, queue: &QueueName, key: &str) -> Outcome<Option<TaskId>> {
    let sql = "SELECT k.uuid, t.status, t.key FROM keys k JOIN tasks t ON t.seq = k.task
               WHERE k.queue = (SELECT id FROM queues WHERE name = ?1) AND k.kind = ?2 AND k.key = ?3 AND k.held = 1
                     AND k.expires_at > ?4";
    let params = params![queue.as_str(), Kind::Idempotency as i64, key, view.now.as_millis()];
    let read = |row: &Row<'_>| {
        let status = super::row::status_of(row.get(1)?, 1)?;
        let forgotten = status.is_terminal() && row.get::<_, i64>(2)? <= view.now.as_millis();
        Ok((!forgotten).then_some(Uuid::from_bytes(row.get(0)?)))
    };
    let uuid = view.conn.prepare_cached(sql)?.query_row(params, read).optional()?.flatten();
    Ok(uuid.map(|uuid| TaskId::new(queue.clone(), uuid)))
}

/// The idempotency key and the unique key of a task, for its record.
pub(super) fn of_task(view: &View<'_>, head: &Head) -> Outcome<(Option<String>, Option<String>)> {
    if head.keyed == Keyed::No {
        return Ok((None, None));
    }
    let mut select = view.conn.prepare_cached("SELECT kind, key FROM keys WHERE task = ?1")?;
    let mut rows = select.query([head.seq])?;
    let mut keys = (None, None);
    while let Some(row) = rows.next()? {
        let key: String = row.get(1)?;
        if row.get::<_, i64>(0)? == Kind::Idempotency as i64 {
            keys.0 = Some(key);
        } else {
            keys.1 = key.split_once('/').map(|(_, key)| key.to_owned());
        }
    }
    Ok(keys)
}
