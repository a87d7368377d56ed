//! `cancel`: calling a task off.

use rusqlite::params;

use super::errors::Outcome;
use super::moves::Ending;
use super::row::Head;
use super::stops;
use super::txn::{Step, Txn};
use crate::store::{CancelOutcome, CancelRequest};
use crate::types::{ErrorKind, Failure, Status};

/// Cancels at once what does not run, and asks what runs to stop. The reason stays in the record.
pub(super) fn run(txn: &mut Txn<'_>, request: &CancelRequest) -> Outcome<CancelOutcome> {
    let Some(mut step) = txn.step(request.id.queue())? else {
        return Ok(CancelOutcome::NotFound);
    };
    let Some(head) = step.by_uuid(request.id.uuid())?.filter(|head| !head.forgotten(step.now)) else {
        return Ok(CancelOutcome::NotFound);
    };
    let reason = Failure::new(ErrorKind::Cancelled, &request.reason);
    match head.status {
        status if status.is_terminal() => Ok(CancelOutcome::AlreadyFinished(status)),
        Status::Running => ask(&mut step, &head, &reason),
        _ => {
            step.finish(&head, &Ending::by_store(&head, Status::Cancelled, Some(reason)))?;
            Ok(CancelOutcome::Cancelled)
        }
    }
}

/// The first reason stays when it is asked again.
fn ask(step: &mut Step<'_>, head: &Head, reason: &Failure) -> Outcome<CancelOutcome> {
    let sql = "UPDATE tasks SET cancel_reason = ?2 WHERE seq = ?1 AND cancel_reason IS NULL";
    if step.prepare(sql)?.execute(params![head.seq, reason.message])? > 0 {
        stops::add(step, head)?;
    }
    Ok(CancelOutcome::Requested)
}
