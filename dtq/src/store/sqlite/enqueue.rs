//! `enqueue`: accepting tasks.

use std::collections::HashMap;
use std::time::Duration;

use rusqlite::params;

use super::errors::Outcome;
use super::keys::{Keyed, Kind, unique_name};
use super::row::{Head, OPEN, millis, place, status_code};
use super::txn::{Step, Txn};
use crate::store::{Accepted, Full, RETRY_AFTER, RETRY_BETWEEN, Refusal};
use crate::types::{Deferral, EventKind, NewTask, OnConflict, QueueName, Status, TaskId, Timestamp};

/// How long a count of ended tasks serves to tell how fast they end.
const SAMPLE: Duration = Duration::from_secs(10);
/// Between which ages it tells anything.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

const INSERT: &str = "INSERT INTO tasks (queue, uuid, status, key, token, settled, attempt, priority, started_at,
        finished_at, enqueued_at, max_attempts, timeout_ms, retention_ms, dead_letter, ttl_ms, name, payload, keyed)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7, ?8, ?8, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
    ON CONFLICT (queue, uuid) DO NOTHING";

/// Accepts tasks of any queues.
pub(super) fn run(txn: &mut Txn<'_>, tasks: &[NewTask]) -> Outcome<Vec<Accepted>> {
    let mut answers = Vec::with_capacity(tasks.len());
    let mut refused = 0;
    for task in tasks {
        let mut step = txn.step_or_new(task.id.queue())?;
        let limit = step.queue.max_depth;
        let answer = accept_up_to(&mut step, task, limit)?;
        refused += usize::from(answer.found_no_room());
        answers.push(answer);
    }
    if refused > 0 {
        say_when(txn, &mut answers)?;
    }
    Ok(answers)
}

/// Accepts a task, however deep the queue is.
pub(super) fn accept(step: &mut Step<'_>, task: &NewTask) -> Outcome<Accepted> {
    accept_up_to(step, task, None)
}

/// Accepts a task, or refuses it when as many wait as may. Whoever submitted one before is answered with it all the same.
fn accept_up_to(step: &mut Step<'_>, task: &NewTask, limit: Option<u32>) -> Outcome<Accepted> {
    step.sweep_forgotten()?;
    let id = || task.id.clone();
    let keyed = Keyed::of(task) != Keyed::No;
    let full = limit.filter(|&limit| step.queue.depth() >= limit.into());
    if (keyed || full.is_some()) && !is_new(step, task)? {
        return Ok(Accepted::new(id(), false));
    }
    if keyed && let Some(answer) = stands_for(step, task)? {
        return Ok(answer);
    }
    if let Some(limit) = full {
        let full = Full { depth: step.queue.depth(), limit, retry_after: RETRY_AFTER };
        return Ok(Accepted { refused: Some(Refusal::Full(full)), ..Accepted::new(id(), false) });
    }
    let created = insert(step, task)? || (forget(step, task)? && insert(step, task)?);
    if keyed {
        step.take_keys(step.conn.last_insert_rowid(), task)?;
    }
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

/// Tells those that were refused when there may be room for all of them.
fn say_when(txn: &mut Txn<'_>, answers: &mut [Accepted]) -> Outcome<()> {
    let mut many: HashMap<QueueName, u64> = HashMap::new();
    for answer in answers.iter().filter(|answer| answer.found_no_room()) {
        *many.entry(answer.id.queue().clone()).or_default() += 1;
    }
    for (queue, many) in many {
        let Some(mut step) = txn.step(&queue)? else { continue };
        let when = room_after(&mut step, many);
        for answer in answers.iter_mut().filter(|answer| *answer.id.queue() == queue) {
            if let Some(Refusal::Full(full)) = &mut answer.refused {
                full.retry_after = when;
            }
        }
    }
    Ok(())
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
    if status == Status::Pending {
        step.queue.wakes.due_at(key);
    }
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
