//! `cancel`: calling a task off.

use rusqlite::params;

use super::errors::Outcome;
use super::moves::Ending;
use super::row::Head;
use super::txn::{Step, Txn};
use crate::store::{CancelOutcome, CancelRequest};
use crate::types::{AuditAction, ErrorKind, Failure, Status};

/// Cancels at once what does not run, and asks what runs to stop. The reason stays in the record.
pub(super) fn run(txn: &mut Txn<'_>, request: &CancelRequest) -> Outcome<CancelOutcome> {
    let Some(mut step) = txn.step(request.id.queue())? else {
        return Ok(CancelOutcome::NotFound);
    };
    let Some(head) = step.by_uuid(request.id.uuid())?.filter(|head| !head.forgotten(step.now)) else {
        return Ok(CancelOutcome::NotFound);
    };
    let reason = Failure::new(ErrorKind::Cancelled, &request.by.reason);
    let outcome = match head.status {
        status if status.is_terminal() => return Ok(CancelOutcome::AlreadyFinished(status)),
        Status::Running if !ask(&step, &head, &reason)? => return Ok(CancelOutcome::Requested),
        Status::Running => CancelOutcome::Requested,
        _ => {
            step.finish(&head, &Ending::by_store(&head, Status::Cancelled, Some(reason)))?;
            CancelOutcome::Cancelled
        }
    };
    step.audit(AuditAction::Cancel, &request.id.to_string(), 1, &request.by)?;
    Ok(outcome)
}

/// Asks a running task to stop; false when that had been asked before: then the first reason stands.
pub(super) fn ask(step: &Step<'_>, head: &Head, reason: &Failure) -> Outcome<bool> {
    let sql = "UPDATE tasks SET cancel_reason = ?2 WHERE seq = ?1 AND cancel_reason IS NULL";
    Ok(step.prepare(sql)?.execute(params![head.seq, reason.message])? > 0)
}
