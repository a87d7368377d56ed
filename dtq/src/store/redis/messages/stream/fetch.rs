//! Reading a group's entries: those that are due, those that were left behind, and new ones.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;
use redis::{Cmd, Value};

use super::super::super::reply::{self, Entry};
use super::super::scripts::SCRIPTS;
use super::super::{move_due, wire};
use super::group::is_gone;
use super::{Shared, StreamInbox, millis};
use crate::store::{Result, StoreError};
use crate::types::{Incoming, header};

const OPERATION: &str = "read messages";

/// The cursor of a scan that begins.
pub(super) const FIRST: &str = "0-0";

/// How often it is looked for entries that were left behind.
const LOOK: Duration = Duration::from_secs(1);

/// What is known of the server's own way to claim: nothing at first (0).
mod claims {
    /// `XREADGROUP .. CLAIM`, from Redis 8.4 on.
    pub(super) const NATIVE: u8 = 1;
    pub(super) const BY_SCRIPT: u8 = 2;
}

impl StreamInbox {
    pub(super) async fn fetch(&self, max: usize, block: Duration) -> Result<Vec<Incoming>> {
        let found = self.look(max, block).await;
        if let Err(error) = &found {
            self.shared.doubt.store(true, Ordering::Release);
            if is_gone(error) {
                self.make_group().await?;
            }
        }
        found
    }

    async fn look(&self, max: usize, block: Duration) -> Result<Vec<Incoming>> {
        let Shared { form, claiming, delayed, .. } = &*self.shared;
        let moved = match delayed {
            Some(set) => move_due(&self.link, set, form.key, "XADD").await,
            None => Ok(()),
        };
        let found = match form.min_idle {
            Some(idle) if *claiming => self.claim(max, idle, block).await,
            Some(idle) => match self.left_behind(max, idle).await? {
                found if found.is_empty() => self.new_entries(max, block).await,
                found => Ok(found),
            },
            None => match self.unheard(max).await? {
                found if found.is_empty() => self.new_entries(max, block).await,
                found => Ok(found),
            },
        }?;
        // What waits is worked on all the same: a server without memory for copies would stay so, if nobody read.
        if found.is_empty() { moved.map(|()| found) } else { Ok(found) }
    }

    /// Entries that nobody has read yet.
    async fn new_entries(&self, max: usize, block: Duration) -> Result<Vec<Incoming>> {
        let read = self.read_command(max, Some(block), None, ">");
        self.accept(self.answer(&read, block).await?).await
    }

    /// What is idle, and what is new. The server is asked by what it can do.
    async fn claim(&self, max: usize, idle: Duration, block: Duration) -> Result<Vec<Incoming>> {
        if self.shared.claims.load(Ordering::Acquire) != claims::BY_SCRIPT {
            let read = self.read_command(max, Some(block), Some(idle), ">");
            match self.answer(&read, block).await {
                Err(StoreError::Rejected { detail, .. }) if detail.contains("syntax error") => {
                    self.shared.claims.store(claims::BY_SCRIPT, Ordering::Release);
                }
                answer => {
                    let entries = answer?;
                    self.shared.claims.store(claims::NATIVE, Ordering::Release);
                    return self.accept(entries).await;
                }
            }
        }
        match self.by_script(max, idle, "new").await? {
            found if found.is_empty() => self.new_entries(max, block).await,
            found => Ok(found),
        }
    }

    /// Entries that a consumer holds which is gone, or was silent for too long.
    async fn left_behind(&self, max: usize, idle: Duration) -> Result<Vec<Incoming>> {
        if !self.is_time_to_look() {
            return Ok(Vec::new());
        }
        let found = self.by_script(max, idle, "").await?;
        if let Some(first) = found.first() {
            let (stream, group, id, more) = (self.shared.form.key, self.shared.form.group, &first.id, found.len() - 1);
            tracing::warn!(stream, group, ?id, more, "took over from a consumer that was silent for min_idle");
        }
        Ok(found)
    }

    fn is_time_to_look(&self) -> bool {
        let mut looked = self.shared.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let due = looked.is_none_or(|at| at.elapsed() >= LOOK);
        if due {
            *looked = Some(Instant::now());
        }
        due
    }

    async fn by_script(&self, max: usize, idle: Duration, also: &str) -> Result<Vec<Incoming>> {
        let Shared { form, consumer, cursor, .. } = &*self.shared;
        let from = cursor.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let script = &SCRIPTS.claim;
        let mut call = script.call_on(&[form.key]);
        call.arg(form.group).arg(consumer).arg(millis(idle)).arg(max).arg(from).arg(also);
        let mut answer = reply::list(self.link.eval(OPERATION, script, &call).await?).unwrap_or_default().into_iter();
        let next = answer.next().and_then(reply::text).unwrap_or_else(|| FIRST.to_owned());
        *cursor.lock().unwrap_or_else(PoisonError::into_inner) = next;
        let entries = answer.next().and_then(reply::list).unwrap_or_default();
        let entries = entries.into_iter().map(|entry| self.entry(entry, |behind| behind.first().and_then(reply::int)));
        self.accept(entries.collect::<Result<_>>()?).await
    }

