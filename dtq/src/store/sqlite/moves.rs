//! The moves between statuses that several verbs make.

use rusqlite::types::ToSql;
use rusqlite::{CachedStatement, OptionalExtension, params};
use uuid::Uuid;

use super::errors::Outcome;
use super::keys::Keyed;
use super::notes::Noted;
use super::row::{Head, head, millis, place, status_code};
use super::txn::Step;
use crate::types::{Attempt, EventKind, Failure, Policy, Status, Timestamp};

/// How a task ends.
pub(super) struct Ending<'a> {
    pub(super) status: Status,
    /// Noted among the attempts.
    pub(super) failure: Option<Failure>,
    pub(super) result: Option<&'a [u8]>,
    /// The code of the verdict that ended the latest grant.
    pub(super) settled: i64,
}

impl Ending<'_> {
    /// An end without a worker's verdict. An earlier verdict stays recognisable.
    pub(super) fn by_store(head: &Head, status: Status, failure: Option<Failure>) -> Self {
        Self { status, failure, result: None, settled: head.settled }
    }

    /// A failure for good: among the dead letters, or not.
    pub(super) fn failed(policy: &Policy, failure: Failure, settled: i64) -> Self {
        let status = if policy.dead_letter { Status::DeadLettered } else { Status::Failed };
        Self { status, failure: Some(failure), result: None, settled }
    }

    fn event(&self) -> EventKind {
        match self.status {
            Status::Succeeded => EventKind::Succeeded,
            Status::DeadLettered => EventKind::DeadLettered,
            Status::Cancelled => EventKind::Cancelled,
            Status::Expired => EventKind::Expired,
            _ => EventKind::Failed,
        }
    }
}

/// When a task that is due then is looked at, as a key: one that expires before is looked at when it does.
fn looked_at(head: &Head, due: Timestamp) -> i64 {
    head.expires_at().map_or(due, |end| end.min(due)).as_millis()
}

