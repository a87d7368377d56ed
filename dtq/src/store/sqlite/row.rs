//! Rows of `tasks`, and what the verbs make of them.

use std::time::Duration;

use bytes::Bytes;
use rusqlite::Row;
use rusqlite::types::Type;
use uuid::Uuid;

use super::keys::Keyed;
use super::notes::Noted;
use super::token::Token;
use crate::store::Verdict;
use crate::types::{Delivery, Lease, Policy, Priority, Status, TaskId, Timestamp, WorkerId};

/// The columns of a [`Head`], in its order, as text for `concat!`.
macro_rules! head {
    () => {
        "seq, uuid, status, key, token, settled, attempt, priority, started_at, enqueued_at, max_attempts, timeout_ms,
         retention_ms, dead_letter, ttl_ms, cancel_reason, worker, keyed, noted, requeued_at"
    };
}
/// The columns of a [`Head`] and a [`Body`].
macro_rules! head_and_body {
    () => {
        concat!($crate::store::sqlite::row::head!(), ", name, payload")
    };
}
pub(super) use {head, head_and_body};

/// How many columns [`head!`] has.
pub(super) const HEAD: usize = 20;

/// In the key of a queued task: it was passed over, since no more of its name may run. Above all places.
pub(super) const PARKED: i64 = 1 << 46;

/// Where a task is in its life, and what the store enforces on it.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) seq: i64,
    pub(super) uuid: Uuid,
    pub(super) status: Status,
    /// True for a dead letter that was taken off the list.
    pub(super) discarded: bool,
    pub(super) key: i64,
    pub(super) token: i64,
    pub(super) settled: i64,
    pub(super) attempt: u32,
    pub(super) priority: Priority,
    pub(super) started_at: Timestamp,
    pub(super) enqueued_at: Timestamp,
    pub(super) policy: Policy,
    pub(super) cancel_reason: Option<String>,
    /// The worker of the latest grant.
    pub(super) worker: i64,
    /// Whether it has keys.
    pub(super) keyed: Keyed,
    /// What its attempts told of themselves.
    pub(super) noted: Noted,
    /// When it was last requeued by hand; the epoch when it never was.
    pub(super) requeued_at: Timestamp,
}

/// What a handler needs.
pub(super) struct Body {
    pub(super) name: String,
    pub(super) payload: Bytes,
}

impl Head {
    /// Reads the columns of [`head!`].
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            seq: row.get(0)?,
            uuid: Uuid::from_bytes(row.get(1)?),
            status: status_of(row.get(2)?, 2)?,
            discarded: row.get::<_, i64>(2)? == DISCARDED,
            key: row.get(3)?,
            token: row.get(4)?,
            settled: row.get(5)?,
            attempt: row.get(6)?,
            priority: priority_of(row.get(7)?, 7)?,
            started_at: Timestamp::from_millis(row.get(8)?),
            enqueued_at: Timestamp::from_millis(row.get(9)?),
            policy: read_policy(row)?,
            cancel_reason: row.get(15)?,
            worker: row.get(16)?,
            keyed: Keyed::read(row.get(17)?),
            noted: Noted::read(row.get(18)?),
            requeued_at: Timestamp::from_millis(row.get(19)?),
        })
    }

    /// When its time to live ends. It begins anew when a task is requeued by hand.
    pub(super) fn expires_at(&self) -> Option<Timestamp> {
        self.policy.ttl.map(|ttl| self.enqueued_at.max(self.requeued_at).plus(ttl))
    }

    /// True when its time to live is over.
    pub(super) fn expired(&self, now: Timestamp) -> bool {
        self.expires_at().is_some_and(|end| end <= now)
    }

    /// True when it had a life before this one.
    pub(super) fn was_requeued(&self) -> bool {
        self.requeued_at != Timestamp::default()
    }

    /// True when it is queued, and was passed over.
    pub(super) fn is_parked(&self) -> bool {
        self.status == Status::Queued && self.key >= PARKED
    }

    /// Its key; of a task that was passed over, the one that it had before.
    pub(super) fn place(&self) -> i64 {
        if self.is_parked() { self.key & !PARKED } else { self.key }
    }

    /// True when it is finished and its retention is over: for callers it does not exist any more.
    pub(super) fn forgotten(&self, now: Timestamp) -> bool {
        self.status.is_terminal() && self.key <= now.as_millis()
    }

    /// True when the lease is the one that holds it now.
    pub(super) fn held_by(&self, lease: &Lease, token: &Token) -> bool {
        self.status == Status::Running && self.attempt == lease.attempt && self.token == token.grant
    }
}

