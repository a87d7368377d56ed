//! Work that is done at most once per key.

use std::time::Duration;

use bytes::Bytes;
use rusqlite::{OptionalExtension, params};

use super::errors::Outcome;
use super::row::millis;
use super::settle::find;
use super::token::Token;
use super::txn::{Step, Txn};
use crate::store::{ONCE_IN_PROGRESS, OnceEnd, OnceRequest, OnceState};
use crate::types::Status;

/// What is known of a key.
struct Known {
    holder: Holder,
    result: Option<Bytes>,
}

/// Who began the work: the row of the attempt's task, the grant, and which run of the work it is.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Holder {
    row: i64,
    grant: i64,
    run: u64,
}

impl Holder {
    fn of(token: &Token, run: u64) -> Self {
        Self { row: token.row, grant: token.grant, run }
    }

    fn is_same_attempt(self, other: Self) -> bool {
        (self.row, self.grant) == (other.row, other.grant)
    }

    fn read(text: &str) -> Option<Self> {
        let (row, rest) = text.split_once('.')?;
        let (grant, run) = rest.split_once('.')?;
        Some(Self { row: row.parse().ok()?, grant: grant.parse().ok()?, run: run.parse().ok()? })
    }

    fn write(self) -> String {
        format!("{}.{}.{}", self.row, self.grant, self.run)
    }

    /// True when it holds its lease.
    fn is_current(self, step: &Step<'_>) -> Outcome<bool> {
        let head = step.by_row(self.row)?;
        Ok(head.is_some_and(|head| head.status == Status::Running && head.token == self.grant))
    }
}

/// Asks for the work.
pub(super) fn begin(txn: &mut Txn<'_>, request: &OnceRequest) -> Outcome<OnceState> {
    let Some((step, me)) = asker(txn, request)? else { return Ok(OnceState::Lost) };
    match known(&step, &request.key)? {
        Some(Known { result: Some(result), .. }) => return Ok(OnceState::Done(result)),
        Some(Known { holder, .. }) if !holder.is_same_attempt(me) && holder.is_current(&step)? => {
            return Ok(OnceState::Busy);
        }
        _ => {}
    }
    write(&step, &request.key, me, None, ONCE_IN_PROGRESS)?;
    Ok(OnceState::Begun)
}

/// Ends it.
pub(super) fn end(txn: &mut Txn<'_>, end: &OnceEnd) -> Outcome<bool> {
    let Ok(token) = end.lease.token.parse::<Token>() else { return Ok(false) };
    let me = Holder::of(&token, end.run);
    let Some(step) = txn.step(end.lease.task.queue())? else { return Ok(false) };
    let Some(known) = known(&step, &end.key)?.filter(|known| known.holder == me) else { return Ok(false) };
    match &end.done {
        // The first copy's reply was lost.
        done if known.result.is_some() => Ok(done.is_some()),
        None => {
            let sql = "DELETE FROM once WHERE queue = ?1 AND key = ?2";
            step.prepare(sql)?.execute(params![step.queue.id, end.key])?;
            Ok(true)
        }
        Some((result, ttl)) if me.is_current(&step)? => {
            write(&step, &end.key, me, Some(result), *ttl)?;
            Ok(true)
        }
        Some(_) => Ok(false),
    }
}

/// The attempt that asks, when its lease is current.
fn asker<'t>(txn: &'t mut Txn<'_>, request: &OnceRequest) -> Outcome<Option<(Step<'t>, Holder)>> {
    let lease = &request.lease;
    let Some(step) = txn.step(lease.task.queue())? else { return Ok(None) };
    let held = find(&step, lease)?.filter(|(head, token)| head.held_by(lease, token));
    Ok(held.map(|(_, token)| (step, Holder::of(&token, request.run))))
}

fn known(step: &Step<'_>, key: &str) -> Outcome<Option<Known>> {
    let sql = "SELECT holder, result FROM once WHERE queue = ?1 AND key = ?2 AND expires_at > ?3";
    let params = params![step.queue.id, key, step.now.as_millis()];
    let read = |row: &rusqlite::Row<'_>| {
        let result = row.get_ref(1)?.as_blob_or_null()?.map(Bytes::copy_from_slice);
        Ok((row.get::<_, String>(0)?, result))
    };
    let found = step.prepare(sql)?.query_row(params, read).optional()?;
    Ok(found.and_then(|(holder, result)| Some(Known { holder: Holder::read(&holder)?, result })))
}

fn write(step: &Step<'_>, key: &str, holder: Holder, result: Option<&Bytes>, ttl: Duration) -> Outcome<()> {
    let sql = "INSERT INTO once (queue, key, holder, result, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)
               ON CONFLICT (queue, key) DO UPDATE SET holder = ?3, result = ?4, expires_at = ?5";
    let expires_at = step.now.as_millis().saturating_add(millis(ttl));
    let result = result.map(AsRef::<[u8]>::as_ref);
    step.prepare(sql)?.execute(params![step.queue.id, key, holder.write(), result, expires_at])?;
    Ok(())
}

/// Deletes what need not be remembered any more, up to `count`; gives how many.
pub(super) fn forget(step: &Step<'_>, count: usize) -> Outcome<usize> {
    let sql = "DELETE FROM once WHERE seq IN
               (SELECT seq FROM once WHERE queue = ?1 AND expires_at <= ?2 ORDER BY expires_at LIMIT ?3)";
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    Ok(step.prepare(sql)?.execute(params![step.queue.id, step.now.as_millis(), count])?)
}
