//! `cancel`: calling tasks off.

use rusqlite::params;

use super::errors::Outcome;
use super::moves::Ending;
use super::row::Head;
use super::stops;
use super::txn::{Step, Txn};
use crate::store::{CancelOutcome, CancelRequest};
use crate::types::{AuditAction, ErrorKind, Failure, Status};

/// What became of one task, and whether that changed something.
type Called = (CancelOutcome, bool);

/// Cancels at once what does not run, and asks what runs to stop. The reason stays in the record.
pub(super) fn run(txn: &mut Txn<'_>, request: &CancelRequest) -> Outcome<CancelOutcome> {
    let Some(mut step) = txn.step(request.id.queue())? else {
        return Ok(CancelOutcome::NotFound);
    };
    let Some(head) = step.known(request.id.uuid())? else {
        return Ok(CancelOutcome::NotFound);
    };
    let (outcome, changed) = call_off(&mut step, &head, &request.by.reason)?;
    if changed {
        step.audit(AuditAction::Cancel, &request.id.to_string(), 1, &request.by)?;
    }
    Ok(outcome)
}

/// The same for one task of a step.
pub(super) fn call_off(step: &mut Step<'_>, head: &Head, reason: &str) -> Outcome<Called> {
    let reason = Failure::new(ErrorKind::Cancelled, reason);
    Ok(match head.status {
        status if status.is_terminal() => (CancelOutcome::AlreadyFinished(status), false),
        Status::Running => (CancelOutcome::Requested, ask(step, head, &reason)?),
        _ => {
            step.finish(head, &Ending::by_store(head, Status::Cancelled, Some(reason)))?;
            (CancelOutcome::Cancelled, true)
        }
    })
}

/// Asks a running task to stop; false when that had been asked before: then the first reason stands.
pub(super) fn ask(step: &mut Step<'_>, head: &Head, reason: &Failure) -> Outcome<bool> {
    let sql = "UPDATE tasks SET cancel_reason = ?2 WHERE seq = ?1 AND cancel_reason IS NULL";
    let first = step.prepare(sql)?.execute(params![head.seq, reason.message])? > 0;
    if first {
        stops::add(step, head)?;
    }
    Ok(first)
}