impl<'t> Step<'t> {
    /// A cached statement.
    pub(super) fn prepare(&self, sql: &str) -> Outcome<CachedStatement<'t>> {
        Ok(self.conn.prepare_cached(sql)?)
    }

    /// The task in that row, when it belongs to this queue.
    pub(super) fn by_row(&self, seq: i64) -> Outcome<Option<Head>> {
        self.one(concat!("SELECT ", head!(), " FROM tasks WHERE seq = ?1 AND queue = ?2"), params![seq, self.queue.id])
    }

    /// The task of that uuid.
    pub(super) fn by_uuid(&self, uuid: Uuid) -> Outcome<Option<Head>> {
        let sql = concat!("SELECT ", head!(), " FROM tasks WHERE uuid = ?1 AND queue = ?2");
        self.one(sql, params![uuid.as_bytes(), self.queue.id])
    }

    /// The task of that uuid, unless its retention is over.
    pub(super) fn known(&self, uuid: Uuid) -> Outcome<Option<Head>> {
        Ok(self.by_uuid(uuid)?.filter(|head| !head.forgotten(self.now)))
    }

    fn one(&self, sql: &str, params: &[&dyn ToSql]) -> Outcome<Option<Head>> {
        Ok(self.prepare(sql)?.query_row(params, Head::read).optional()?)
    }

    /// Puts a task at the end of its band.
    pub(super) fn make_ready(&mut self, head: &Head, attempt: u32, settled: i64) -> Outcome<()> {
        let key = place(head.priority, self.queue.next_turn());
        self.reopen(head, Status::Queued, key, attempt, settled)
    }

    /// Puts a task on the schedule, with the attempt it has.
    pub(super) fn schedule(&mut self, head: &Head, status: Status, due: Timestamp, settled: i64) -> Outcome<()> {
        self.reopen(head, status, looked_at(head, due), head.attempt, settled)
    }

    fn reopen(&mut self, head: &Head, status: Status, key: i64, attempt: u32, settled: i64) -> Outcome<()> {
        self.unpark(head)?;
        let sql = "UPDATE tasks SET status = ?2, key = ?3, attempt = ?4, settled = ?5 WHERE seq = ?1";
        self.prepare(sql)?.execute(params![head.seq, status_code(status), key, attempt, settled])?;
        self.queue.moved(Some(head.status), status);
        if status != Status::Queued {
            self.queue.wakes.due_at(key);
        }
        Ok(())
    }

    /// Ends a task: record, result, event; the acknowledgement is the commit. With no retention nothing stays.
    pub(super) fn finish(&mut self, head: &Head, ending: &Ending<'_>) -> Outcome<()> {
        self.unpark(head)?;
        if head.cancel_reason.is_some() {
            self.prepare("DELETE FROM stops WHERE task = ?1")?.execute([head.seq])?;
        }
        self.free_at_end(head, ending.status)?;
        match self.forget_at(head, ending.status) {
            None => self.remove(head)?,
            Some(forget_at) => self.keep_finished(head, ending, forget_at)?,
        }
        self.queue.moved(Some(head.status), ending.status);
        self.queue.event(ending.event(), head.attempt, &head.uuid);
        Ok(())
    }

    /// Gives a waiting task other arguments.
    pub(super) fn replace_payload(&mut self, head: &Head, payload: &[u8]) -> Outcome<()> {
        self.prepare("UPDATE tasks SET payload = ?2 WHERE seq = ?1")?.execute(params![head.seq, payload])?;
        Ok(())
    }

    /// Gives a waiting task another due time; one that is ready waits again then.
    pub(super) fn put_off(&mut self, head: &Head, due: Timestamp) -> Outcome<()> {
        if head.status == Status::Queued {
            self.schedule(head, Status::Pending, due, head.settled)?;
        } else {
            let key = looked_at(head, due);
            self.prepare("UPDATE tasks SET key = ?2 WHERE seq = ?1")?.execute([head.seq, key])?;
            self.queue.wakes.due_at(key);
        }
        self.queue.event(EventKind::RetryScheduled, head.attempt, &head.uuid);
        Ok(())
    }

    fn forget_at(&mut self, head: &Head, status: Status) -> Option<i64> {
        if status == Status::DeadLettered {
            return Some(self.queue.next_dead(self.now.plus(Policy::DEAD_LETTER_RETENTION).as_millis()));
        }
        let retention = head.policy.retention;
        (!retention.is_zero()).then(|| self.now.as_millis().saturating_add(millis(retention)))
    }

    fn keep_finished(&mut self, head: &Head, ending: &Ending<'_>, forget_at: i64) -> Outcome<()> {
        if let Some(failure) = &ending.failure {
            // A task that was not running has no attempt of its own to date the note by.
            let started_at = if head.status == Status::Running { head.started_at } else { self.now };
            self.note(head, started_at, failure)?;
        }
        let now = self.now.as_millis();
        let status = status_code(ending.status);
        // Two statements: one that never touches the result leaves the row's width alone.
        match ending.result {
            None => {
                let sql = "UPDATE tasks SET status = ?2, key = ?3, settled = ?4, finished_at = ?5 WHERE seq = ?1";
                self.prepare(sql)?.execute(params![head.seq, status, forget_at, ending.settled, now])?;
            }
            Some(result) => {
                let sql = "UPDATE tasks SET status = ?2, key = ?3, settled = ?4, finished_at = ?5, result = ?6
                           WHERE seq = ?1";
                self.prepare(sql)?.execute(params![head.seq, status, forget_at, ending.settled, now, result])?;
            }
        }
        Ok(())
    }

    fn remove(&mut self, head: &Head) -> Outcome<()> {
        // Only a failed attempt leaves notes, and then the attempt has risen or is about to.
        let may_have_notes = head.attempt > 1 || head.status == Status::Retrying || head.was_requeued();
        self.delete(head.seq, may_have_notes, head.keyed, head.noted)
    }

    /// Deletes a row, what was noted of its attempts and keys, and what its attempts told of themselves.
    pub(super) fn delete(&mut self, seq: i64, attempts: bool, keyed: Keyed, noted: Noted) -> Outcome<()> {
        if keyed != Keyed::No {
            self.forget_keys(seq)?;
        }
        if attempts {
            self.prepare("DELETE FROM attempts WHERE task = ?1")?.execute([seq])?;
        }
        self.forget_notes(seq, noted)?;
        self.prepare("DELETE FROM tasks WHERE seq = ?1")?.execute([seq])?;
        Ok(())
    }

    /// Notes an attempt that ended without success; the latest [`Attempt::KEPT`] stay.
    pub(super) fn note(&mut self, head: &Head, started_at: Timestamp, failure: &Failure) -> Outcome<()> {
        let count = "SELECT coalesce(max(n), 0) + 1 FROM attempts WHERE task = ?1";
        let n: i64 = self.prepare(count)?.query_row([head.seq], |row| row.get(0))?;
        let insert = "INSERT INTO attempts (task, n, number, started_at, ended_at, kind, message)
                      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        self.prepare(insert)?.execute(params![
            head.seq,
            n,
            head.attempt,
            started_at.as_millis(),
            self.now.as_millis(),
            failure.kind.as_str(),
            failure.message,
        ])?;
        let kept = i64::try_from(Attempt::KEPT).unwrap_or(i64::MAX);
        if n > kept {
            self.prepare("DELETE FROM attempts WHERE task = ?1 AND n <= ?2")?.execute([head.seq, n - kept])?;
        }
        Ok(())
    }
}
