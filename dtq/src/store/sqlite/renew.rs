//! `renew`: extending leases.

use std::time::Duration;

use rusqlite::params;

use super::errors::Outcome;
use super::row::millis;
use super::settle::find;
use super::txn::Txn;
use crate::store::Renewed;
use crate::types::{Lease, WorkerId};

/// Extends the leases that the worker still holds; one that ran out but was not taken over yet counts as held.
pub(super) fn run(txn: &mut Txn<'_>, worker: &WorkerId, leases: &[Lease], duration: Duration) -> Outcome<Vec<Renewed>> {
    leases.iter().map(|lease| renew(txn, worker, lease, duration)).collect()
}

fn renew(txn: &mut Txn<'_>, worker: &WorkerId, lease: &Lease, duration: Duration) -> Outcome<Renewed> {
    let Some(step) = txn.step(lease.task.queue())? else {
        return Ok(Renewed::Lost);
    };
    let held = find(&step, lease)?.filter(|(head, token)| head.held_by(lease, token) && token.belongs_to(worker));
    let Some((head, _)) = held else {
        return Ok(Renewed::Lost);
    };
    let until = step.now.as_millis().saturating_add(millis(duration));
    step.prepare("UPDATE tasks SET key = ?2 WHERE seq = ?1")?.execute(params![head.seq, until])?;
    Ok(head.cancel_reason.map_or(Renewed::Held, Renewed::CancelRequested))
}
