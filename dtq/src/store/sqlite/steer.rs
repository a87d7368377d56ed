//! `steer`: what is done by hand to many tasks in one step.

use rusqlite::params;

use super::cancel;
use super::errors::Outcome;
use super::row::{DISCARDED, Head, OPEN, place, status_code};
use super::txn::{Step, Txn};
use crate::store::{CancelOutcome, RequeueFrom, Steer, Steered, Steering, Target};
use crate::types::{EventKind, Status, Timestamp};

/// What became of one target, and whether that changed something.
type Told = (Steered, bool);

/// Acts on the targets one after the other, and notes it.
pub(super) fn run(txn: &mut Txn<'_>, steering: &Steering, targets: &[Target]) -> Outcome<Vec<Steered>> {
    let Some(mut step) = txn.step(&steering.queue)? else {
        return Ok(vec![Steered::NotFound; targets.len()]);
    };
    let told = targets.iter().map(|target| one(&mut step, steering, target)).collect::<Outcome<Vec<_>>>()?;
    let reached = told.iter().filter(|(_, changed)| *changed).count();
    if reached > 0 {
        step.audit(steering.action.audited_as(), &steering.words, reached, &steering.by)?;
    }
    Ok(told.into_iter().map(|(steered, _)| steered).collect())
}

fn one(step: &mut Step<'_>, steering: &Steering, target: &Target) -> Outcome<Told> {
    let Some(head) = step.known(target.id.uuid())? else {
        return Ok((Steered::NotFound, false));
    };
    if let Steer::Cancel { statuses } = &steering.action {
        return called_off(step, &head, statuses, &steering.by.reason);
    }
    if let Some(refusal) = refusal(step, &head, &steering.action, target)? {
        return Ok((refusal, false));
    }
    match &steering.action {
        Steer::Requeue { payload, .. } => requeue(step, &head, payload.as_deref())?,
        Steer::Purge => step.delete(head.seq, true, head.keyed, head.noted)?,
        _ => discard(step, &head)?,
    }
    Ok((Steered::Done, true))
}

fn called_off(step: &mut Step<'_>, head: &Head, statuses: &[Status], reason: &str) -> Outcome<Told> {
    if !statuses.is_empty() && !statuses.contains(&head.status) {
        return Ok((Steered::Unfit(head.status), false));
    }
    let (outcome, changed) = cancel::call_off(step, head, reason)?;
    let steered = match outcome {
        CancelOutcome::Cancelled => Steered::Done,
        CancelOutcome::Requested => Steered::Requested,
        CancelOutcome::AlreadyFinished(status) => Steered::Unfit(status),
        CancelOutcome::NotFound => Steered::NotFound,
    };
    Ok((steered, changed))
}

/// Why an action on finished tasks leaves this one alone.
fn refusal(step: &Step<'_>, head: &Head, action: &Steer, target: &Target) -> Outcome<Option<Steered>> {
    if !head.status.is_terminal() {
        return Ok(Some(Steered::Unfit(head.status)));
    }
    if let Some(seen) = target.finished_at
        && finished_at(step, head)? != seen
    {
        return Ok(Some(Steered::Changed));
    }
    let from = if let Steer::Requeue { from, .. } = action { *from } else { RequeueFrom::DeadLetters };
    Ok(match from.allows(head.status, head.discarded) {
        true => None,
        false if head.discarded => Some(Steered::Discarded),
        false => Some(Steered::Unfit(head.status)),
    })
}

fn finished_at(step: &Step<'_>, head: &Head) -> Outcome<Timestamp> {
    let sql = "SELECT finished_at FROM tasks WHERE seq = ?1";
    Ok(step.prepare(sql)?.query_row([head.seq], |row| row.get(0).map(Timestamp::from_millis))?)
}

/// Puts a finished task at the end of its band, for a new life. What was noted of its attempts stays.
fn requeue(step: &mut Step<'_>, head: &Head, payload: Option<&[u8]>) -> Outcome<()> {
    let key = place(head.priority, step.queue.next_turn());
    let sql = "UPDATE tasks SET status = ?2, key = ?3, settled = ?4, attempt = 1, requeues = requeues + 1,
                   earlier = earlier + attempt, requeued_at = ?5, discarded_at = NULL, cancel_reason = NULL, result = NULL
               WHERE seq = ?1";
    let now = step.now.as_millis();
    step.prepare(sql)?.execute(params![head.seq, status_code(Status::Queued), key, OPEN, now])?;
    if let Some(payload) = payload {
        step.prepare("UPDATE tasks SET payload = ?2 WHERE seq = ?1")?.execute(params![head.seq, payload])?;
    }
    step.hold_again(head)?;
    step.queue.moved(None, Status::Queued);
    step.queue.event(EventKind::Requeued, 1, &head.uuid);
    Ok(())
}

fn discard(step: &Step<'_>, head: &Head) -> Outcome<()> {
    let sql = "UPDATE tasks SET status = ?2, discarded_at = ?3 WHERE seq = ?1";
    step.prepare(sql)?.execute(params![head.seq, DISCARDED, step.now.as_millis()])?;
    Ok(())
}