fn read_policy(row: &Row<'_>) -> rusqlite::Result<Policy> {
    Ok(Policy {
        max_attempts: row.get(10)?,
        timeout: row.get::<_, Option<i64>>(11)?.map(duration),
        retention: duration(row.get(12)?),
        dead_letter: row.get(13)?,
        ttl: row.get::<_, Option<i64>>(14)?.map(duration),
    })
}

impl Body {
    /// Reads the columns after a head's.
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self { name: row.get(HEAD)?, payload: Bytes::copy_from_slice(row.get_ref(HEAD + 1)?.as_blob()?) })
    }
}

/// A grant of one task to one worker.
pub(super) struct Grant<'a> {
    pub(super) worker: &'a WorkerId,
    pub(super) number: i64,
    pub(super) at: Timestamp,
    pub(super) reclaimed: bool,
}

/// The delivery that hands a task over. `head` holds the attempt that begins.
pub(super) fn delivery(id: TaskId, head: &Head, body: Body, grant: &Grant<'_>) -> Delivery {
    let token = Token::new(head.seq, grant.number, grant.worker);
    Delivery {
        lease: Lease { task: id, attempt: head.attempt, token: token.to_string() },
        task: body.name,
        payload: body.payload,
        priority: head.priority,
        policy: head.policy.clone(),
        enqueued_at: head.enqueued_at,
        claimed_at: grant.at,
        reclaimed: grant.reclaimed,
        resumes: head.noted.has_checkpoint(),
    }
}

/// The order of ready tasks: higher bands first, then by turn. Fits six bytes while turns stay below 2^42.
pub(super) fn place(priority: Priority, turn: i64) -> i64 {
    const TURN_BITS: u32 = 42;
    let band = i64::from(10_u8.saturating_sub(priority.level()));
    (band << TURN_BITS) | turn
}

/// Whole milliseconds, upwards: what is not zero must not become zero.
pub(super) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX)
}

fn duration(millis: i64) -> Duration {
    Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}

/// The stored code of a status. Codes begin at 2 since SQLite stores 0 and 1 in another width.
pub(super) const fn status_code(status: Status) -> i64 {
    match status {
        Status::Pending => 2,
        Status::Queued => 3,
        Status::Running => 4,
        Status::Retrying => 5,
        Status::Succeeded => 6,
        Status::Failed => 7,
        Status::DeadLettered => 8,
        Status::Cancelled => 9,
        Status::Expired => 10,
    }
}

/// The code of a dead letter that was taken off the list: dead-lettered still, but no part of the list's index range.
pub(super) const DISCARDED: i64 = 11;

pub(super) fn status_of(code: i64, column: usize) -> rusqlite::Result<Status> {
    let code = if code == DISCARDED { status_code(Status::DeadLettered) } else { code };
    let known = Status::ALL.into_iter().find(|&status| status_code(status) == code);
    known.ok_or_else(|| unknown(column, "a status", code))
}

pub(super) fn priority_of(level: u8, column: usize) -> rusqlite::Result<Priority> {
    Priority::new(level).map_err(|_| unknown(column, "a priority", level.into()))
}

fn unknown(column: usize, what: &str, code: i64) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Integer, format!("{code} is not {what}").into())
}

/// No verdict yet: the grant is open.
pub(super) const OPEN: i64 = 2;

/// The stored code of a verdict.
pub(super) const fn verdict_code(verdict: &Verdict) -> i64 {
    match verdict {
        Verdict::Succeeded { .. } => 3,
        Verdict::Retry { .. } => 4,
        Verdict::Snooze { .. } => 5,
        Verdict::Failed { .. } => 6,
        Verdict::Cancelled { .. } => 7,
        Verdict::Release => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_keep_their_width() {
        for status in Status::ALL {
            assert_eq!(status_of(status_code(status), 0).unwrap(), status);
            assert!((2..128).contains(&status_code(status)));
        }
        assert_eq!(status_of(DISCARDED, 0).unwrap(), Status::DeadLettered);
        assert!(Status::ALL.into_iter().all(|status| status_code(status) != DISCARDED));
        assert!(status_of(1, 0).is_err());
    }

    #[test]
    fn places_order_by_band_then_turn() {
        let at = |level, turn| place(Priority::new(level).unwrap(), turn);
        assert!(at(9, (1 << 42) - 1) < at(8, 1));
        assert!(at(5, 1) < at(5, 2));
        assert!(at(0, (1 << 42) - 1) < PARKED);
        assert!(at(0, (1 << 42) - 1) + PARKED < 1 << 47, "six bytes");
    }

    #[test]
    fn durations_round_up() {
        assert_eq!(millis(Duration::ZERO), 0);
        assert_eq!(millis(Duration::from_micros(1)), 1);
        assert_eq!(millis(Duration::MAX), i64::MAX);
    }
}
