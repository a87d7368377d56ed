//! `purge`: dropping what waits in a queue, step by step.

use std::str::FromStr;

use rusqlite::{Row, params};

use super::cancel::ask;
use super::claim::limit;
use super::errors::{Fault, Outcome};
use super::moves::Ending;
use super::row::{HEAD, Head, head, status_code};
use super::txn::{Step, Txn};
use crate::store::{BATCH, Purge, Purged};
use crate::types::{AuditAction, ErrorKind, Failure, Status};

/// The order in which a purge walks through a queue: what becomes ready on the way is met later.
const WALK: [Status; 4] = [Status::Retrying, Status::Pending, Status::Queued, Status::Running];

/// How far a purge is: behind this row of this status.
#[derive(Clone, Copy)]
struct Place {
    status: usize,
    key: i64,
    row: i64,
}

impl Place {
    const fn start_of(status: usize) -> Self {
        Self { status, key: i64::MIN, row: 0 }
    }
}

impl FromStr for Place {
    type Err = Fault;
    fn from_str(text: &str) -> Result<Self, Fault> {
        let fault = || Fault::Data(format!("{text:?} is not a place of a purge"));
        let mut numbers = text.split(' ').map(|number| number.parse::<i64>().ok());
        let mut next = || numbers.next().flatten();
        let status = next().and_then(|status| usize::try_from(status).ok()).ok_or_else(fault)?;
        Ok(Self { status, key: next().ok_or_else(fault)?, row: next().ok_or_else(fault)? })
    }
}

/// Looks at up to [`BATCH`] tasks.
pub(super) fn run(txn: &mut Txn<'_>, purge: &Purge) -> Outcome<Purged> {
    let Some(mut step) = txn.step(&purge.queue)? else { return Ok(Purged::default()) };
    let mut place = purge.after.as_deref().map_or(Ok(Place::start_of(0)), str::parse)?;
    let mut purged = Purged::default();
    let mut left = BATCH;
    let walk = if purge.stop_running { &WALK[..] } else { &WALK[..3] };
    while place.status < walk.len() {
        let found = behind(&step, walk[place.status], place, left)?;
        left -= found.len();
        for (head, name) in &found {
            (place.key, place.row) = (head.key, head.seq);
            if purge.task.as_ref().is_none_or(|task| task == name) {
                drop_one(&mut step, head, purge, &mut purged)?;
            }
        }
        if left == 0 {
            purged.next = Some(format!("{} {} {}", place.status, place.key, place.row));
            break;
        }
        place = Place::start_of(place.status + 1);
    }
    let reached = usize::try_from(purged.dropped + purged.stopping).unwrap_or(usize::MAX);
    if reached > 0 && !purge.dry_run {
        step.audit_step(AuditAction::Purge, &purge.target(), reached, &purge.by, &purge.run.to_string())?;
    }
    Ok(purged)
}

/// The next tasks of a status. First the rest of those with one key, which may be many: due at the same instant.
fn behind(step: &Step<'_>, status: Status, place: Place, count: usize) -> Outcome<Vec<(Head, String)>> {
    let rest = concat!(
        "SELECT ",
        head!(),
        ", name FROM tasks WHERE queue = ?1 AND status = ?2 AND key = ?3 AND seq > ?4 ORDER BY seq LIMIT ?5"
    );
    let later = concat!(
        "SELECT ",
        head!(),
        ", name FROM tasks WHERE queue = ?1 AND status = ?2 AND key > ?3 ORDER BY key, seq LIMIT ?4"
    );
    let (queue, code) = (step.queue.id, status_code(status));
    let read = |row: &Row<'_>| Ok((Head::read(row)?, row.get(HEAD)?));
    let params = params![queue, code, place.key, place.row, limit(count)];
    let mut found = step.prepare(rest)?.query_map(params, read)?.collect::<rusqlite::Result<Vec<_>>>()?;
    let params = params![queue, code, place.key, limit(count - found.len())];
    let later = step.prepare(later)?.query_map(params, read)?.collect::<rusqlite::Result<Vec<_>>>()?;
    found.extend(later);
    Ok(found)
}

fn drop_one(step: &mut Step<'_>, head: &Head, purge: &Purge, purged: &mut Purged) -> Outcome<()> {
    let reason = Failure::new(ErrorKind::Cancelled, &purge.by.reason);
    if head.status == Status::Running {
        let asked = head.cancel_reason.is_none() && (purge.dry_run || ask(step, head, &reason)?);
        purged.stopping += u64::from(asked);
        return Ok(());
    }
    purged.dropped += 1;
    if purge.dry_run {
        return Ok(());
    }
    step.finish(head, &Ending::by_store(head, Status::Cancelled, Some(reason)))
}