    /// Entries that were given to this consumer in an answer that was lost on the way.
    async fn unheard(&self, max: usize) -> Result<Vec<Incoming>> {
        if !self.shared.doubt.load(Ordering::Acquire) {
            return Ok(Vec::new());
        }
        let (mut after, mut found) = (FIRST.to_owned(), Vec::new());
        while found.len() < max {
            let read = self.read_command(max - found.len(), None, None, &after);
            let entries = self.answer(&read, Duration::ZERO).await?;
            let Some(last) = entries.last().and_then(|one| one.id.clone()) else {
                self.shared.doubt.store(false, Ordering::Release);
                break;
            };
            after = last;
            found.extend(self.accept(entries).await?);
        }
        Ok(found)
    }

    fn read_command(&self, max: usize, block: Option<Duration>, claim: Option<Duration>, from: &str) -> Cmd {
        let Shared { form, consumer, .. } = &*self.shared;
        let mut read = redis::cmd("XREADGROUP");
        read.arg("GROUP").arg(form.group).arg(consumer).arg("COUNT").arg(max);
        if let Some(block) = block {
            // Zero would be for ever.
            read.arg("BLOCK").arg(millis(block).max(1));
        }
        if let Some(idle) = claim {
            read.arg("CLAIM").arg(millis(idle));
        }
        read.arg("STREAMS").arg(form.key).arg(from);
        read
    }

    /// Sends a read on the reading connection.
    async fn answer(&self, read: &Cmd, block: Duration) -> Result<Vec<Incoming>> {
        let mut reader = self.shared.reader.lock().await;
        let answer = reader.run(&self.link, OPERATION, read, block).await?;
        drop(reader);
        let streams = reply::list_or_nil(answer).and_then(|streams| match streams.into_iter().next() {
            None => Some(Vec::new()),
            Some(stream) => reply::list(reply::list(stream)?.into_iter().nth(1)?),
        });
        let entries = streams.ok_or_else(|| self.link.corrupt(OPERATION, "an unexpected answer to XREADGROUP"))?;
        // Behind the fields of an entry that was claimed: how long it was idle, and how often it was delivered before.
        let before = |behind: &[Value]| behind.get(1).and_then(reply::int).map(|count| count.saturating_add(1));
        entries.into_iter().map(|entry| self.entry(entry, before)).collect()
    }

    /// A message out of an entry; one without fields was deleted.
    fn entry(&self, entry: Value, count: impl Fn(&[Value]) -> Option<i64>) -> Result<Incoming> {
        let id = match &entry {
            Value::Array(parts) => parts.first().cloned().and_then(reply::text),
            _ => None,
        };
        let entry: Option<Option<Entry>> = reply::any_entry(entry);
        match (entry, id) {
            (Some(Some((id, fields, behind))), _) => {
                let deliveries = count(&behind).and_then(|count| u32::try_from(count).ok()).unwrap_or(1);
                Ok(wire::of_entry(&self.shared.form, id, fields, deliveries))
            }
            (Some(None), Some(id)) => Ok(Incoming { id: Some(id), deliveries: 0, ..Incoming::default() }),
            _ => Err(self.link.corrupt(OPERATION, "an entry that is none")),
        }
    }

    /// Leaves out what is not for this consumer to work on, and takes hold of the rest.
    async fn accept(&self, entries: Vec<Incoming>) -> Result<Vec<Incoming>> {
        let (mut accepted, mut done) = (Vec::with_capacity(entries.len()), Vec::new());
        for message in entries {
            let Some(id) = message.id.clone() else { continue };
            let foreign = message.header_text(header::GROUP).is_some_and(|group| group != self.shared.form.group);
            if message.deliveries == 0 || foreign {
                done.push(id);
            } else if !self.shared.held.holds(id.as_bytes()) {
                self.shared.held.take(Bytes::from(id));
                accepted.push(message);
            }
        }
        if !done.is_empty() {
            let mut acknowledge = redis::cmd("XACK");
            acknowledge.arg(self.shared.form.key).arg(self.shared.form.group).arg(done);
            // Should this fail, what was accepted is worked on all the same; these are passed over again when they come back.
            if let Err(error) = self.link.run(OPERATION, &acknowledge).await {
                tracing::debug!(%error, "copies for other groups could not be acknowledged");
            }
        }
        Ok(accepted)
    }
}
