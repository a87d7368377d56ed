//! `enqueue`: accepting tasks.

use std::collections::HashSet;
use std::time::Duration;

use rusqlite::params;

use super::errors::Outcome;
use super::row::{OPEN, millis, place, status_code};
use super::txn::{Step, Txn};
use crate::store::{Accepted, Full, RETRY_AFTER, RETRY_BETWEEN, Refusal};
use crate::types::{Deferral, EventKind, NewTask, QueueName, Status, TaskId, Timestamp};

/// How long a count of ended tasks serves to tell how fast they end.
const SAMPLE: Duration = Duration::from_secs(10);
/// Between which ages it tells anything.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

const INSERT: &str = "INSERT INTO tasks (queue, uuid, status, key, token, settled, attempt, priority, started_at,
        finished_at, enqueued_at, max_attempts, timeout_ms, retention_ms, dead_letter, ttl_ms, name, payload)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7, ?8, ?8, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
    ON CONFLICT (queue, uuid) DO NOTHING";

/// Accepts tasks of any queues.
pub(super) fn run(txn: &mut Txn<'_>, tasks: &[NewTask]) -> Outcome<Vec<Accepted>> {
    let full = full_queues(txn, tasks)?;
    let of = |queue: &QueueName| full.iter().find(|(name, _)| *name == queue).map(|(_, full)| *full);
    tasks
        .iter()
        .map(|task| {
            let mut step = txn.step_or_new(task.id.queue())?;
            match of(task.id.queue()) {
                Some(full) if is_new(&step, task)? => {
                    Ok(Accepted { refused: Some(Refusal::Full(full)), ..Accepted::new(task.id.clone(), false) })
                }
                _ => accept(&mut step, task),
            }
        })
        .collect()
}

/// The queues that have no room for their new tasks.
fn full_queues<'a>(txn: &mut Txn<'_>, tasks: &'a [NewTask]) -> Outcome<Vec<(&'a QueueName, Full)>> {
    let mut full = Vec::new();
    let mut seen: Vec<&QueueName> = Vec::new();
    for queue in tasks.iter().map(|task| task.id.queue()) {
        if seen.contains(&queue) {
            continue;
        }
        seen.push(queue);
        if let Some(mut step) = txn.step(queue)?
            && let Some(limit) = step.queue.max_depth
        {
            full.extend(full_queue(&mut step, tasks, limit)?.map(|full| (queue, full)));
        }
    }
    Ok(full)
}

fn full_queue(step: &mut Step<'_>, tasks: &[NewTask], limit: u32) -> Outcome<Option<Full>> {
    let mut new: HashSet<&TaskId> = HashSet::new();
    for task in tasks.iter().filter(|task| *task.id.queue() == step.queue.name) {
        if is_new(step, task)? {
            new.insert(&task.id);
        }
    }
    let counts = step.queue.counts();
    let depth = counts.pending + counts.queued + counts.retrying;
    let after = depth + new.len() as u64;
    if new.is_empty() || after <= limit.into() {
        return Ok(None);
    }
    let retry_after = room_after(step, after - u64::from(limit));
    Ok(Some(Full { depth, limit, retry_after }))
}

/// When so many tasks may have gone, by how many ended since a look of a second to a minute ago.
fn room_after(step: &mut Step<'_>, many: u64) -> Duration {
    let (counts, now) = (step.queue.counts(), step.now);
    let ended = counts.succeeded + counts.failed + counts.dead_lettered + counts.cancelled + counts.expired;
    let seen = step.sweeps.ended.get(&step.queue.id).copied();
    let (since, before) = seen.unwrap_or((now, ended));
    let (passed, gone) = (now.since(since), ended.saturating_sub(before));
    if seen.is_none() || passed >= SAMPLE {
        step.sweeps.ended.insert(step.queue.id, (now, ended));
    }
    if !(SHORTEST..=LONGEST).contains(&passed) || gone == 0 {
        return RETRY_AFTER;
    }
    let (least, most) = RETRY_BETWEEN;
    // Bounds keep it within what a duration holds.
    let seconds = passed.as_secs_f64() * many as f64 / gone as f64;
    Duration::try_from_secs_f64(seconds).unwrap_or(most).clamp(least, most)
}

fn is_new(step: &Step<'_>, task: &NewTask) -> Outcome<bool> {
    Ok(step.by_uuid(task.id.uuid())?.is_none_or(|head| head.forgotten(step.now)))
}

fn accept(step: &mut Step<'_>, task: &NewTask) -> Outcome<Accepted> {
    step.sweep_forgotten()?;
    let created = insert(step, task)? || (forget(step, task)? && insert(step, task)?);
    Ok(Accepted::new(task.id.clone(), created))
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
