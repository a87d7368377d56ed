//! `enqueue`: accepting tasks.

use rusqlite::params;

use super::errors::Outcome;
use super::row::{OPEN, millis, place, status_code};
use super::txn::{Step, Txn};
use crate::store::Accepted;
use crate::types::{Deferral, EventKind, NewTask, Status, Timestamp};

const INSERT: &str = "INSERT INTO tasks (queue, uuid, status, key, token, settled, attempt, priority, started_at,
        finished_at, enqueued_at, max_attempts, timeout_ms, retention_ms, dead_letter, ttl_ms, name, payload)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7, ?8, ?8, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
    ON CONFLICT (queue, uuid) DO NOTHING";

/// Accepts tasks of any queues.
pub(super) fn run(txn: &mut Txn<'_>, tasks: &[NewTask]) -> Outcome<Vec<Accepted>> {
    tasks.iter().map(|task| accept(&mut txn.step_or_new(task.id.queue())?, task)).collect()
}

pub(super) fn accept(step: &mut Step<'_>, task: &NewTask) -> Outcome<Accepted> {
    step.sweep_forgotten()?;
    let created = insert(step, task)? || (forget(step, task)? && insert(step, task)?);
    Ok(Accepted { id: task.id.clone(), created })
}

/// Writes the task unless its id is taken.
fn insert(step: &mut Step<'_>, task: &NewTask) -> Outcome<bool> {
    let turn = step.queue.next_turn();
    let due = due(task.deferral, step.now);
    let (status, key) = match due {
        Some(due) => (Status::Pending, due.as_millis()),
        None => (Status::Queued, place(task.priority, turn)),
    };
    let policy = &task.policy;
    let uuid = task.id.uuid();
    let inserted = step.prepare(INSERT)?.execute(params![
        step.queue.id,
        uuid.as_bytes(),
        status_code(status),
        key,
        turn, // no grant yet, but the width of one
        OPEN,
        task.priority.level(),
        step.now.as_millis(),
        policy.max_attempts,
        policy.timeout.map(millis),
        millis(policy.retention),
        policy.dead_letter,
        policy.ttl.map(millis),
        task.task,
        &task.payload[..],
    ])?;
    if inserted == 0 {
        return Ok(false);
    }
    step.queue.moved(None, status);
    step.queue.event(EventKind::Queued, 1, &uuid);
    step.news.tasks = true;
    Ok(true)
}

/// Makes room when the id is that of a task whose retention is over.
fn forget(step: &mut Step<'_>, task: &NewTask) -> Outcome<bool> {
    match step.by_uuid(task.id.uuid())? {
        Some(head) if head.forgotten(step.now) => step.delete(head.seq, true).map(|()| true),
        _ => Ok(false),
    }
}

/// When the task becomes ready; `None` for at once.
fn due(deferral: Deferral, now: Timestamp) -> Option<Timestamp> {
    let due = match deferral {
        Deferral::None => return None,
        Deferral::After(delay) => Timestamp::from_millis(now.as_millis().saturating_add(millis(delay))),
        Deferral::At(at) => at,
    };
    (due > now).then_some(due)
}
