//! Handing out work.

use std::fmt::Write as _;
use std::time::Duration;

use bytes::Bytes;
use redis::Value;

use super::RedisStore;
use super::entry::Envelope;
use super::keys::Keys;
use super::link::Link;
use super::record::{self, Meta};
use super::reply;
use super::schedules;
use super::scripts::SCRIPTS;
use crate::store::{BATCH, Claim, Claimed, Result};
use crate::types::{Delivery, Lease, Priority, QueueName, TaskId, Timestamp};

const OPERATION: &str = "claim";
pub(super) async fn claim(store: &RedisStore, claim: &Claim) -> Result<Claimed> {
    let script = &SCRIPTS.claim;
    let mut call = Link::call(script, &store.keys.root(&claim.queue));
    call.arg(store.link.options().event_log)
        .arg(Keys::consumer(&claim.worker, claim.lease))
        .arg(claim.max.min(BATCH))
        // At zero every running task would count as lost.
        .arg(record::millis(claim.lease).max(1))
        .arg(format!("{}{}", if claim.sweep { "s" } else { "" }, if claim.watch { "w" } else { "" }))
        .arg(record::millis(claim.silence).max(1));
    if let Some(holding) = &claim.holding {
        call.arg("1");
        for lease in holding {
            let token = Token::read(&lease.token);
            call.arg(format!("{}:{}", token.band, token.entry));
        }
    }
    let answer = store.link.eval(OPERATION, script, &call).await?;
    read(claim, answer).ok_or_else(|| {
        let detail = format!("an entry of queue {:?} is not of the form that this version writes", claim.queue);
        store.link.corrupt(OPERATION, detail)
    })
}

fn read(claim: &Claim, answer: Value) -> Option<Claimed> {
    let queue = &claim.queue;
    let mut values = reply::list(answer)?.into_iter();
    let now = Timestamp::from_millis(reply::int(&values.next()?)?);
    let state = reply::int(&values.next()?)?;
    let mut time = || Some(u64::try_from(reply::int(&values.next()?)?).ok().map(Duration::from_millis));
    let (next_due, look_in) = (time()?, time()?);
    let mut deliveries = Vec::with_capacity(values.len() / 2);
    let due = if matches!(values.as_slice().last(), Some(Value::Array(_))) { values.next_back() } else { None };
    let ticks = due.map(|due| schedules::ticks(queue, now, due)).unwrap_or_default();
    while let Some(head) = values.next() {
        let head = Head::read(&reply::text(head)?)?;
        for place in 0..u64::try_from(reply::int(&values.next()?)?).ok()? {
            let entry = match &head.row {
                Some(row) => row.entry(place)?,
                None => reply::text(values.next()?)?,
            };
            match delivery(queue, now, &head, entry, reply::bytes(values.next()?)?) {
                Some(delivery) => deliveries.push(delivery),
                // The others of this answer are leased to this worker: they must not suffer. This one ends among the dead
                // letters, since nobody settles it.
                None => {
                    tracing::error!(%queue, "an entry is not of the form that this version writes; it is passed over");
                }
            }
        }
    }
    let (more, watches, paused) = (state == 1, claim.watch && next_due.is_some(), state == 2);
    Some(Claimed { deliveries, more, next_due, look_in, watches, ticks, paused })
}

/// What tasks of one group have in common.
struct Head {
    band: u8,
    priority: Priority,
    attempt: u32,
    reclaimed: bool,
    /// An earlier attempt left a checkpoint.
    resumes: bool,
    /// Their entries stand in a row, and their records in a block.
    row: Option<Row>,
}

impl Head {
    fn read(head: &str) -> Option<Self> {
        let mut words = head.split(' ');
        let band = words.next()?.parse().ok()?;
        let attempt = words.next()?.parse().ok()?;
        let reclaimed = words.next()? == "1";
        let flag = words.next();
        let row = if flag == Some("b") { Some(Row::read(words.next()?)?) } else { None };
        Some(Self { band, priority: Priority::new(band).ok()?, attempt, reclaimed, resumes: flag == Some("c"), row })
    }
}

