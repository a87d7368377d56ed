//! `settle`: ending attempts.

use super::errors::Outcome;
use super::moves::Ending;
use super::row::{Head, millis, verdict_code};
use super::token::Token;
use super::txn::{Step, Txn};
use crate::store::{Settled, Settlement, Verdict};
use crate::types::{ErrorKind, EventKind, Failure, Lease, Status, Timestamp};

/// Ends attempts of any queues.
pub(super) fn run(txn: &mut Txn<'_>, settlements: &[Settlement]) -> Outcome<Vec<Settled>> {
    settlements.iter().map(|settlement| settle(txn, settlement)).collect()
}

fn settle(txn: &mut Txn<'_>, settlement: &Settlement) -> Outcome<Settled> {
    let lease = &settlement.delivery.lease;
    let Some(mut step) = txn.step(lease.task.queue())? else {
        return Ok(Settled::Stale);
    };
    let Some((head, token)) = find(&step, lease)? else {
        return absorb(&mut step, lease);
    };
    if head.held_by(lease, &token) {
        return apply(&mut step, &head, &settlement.verdict).map(Settled::Applied);
    }
    if head.token == token.grant && head.settled == verdict_code(&settlement.verdict) {
        // The first copy's reply was lost.
        return Ok(Settled::Applied(head.status));
    }
    absorb(&mut step, lease)
}

/// The row that the lease's token names, when it still holds the lease's task.
pub(super) fn find(step: &Step<'_>, lease: &Lease) -> Outcome<Option<(Head, Token)>> {
    let Ok(token) = lease.token.parse::<Token>() else {
        return Ok(None);
    };
    let head = step.by_row(token.row)?.filter(|head| head.uuid == lease.task.uuid() && !head.forgotten(step.now));
    Ok(head.map(|head| (head, token)))
}

/// Notes that a stale settlement changed nothing. No event when the task is gone: then nothing tells whether this
/// settlement was the one that ended it (a task without retention leaves no trace).
fn absorb(step: &mut Step<'_>, lease: &Lease) -> Outcome<Settled> {
    let uuid = lease.task.uuid();
    if step.by_uuid(uuid)?.is_some_and(|head| !head.forgotten(step.now)) {
        step.queue.event(EventKind::DuplicateAbsorbed, lease.attempt, &uuid);
    }
    Ok(Settled::Stale)
}

fn apply(step: &mut Step<'_>, head: &Head, verdict: &Verdict) -> Outcome<Status> {
    let settled = verdict_code(verdict);
    if let Some(ending) = ending(head, verdict, settled) {
        step.finish(head, &ending)?;
        return Ok(ending.status);
    }
    match verdict {
        Verdict::Retry { delay, failure } => {
            step.note(head, head.started_at, failure)?;
            put_off(step, head, Status::Retrying, *delay, settled)
        }
        Verdict::Snooze { delay } => put_off(step, head, Status::Pending, *delay, settled),
        _ => {
            step.make_ready(head, head.attempt, settled)?;
            step.queue.event(EventKind::Released, head.attempt, &head.uuid);
            Ok(Status::Queued)
        }
    }
}

/// The end that a verdict means; `None` when the task goes on.
fn ending<'a>(head: &Head, verdict: &'a Verdict, settled: i64) -> Option<Ending<'a>> {
    let cancelled = |reason: &str| {
        let failure = Some(Failure::new(ErrorKind::Cancelled, reason));
        Ending { status: Status::Cancelled, failure, result: None, settled }
    };
    match verdict {
        // It was asked to stop and did not succeed: running it again would lose the request.
        _ if !matches!(verdict, Verdict::Succeeded { .. }) && head.cancel_reason.is_some() => {
            head.cancel_reason.as_deref().map(cancelled)
        }
        Verdict::Succeeded { result } => {
            Some(Ending { status: Status::Succeeded, failure: None, result: result.as_deref(), settled })
        }
        Verdict::Failed { failure } => Some(Ending::failed(&head.policy, failure.clone(), settled)),
        Verdict::Cancelled { reason } => Some(cancelled(reason)),
        Verdict::Retry { .. } | Verdict::Snooze { .. } | Verdict::Release => None,
    }
}

fn put_off(
    step: &mut Step<'_>,
    head: &Head,
    status: Status,
    delay: std::time::Duration,
    settled: i64,
) -> Outcome<Status> {
    let due = Timestamp::from_millis(step.now.as_millis().saturating_add(millis(delay)));
    step.schedule(head, status, due, settled)?;
    step.queue.event(EventKind::RetryScheduled, head.attempt, &head.uuid);
    Ok(status)
}
