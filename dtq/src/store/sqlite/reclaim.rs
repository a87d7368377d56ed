//! Taking over running tasks: their lease ran out, or their worker fell silent.

use std::time::Duration;

use rusqlite::{OptionalExtension, params};

use super::claim::{Hand, agenda, limit, tasks};
use super::errors::Outcome;
use super::moves::Ending;
use super::row::{Body, Head, OPEN, head_and_body, status_code};
use super::txn::Step;
use super::workers;
use crate::store::BATCH;
use crate::types::{ErrorKind, EventKind, Failure, Status};

/// How often a process looks for silent workers in one queue: it reads all running tasks of the queue for that.
const INTERVAL: Duration = Duration::from_millis(500);

/// What became of a worker whose task is taken over.
#[derive(Clone, Copy)]
enum How {
    LeaseRanOut,
    FellSilent,
}

/// Takes over lost tasks, up to [`BATCH`], as far as there is room in the hand.
pub(super) fn run(step: &mut Step<'_>, hand: &mut Hand<'_>) -> Outcome<()> {
    let lapsed = agenda(step, Status::Running, step.now.as_millis(), BATCH)?;
    let left = BATCH - lapsed.len();
    take_over(step, hand, lapsed, How::LeaseRanOut)?;
    let due = step.sweeps.silent.get(&step.queue.id).is_none_or(|&next| step.now >= next);
    if hand.claim.sweep || due {
        workers::forgive(step.conn, step.sweeps, step.now)?;
        let silent = of_silent_workers(step, hand, left)?;
        // While there is more to take over, the next claim looks again.
        let pause = if silent.is_empty() { INTERVAL } else { Duration::ZERO };
        step.sweeps.silent.insert(step.queue.id, step.now.plus(pause));
        take_over(step, hand, silent, How::FellSilent)?;
    }
    Ok(())
}

/// What workers hold that were not heard of for too long. Whoever claims is not one of them, whatever its heartbeats say.
fn of_silent_workers(step: &Step<'_>, hand: &Hand<'_>, count: usize) -> Outcome<Vec<(Head, Body)>> {
    let sql = concat!(
        "SELECT ",
        head_and_body!(),
        " FROM tasks WHERE queue = ?1 AND status = ?2
          AND worker IN (SELECT seq FROM workers WHERE silent_at <= ?3 AND id <> ?4) ORDER BY key LIMIT ?5"
    );
    let (running, now) = (status_code(Status::Running), step.now.as_millis());
    let params = params![step.queue.id, running, now, hand.claim.worker.as_str(), limit(count)];
    tasks(step, sql, params)
}

fn take_over(step: &mut Step<'_>, hand: &mut Hand<'_>, lost: Vec<(Head, Body)>, how: How) -> Outcome<()> {
    for (mut head, body) in lost {
        let failure = failure(step, &head, how)?;
        if let Some(ending) = ending(&head, &failure) {
            step.finish(&head, &ending)?;
        } else if hand.room() == 0 {
            hand.more = true;
        } else {
            step.note(&head, head.started_at, &failure)?;
            step.queue.event(EventKind::Reclaimed, head.attempt, &head.uuid);
            head.attempt = head.attempt.saturating_add(1);
            hand.grant(step, &head, body, true)?;
        }
    }
    Ok(())
}

/// How a lost task ends when it may not run again.
fn ending(head: &Head, lost: &Failure) -> Option<Ending<'static>> {
    if let Some(reason) = &head.cancel_reason {
        return Some(Ending::by_store(head, Status::Cancelled, Some(Failure::new(ErrorKind::Cancelled, reason))));
    }
    (head.attempt >= head.policy.max_attempts).then(|| Ending::failed(&head.policy, lost.clone(), OPEN))
}

fn failure(step: &Step<'_>, head: &Head, how: How) -> Outcome<Failure> {
    let sql = "SELECT id FROM workers WHERE seq = ?1";
    let worker: Option<String> = step.prepare(sql)?.query_row([head.worker], |row| row.get(0)).optional()?;
    let worker = worker.unwrap_or_else(|| "of an unknown name".to_owned());
    let how = match how {
        How::LeaseRanOut => "died or was paused longer than its lease",
        How::FellSilent => "died or was cut off: its heartbeats stopped",
    };
    Ok(Failure::new(ErrorKind::WorkerLost, format!("worker {worker} {how}")))
}