/// Entries whose numbers follow each other.
struct Row {
    ms: String,
    first: u64,
}

impl Row {
    /// Reads the id of the first entry.
    fn read(first: &str) -> Option<Self> {
        let (ms, number) = first.split_once('-')?;
        Some(Self { ms: ms.to_owned(), first: number.parse().ok()? })
    }

    fn entry(&self, place: u64) -> Option<String> {
        let number = self.first.checked_add(place)?;
        let mut id = String::with_capacity(self.ms.len() + 1 + 20);
        id.push_str(&self.ms);
        // Writing to a string cannot fail.
        let _ = write!(id, "-{number}");
        Some(id)
    }
}

fn delivery(queue: &QueueName, now: Timestamp, head: &Head, entry: String, value: Bytes) -> Option<Delivery> {
    let Envelope { uuid, task, meta, payload } = Envelope::read(&value)?;
    let Meta { policy, accepted, carried } = record::read_meta(meta, &entry)?;
    let token =
        Token { band: head.band, block: head.row.is_some(), entry: &entry, start: now, carried: &carried }.write();
    let lease = Lease { task: TaskId::new(queue.clone(), uuid), attempt: head.attempt, token };
    Some(Delivery {
        lease,
        task: task.to_owned(),
        payload,
        priority: head.priority,
        policy,
        enqueued_at: accepted,
        claimed_at: now,
        reclaimed: head.reclaimed,
        resumes: head.resumes,
    })
}

/// A fencing token: where the entry and the record are, since when it is held, and what its meta says beside the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) band: u8,
    /// The record was in a block when the attempt began.
    pub(super) block: bool,
    pub(super) entry: &'a str,
    pub(super) start: Timestamp,
    pub(super) carried: &'a str,
}

impl<'a> Token<'a> {
    fn write(self) -> String {
        let Self { band, block, entry, start, carried } = self;
        let (block, colon) = (if block { "b" } else { "" }, if carried.is_empty() { "" } else { ":" });
        let mut token = String::with_capacity(entry.len() + carried.len() + 2 + 1 + 14 + 2);
        // Writing to a string cannot fail.
        let _ = write!(token, "{band}{block}:{entry}:{}{colon}{carried}", start.as_millis());
        token
    }

    /// Reads a token; one that no store gave out reads as a token that is current nowhere.
    pub(super) fn read(token: &'a str) -> Self {
        let none = Self { band: 0, block: false, entry: "none", start: Timestamp::default(), carried: "" };
        Self::parse(token).unwrap_or(none)
    }

    fn parse(token: &'a str) -> Option<Self> {
        let mut parts = token.splitn(4, ':');
        let band = parts.next()?;
        let (band, block) = band.strip_suffix('b').map_or((band, false), |band| (band, true));
        let band = Priority::new(band.parse().ok()?).ok()?.level();
        let entry = parts.next()?;
        let start = Timestamp::from_millis(parts.next()?.parse().ok()?);
        Some(Self { band, block, entry, start, carried: parts.next().unwrap_or_default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_survives_and_nonsense_is_never_current() {
        let start = Timestamp::from_millis(12);
        let token = Token { band: 9, block: false, entry: "1796025140123-7", start, carried: "" };
        assert_eq!(token.write(), "9:1796025140123-7:12");
        for (block, carried) in [(false, ""), (true, ""), (false, "q1e5b17")] {
            let token = Token { block, carried, ..token };
            assert_eq!(Token::read(&token.write()), token);
        }
        for nonsense in ["", "9", "12:1-1:3", "b5:1-1:3", "5:1-1", "5:1-1:x"] {
            assert_eq!(Token::read(nonsense).entry, "none", "{nonsense}");
        }
    }
}
