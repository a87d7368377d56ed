//! `enqueue`: accepting tasks.

use rusqlite::params;

use super::errors::Outcome;
use super::keys::{Keyed, Kind, unique_name};
use super::row::{Head, OPEN, millis, place, status_code};
use super::txn::{Step, Txn};
use crate::store::{Accepted, Refusal};
use crate::types::{Deferral, EventKind, NewTask, OnConflict, Status, TaskId, Timestamp};

const INSERT: &str = "INSERT INTO tasks (queue, uuid, status, key, token, settled, attempt, priority, started_at,
        finished_at, enqueued_at, max_attempts, timeout_ms, retention_ms, dead_letter, ttl_ms, name, payload, keyed)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7, ?8, ?8, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
    ON CONFLICT (queue, uuid) DO NOTHING";

/// Accepts tasks of any queues.
pub(super) fn run(txn: &mut Txn<'_>, tasks: &[NewTask]) -> Outcome<Vec<Accepted>> {
    tasks.iter().map(|task| accept(&mut txn.step_or_new(task.id.queue())?, task)).collect()
}

pub(super) fn accept(step: &mut Step<'_>, task: &NewTask) -> Outcome<Accepted> {
    step.sweep_forgotten()?;
    let id = || task.id.clone();
    if Keyed::of(task) == Keyed::No {
        let created = insert(step, task)? || (forget(step, task)? && insert(step, task)?);
        return Ok(Accepted::new(id(), created));
    }
    if step.by_uuid(task.id.uuid())?.is_some_and(|head| !head.forgotten(step.now)) {
        return Ok(Accepted::new(id(), false));
    }
    if let Some(answer) = stands_for(step, task)? {
        return Ok(answer);
    }
    forget(step, task)?;
    let created = insert(step, task)?;
    step.take_keys(step.conn.last_insert_rowid(), task)?;
    Ok(Accepted::new(id(), created))
}

/// The answer to a submission that another task stands for.
fn stands_for(step: &mut Step<'_>, task: &NewTask) -> Outcome<Option<Accepted>> {
    let other = |uuid, refused| Accepted { id: TaskId::new(task.id.queue().clone(), uuid), created: false, refused };
    if let Some(idempotency) = &task.idempotency
        && let Some((hold, Some(head))) = step.holder(Kind::Idempotency, &idempotency.key)?
    {
        return Ok(Some(other(hold.uuid, (!head.status.is_terminal()).then_some(Refusal::InProgress))));
    }
    let Some(unique) = &task.unique else { return Ok(None) };
    let Some((hold, head)) = step.holder(Kind::Unique, &unique_name(&task.task, &unique.key))? else { return Ok(None) };
    let head = head.filter(|head| !head.status.is_terminal());
    if head.is_none() && !hold.is_for_a_period() {
        return Ok(None);
    }
    let waiting = head.filter(|head| head.status != Status::Running);
    let refused = match (unique.on_conflict, waiting) {
        (OnConflict::Skip, _) => None,
        (OnConflict::Replace, Some(head)) => {
            step.replace_payload(&head, &task.payload)?;
            None
        }
        (OnConflict::Reschedule, Some(head)) => {
            put_off(step, &head, due(task.deferral, step.now))?;
            None
        }
        _ => Some(Refusal::Unique),
    };
    Ok(Some(other(hold.uuid, refused)))
}

/// A new due time for a task that waits; `None`: at once.
fn put_off(step: &mut Step<'_>, head: &Head, due: Option<Timestamp>) -> Outcome<()> {
    match due {
        // It is ready as it is.
        None if head.status == Status::Queued => Ok(()),
        due => step.put_off(head, due.unwrap_or(step.now)),
    }
}

/// Writes the task unless its id is taken.
fn insert(step: &mut Step<'_>, task: &NewTask) -> Outcome<bool> {
    let turn = step.queue.next_turn();
    // One that expires before it is due is looked at then.
    let limit = task.policy.ttl.map(|ttl| step.now.plus(ttl));
    let due = due(task.deferral, step.now).map(|due| limit.map_or(due, |limit| limit.min(due)));
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
        Keyed::of(task) as i64,
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
        Some(head) if head.forgotten(step.now) => step.delete(head.seq, true, head.keyed, head.noted).map(|()| true),
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
